"""Experiments whose results are in results/: each a command that can be stopped and run again."""
