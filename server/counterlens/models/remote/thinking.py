"""Separates reasoning from the answer, whether a server hides, marks or mixes it."""

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
    """A response so far, without marks.

    Attributes:
        thought: The reasoning.
        answer: The text after the reasoning.
        thinking: Whether the reasoning has not ended, or it is too early to decide.
    """

    thought: str
    answer: str
    thinking: bool


def parts(written: str) -> Parts:
    """Separate reasoning between `<think>` marks; some templates write the first, so it may be missing."""
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
    """The reasoning that a server sends in a separate field; empty if there is none.

    Raises:
        TypeError: the field is not a string.
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
    """Estimated number of tokens of a text that came in one piece."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
