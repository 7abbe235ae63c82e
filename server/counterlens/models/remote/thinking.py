"""Reasoning in answers: told apart from what it leads to, whether a server hides, marks or mixes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from counterlens.models.remote.answer import Json

_FIELDS: Final = ("reasoning_content", "reasoning")
_OPENING: Final = re.compile(r"\s*<think(?:ing)?>")
_CLOSING: Final = re.compile(r"</think(?:ing)?>\s?")
_BEGINNINGS: Final = ("<think>", "<thinking>")
_CHARACTERS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Parts:
    """An answer so far, without marks.

    Attributes:
        thought: The reasoning.
        answer: What follows it.
        thinking: Whether the reasoning is not over, or cannot be told yet from an answer.
    """

    thought: str
    answer: str
    thinking: bool


def parts(written: str) -> Parts:
    """Tell reasoning between `<think>` marks apart; some templates write the first, so it may be missing."""
    opening, closing = _OPENING.match(written), _CLOSING.search(written)
    if opening:
        if closing is None:
            return Parts(written[opening.end() :], "", True)
        return Parts(written[opening.end() : closing.start()], written[closing.end() :], False)
    if closing is not None:
        return Parts(written[: closing.start()], written[closing.end() :], False)
    beginning = written.lstrip()
    unsure = beginning.startswith("<") and any(mark.startswith(beginning) for mark in _BEGINNINGS)
    return Parts("", written, unsure)


def field_of(message: Json) -> str:
    """The reasoning that a server sends in a field of its own; empty where there is none.

    Raises:
        TypeError: the field is no text.
    """
    for name in _FIELDS:
        found = message.get(name)
        if found is not None:
            if not isinstance(found, str):
                raise TypeError("reasoning is not a string")
            if found:
                return found
    return ""


def about_tokens(text: str) -> int:
    """About how many tokens a text has that came in one piece."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
