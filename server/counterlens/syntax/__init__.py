"""Syntax trees, the functions in them, and the concept category of each node."""
