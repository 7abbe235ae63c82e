"""Readings: versions of a function that the model writes from its description, run beside the code."""
