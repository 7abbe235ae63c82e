"""The language of the one editor that this process serves: English unless `initialize` names another.

What stands on the code is worded through `t`. What comes in English sentences (why something cannot be done,
what a mutation did, what the server does and how far it is) is recognised by its pattern, where it leaves for
the editor. Reports stay English, and so do the log and what programs read.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files

from counterlens.errors import CounterlensError
from counterlens.translating import ENGLISH, Translator

_chosen = ENGLISH


def choose(locale: str | None) -> None:
    """Take the editor's language, such as `de` or `de-AT`; English where there is no catalogue for it."""
    global _chosen
    _chosen = ENGLISH
    tag = re.match(r"[a-z]{2,3}(?![a-z])", (locale or "").lower())
    place = files(__package__) / "translations" / f"{tag[0]}.json" if tag else None
    if place is not None and place.is_file():
        _chosen = Translator(json.loads(place.read_text(encoding="utf-8")))


def translator() -> Translator:
    """A translator for lower layers that word results."""
    return _chosen


def t(text: str, /, **values: object) -> str:
    """A text in the editor's language, with values in its places."""
    return _chosen(text, **values)


def recognised(text: str) -> str:
    """A text from below in the editor's language, where its catalogue has its pattern."""
    return _chosen.recognised(text)


def error_text(error: CounterlensError) -> str:
    """State the error and the hint, in the editor's language."""
    return ". ".join(recognised(part) for part in (error.message, error.hint) if part)
