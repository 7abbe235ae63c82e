"""Prompts: templates, the text of a function, holes in a source, and reading answers."""
