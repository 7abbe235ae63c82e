"""Dependences in C functions."""
