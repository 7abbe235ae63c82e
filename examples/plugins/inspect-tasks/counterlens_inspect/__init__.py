"""Counterlens's completions as a task of Inspect, which asks models of its own."""
