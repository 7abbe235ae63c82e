"""Fewer cheats than users have: each is a run of all tests of a function, and no verdict depends on them."""

from counterlens.python.judging import cheats

EVERY_CONSTANT = cheats._CONSTANTS
FEW_CONSTANTS = ("True", "1", "''", "[]")
"""One of each kind."""


def try_few() -> None:
    """Try fewer cheats in this process, to its end."""
    cheats._CONSTANTS = FEW_CONSTANTS
