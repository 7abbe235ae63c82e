"""The statements of an examined Java method, and their changes."""
