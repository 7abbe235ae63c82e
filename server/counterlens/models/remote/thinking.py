"""Separates reasoning from the answer, whether a server hides, marks or mixes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from counterlens.models.remote.answer import Json

_FIELDS: Final = ("reasoning_content", "reasoning", "thinking")
_TEXTS: Final = ("text", "content", "value")  # of a part; the last in texts that are objects
_REASONING: Final = re.compile(r"reason|think|thought")
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


def split_content(content: object) -> tuple[str, str]:
    """Separate the reasoning and the text of a message's content: a text, a part, or a list of these.

    Raises:
        TypeError: it is something else.
    """
    if content is None:
        return "", ""
    if isinstance(content, str):
        return "", content
    if isinstance(content, list):
        pairs = [split_content(part) for part in content]
        return "".join(thought for thought, _ in pairs), "".join(text for _, text in pairs)
    if not isinstance(content, dict):
        raise TypeError("a text is not a string")
    name = next((name for name in (*_TEXTS, *_FIELDS) if content.get(name)), "")
    thought, text = split_content(content.get(name))
    if name in _FIELDS or _REASONING.search(str(content.get("type"))):
        return thought + text, ""
    return thought, text


def field_of(message: Json) -> str:
    """The reasoning that a server sends in a separate field; empty if there is none.

    Raises:
        TypeError: the field is neither a text nor made of parts.
    """
    return next((text for name in _FIELDS if (text := "".join(split_content(message.get(name))))), "")


def about_tokens(text: str) -> int:
    """Estimated number of tokens of a text that came in one piece."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
