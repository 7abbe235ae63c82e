"""Calls of Python functions: found in tests, run in the sandbox, and hidden in programs."""
