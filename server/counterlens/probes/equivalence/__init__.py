"""Equivalence of two versions of a function, by running both; and what a model says about it."""
