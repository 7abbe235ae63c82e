"""Calls of Java methods: found in tests, run in Java machines in the sandbox, and hidden in programs."""
