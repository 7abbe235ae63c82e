"""Token probabilities of a given text; by the methods of `dialects.py`, one per kind of server."""
