"""Phrases shared by all report formats."""

from __future__ import annotations

from collections.abc import Container

from counterlens.probes.pairs.record import PairRecord, Side
from counterlens.syntax.concepts import TABLES, Category
from counterlens.translating import ENGLISH, Translator


def share(probability: float, t: Translator = ENGLISH) -> str:
    """A probability for display, with only the necessary digits."""
    percent = 100 * probability
    if percent < 0.01:
        return t("below 0.01 %")
    return f"{t.number(percent, '.2f')} %" if percent < 1 else f"{percent:.0f} %"


def shorten(text: str, width: int) -> str:
    """A text on one line, truncated if it is wider."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


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
