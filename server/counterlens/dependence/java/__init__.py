"""Dependences in Java methods."""
