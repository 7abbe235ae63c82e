"""Token probabilities of a given text; one file per method by which servers give them (`dialects.py`)."""
