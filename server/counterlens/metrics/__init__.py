"""Figures computed from verdicts: effects with their uncertainty."""
