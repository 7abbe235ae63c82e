"""Whether a model has seen a function: what its scores say, and how often that is right."""
