"""C: everything that knows it. `language.py` registers its parts, which are loaded by name only."""
