"""The ten concept categories of paper 001 (section III-A and Table I), and one for what they leave out."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """A concept category of paper 001."""

    DATA_STRUCTURES = "data structures"
    DECISION = "decision"
    EXCEPTIONS = "exceptions"
    FUNCTIONAL = "functional programming"
    ITERATION = "iteration"
    NATURAL_LANGUAGE = "natural language"
    OPERATORS = "operators"
    SCOPE = "scope"
    TESTING = "testing"
    TYPES = "types"
    STRUCTURE = "structure"
    """What only holds other nodes together; the paper does not report it."""
