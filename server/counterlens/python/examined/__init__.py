"""The statements of an examined Python function, and their changes."""
