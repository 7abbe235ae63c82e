"""Counted nouns and enumerations in texts."""

from __future__ import annotations

from collections.abc import Sequence


def plural(number: int, noun: str) -> str:
    """A counted noun with a plural in s: `1 function`, `2 functions`, `1,000 functions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def enumeration(words: Sequence[str], conjunction: str) -> str:
    """Words joined by commas and a conjunction: `Python`, `Python and Java`, `Python, Java and C`."""
    *first, last = words or [""]
    return f"{', '.join(first)} {conjunction} {last}" if first else last
