"""The ten concept categories of Palacio et al. 2023 (section III-A, Table I), and one for the rest."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """A concept category of Palacio et al. 2023."""

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
