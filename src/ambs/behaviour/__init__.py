"""Behaviour learned in imagination: returns, actors, critics."""
