"""Syntax trees, the functions in them, and the concept category of each node."""

from counterlens.syntax.strictness import STRICT, WORDS

__all__ = ["STRICT", "WORDS"]
