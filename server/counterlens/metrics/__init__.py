"""Figures computed from verdicts: effects, and how sure they are."""
