"""What a model expected at a place, for a reader: each word once, with how likely it was."""

from __future__ import annotations

import math
from collections.abc import Iterable

from counterlens.reports.wording import share

_BLANKS = {"\n": "line end", "\r": "line end", "\t": "tab", " ": "blank"}


def expected(
    alternatives: Iterable[tuple[str, float]], *, limit: int = 4, markdown: bool = True
) -> list[str]:
    """The likeliest alternatives as Markdown: `>=` 61 %.

    Tokens that differ only in the blanks around a word are one word to a reader, so their shares are added.

    Args:
        alternatives: Texts and probabilities, likeliest first.
        limit: How many to give.
        markdown: Whether names of blanks are set in italics; code is in backticks always.
    """
    shares: dict[str, float] = {}
    for text, probability in alternatives:
        if text and not math.isnan(probability):
            word = code(text) if markdown or text.strip() else code(text).strip("*")
            shares[word] = shares.get(word, 0.0) + probability
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    return [f"{word} {share(probability)}" for word, probability in ranked[:limit]]


def code(text: str) -> str:
    """A token as inline code, without the blanks around it; blanks alone by name, backticks harmless."""
    shown = text.strip()
    if not shown:
        return f"*{_BLANKS.get(text.lstrip(' ')[:1] or ' ', 'blank')}*" if text else "*nothing*"
    shown = shown.replace("\n", "⏎").replace("\t", "⇥")
    fence = "``" if "`" in shown else "`"
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
