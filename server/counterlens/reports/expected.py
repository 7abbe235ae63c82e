"""Describes the model's expectation at a place: each word once, with its probability."""

from __future__ import annotations

import math
from collections.abc import Iterable

from counterlens.reports.render.markdown import code_span
from counterlens.reports.wording import share
from counterlens.translating import ENGLISH, Translator


def expected(
    alternatives: Iterable[tuple[str, float]],
    *,
    limit: int = 4,
    markdown: bool = True,
    t: Translator = ENGLISH,
) -> list[str]:
    """The likeliest alternatives as Markdown: `>=` 61 %.

    Tokens that differ only in the blanks around a word are one word to readers, so their shares are added.

    Args:
        alternatives: Texts and probabilities, likeliest first.
        limit: Maximum number of alternatives.
        markdown: Whether names of blanks are in italics; code is always in backticks.
        t: The translator.
    """
    shares: dict[str, float] = {}
    for text, probability in alternatives:
        if text and not math.isnan(probability):
            word = code(text, t) if markdown or text.strip() else code(text, t).strip("*")
            shares[word] = shares.get(word, 0.0) + probability
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    return [f"{word} {share(probability, t)}" for word, probability in ranked[:limit]]


def code(text: str, t: Translator = ENGLISH) -> str:
    """A token as inline code, without surrounding blanks; a blank token by name; backticks stay literal."""
    shown = text.strip()
    if not shown:
        return f"*{_blank(text, t) if text else t('nothing')}*"
    return code_span(shown.replace("\n", "⏎").replace("\t", "⇥"))


def _blank(text: str, t: Translator) -> str:
    """The name of the first blank that is more than a space."""
    first = text.lstrip(" ")[:1]
    return t("line end") if first in ("\n", "\r") and first else t("tab") if first == "\t" else t("blank")
