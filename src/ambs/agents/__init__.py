"""Agents: what is learned together, and how it acts."""
