"""Explained completions: the model's own text on the syntax of its code."""
