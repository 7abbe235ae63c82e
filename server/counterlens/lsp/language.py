"""The language of the one editor that this process serves: English unless `initialize` names another.

Texts about code are translated with `t`. English sentences from lower layers (reasons, descriptions of
mutations, server states and progress) are recognised by their patterns when they are sent to the editor.
Reports stay English, as do the log and texts for programs.
"""

from __future__ import annotations

import json
import math
import re
from importlib.resources import files

from counterlens.errors import CounterlensError
from counterlens.translating import ENGLISH, Translator

_chosen = ENGLISH


def choose(locale: str | None) -> None:
    """Set the editor's language, such as `de` or `de-AT`; English if there is no catalogue for it."""
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
    """Translate a text to the editor's language, and insert values."""
    return _chosen(text, **values)


def translate_known(text: str) -> str:
    """Translate a text from a lower layer to the editor's language, if its pattern is in the catalogue."""
    return _chosen.recognised(text)


def about(seconds: float) -> str:
    """A duration in words, no more exact than an estimate."""
    if seconds < 90:
        return t("about {n} s", n=max(5, 5 * round(seconds / 5)))
    return t("about {n} min", n=math.ceil(seconds / 60))


def error_text(error: CounterlensError) -> str:
    """State the error and the hint, in the editor's language."""
    return ". ".join(translate_known(part) for part in (error.message, error.hint) if part)
