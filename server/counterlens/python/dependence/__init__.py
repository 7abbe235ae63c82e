"""Dependences in Python functions, on Python's own tree."""
