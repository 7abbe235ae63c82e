"""Languages that are only scored: their registration, and a table of node types for some."""
