"""Syntax trees, the functions in them, and the concept category of each node."""

from counterlens.syntax.document import STRICT, WORDS

__all__ = ["STRICT", "WORDS"]
