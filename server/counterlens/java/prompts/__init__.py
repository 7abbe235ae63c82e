"""Java methods and values in prompts and answers."""
