"""Counted nouns in texts."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """`1 function`, `2 functions`, `1,000 functions`: for nouns that take an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
