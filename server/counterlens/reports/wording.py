"""Phrases shared by all report formats."""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import chain

from counterlens.probes.pairs.record import PairRecord, Side
from counterlens.syntax.concepts import TABLES, Category
from counterlens.text import common_start

_WORD = re.compile(r"\w")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")


def share(probability: float) -> str:
    """A probability for display, with only the necessary digits."""
    percent = 100 * probability
    if percent < 0.01:
        return "below 0.01 %"
    return f"{f'{percent:.2f}'} %" if percent < 1 else f"{percent:.0f} %"


def shorten(text: str, width: int) -> str:
    """A text on one line, truncated if it is wider, and not inside a word if that is short enough."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    start = next((at for at in range(width - 1, width // 2, -1) if _is_apart(line, at)), width - 1)
    return f"{line[:start].rstrip()}…"


def contrast(first: str, second: str, width: int) -> tuple[str, str]:
    """Two texts, each on one line and truncated so that it shows where they differ.

    They are equal if the texts differ in nothing but the addresses of objects.
    """
    lines = [" ".join(text.split()) for text in (first, second)]
    if len({_ADDRESS.sub("", line) for line in lines}) == 1:
        return shorten(lines[0], width), shorten(lines[0], width)
    if max(map(len, lines)) > width:
        same = common_start(*lines)
        begin = max(same - width // 3, 0)
        blanks = (at for at in range(begin, same) if lines[0][at - 1 : at] == " ")
        words = (at for at in range(begin, max(same - 2 * width // 3, 0), -1) if _is_apart(lines[0], at))
        begin = next(chain(blanks, words), begin)
        lines = [f"…{line[begin:].lstrip()}" if begin else line for line in lines]
    return shorten(lines[0], width), shorten(lines[1], width)


def _is_apart(line: str, at: int) -> bool:
    """Whether no word continues at a place of a line."""
    return not (_WORD.match(line, at - 1) and _WORD.match(line, at))


def uncategorised_note(language: str, concepts: Container[str]) -> str:
    """Explain `uncategorised` among some concepts of a language; empty if it does not occur."""
    if Category.UNCATEGORISED not in concepts:
        return ""
    if language in TABLES:
        return f"{Category.UNCATEGORISED}: node types missing from the concept table of {language}."
    return f"{Category.UNCATEGORISED}: node types of {language}, which has no concept table."


def lines_of(pair: PairRecord) -> str:
    """The place of a pair's change: `line 3`, `lines 3 to 5`."""
    if pair.start_line == pair.end_line:
        return f"line {pair.start_line}"
    return f"lines {pair.start_line} to {pair.end_line}"


def evidence(side: Side) -> str:
    """Why one side is not right: the verdict, the failed case, and the message."""
    parts = (side.verdict.replace("_", " "), side.failed, side.message)
    return ": ".join(part.strip() for part in parts if part)
