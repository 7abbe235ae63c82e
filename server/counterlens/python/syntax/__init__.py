"""Parsing Python, and its tables of node types."""
