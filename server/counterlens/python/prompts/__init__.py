"""Python functions and values in prompts and answers."""
