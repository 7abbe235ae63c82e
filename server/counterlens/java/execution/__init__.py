"""Calls of Java methods: found in tests, run in JVMs in the sandbox, and hidden in programs."""
