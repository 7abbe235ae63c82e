"""Token probabilities of a given text; one file for each way in which servers give them (`dialects.py`)."""
