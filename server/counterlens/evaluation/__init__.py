"""Evaluation at scale: many functions, several models, runs that survive interruptions."""
