"""Mutants that survive the tests of a function although an input distinguishes them from the original."""
