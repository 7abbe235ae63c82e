"""Counted nouns and enumerations in texts."""

from __future__ import annotations

from collections.abc import Sequence


def plural(number: int, noun: str) -> str:
    """`1 function`, `2 functions`, `1,000 functions`: for nouns that take an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def enumerated(words: Sequence[str], conjunction: str) -> str:
    """`Python`, `Python and Java`, `Python, Java and C`."""
    *first, last = words or [""]
    return f"{', '.join(first)} {conjunction} {last}" if first else last
