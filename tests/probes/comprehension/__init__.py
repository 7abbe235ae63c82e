"""Tests of recognition, equivalence, localisation and runtime with models whose figures follow by hand."""
