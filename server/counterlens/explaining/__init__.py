"""Completions explained: the model's own text on the syntax of the code that it wrote."""
