"""Translation of texts into the languages with a catalogue, whose keys are the English texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

_NUMBER = "1,234.5"
"""Catalogue key of this number as written in the language; its signs are used for all numbers."""

_PLACE = re.compile(r"\{(\w+)\}")
_DECIMAL = re.compile(r"[+-]?[\d,]*\.\d+")
_GAP = re.compile(r"[.;] ")
"""The gap between two parts that may be translated separately."""
_WORD = re.compile(r"[A-Za-z]{3}")
_LONGEST, _MOST_GAPS = 1000, 12
"""Limits on the characters and gaps of a text: longer ones, such as a server's answers, would take long."""


class Translator:
    """Translates texts into one language; texts missing from its catalogue stay English.

    Args:
        texts: Translations by English text, with placeholders such as `{name}`.
    """

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._texts = texts or {}
        number = self._texts.get(_NUMBER, _NUMBER)
        self._signs = str.maketrans({",": number[1], ".": number[-2]})
        self._patterns: list[tuple[re.Pattern[str], str, int]] | None = None
        self._known = lru_cache(maxsize=4096)(self._find)

    def __call__(self, text: str, /, **values: object) -> str:
        """The translation of a text, with values for its placeholders."""
        said = self._texts.get(text, text)
        return _fill(said, values)

    def number(self, value: float, form: str = ",") -> str:
        """A number as written in this language; `form` is as for `format`."""
        return format(value, form).translate(self._signs)

    def recognised(self, text: str) -> str:
        """Translate a text that was composed in English, by the matching pattern of the catalogue.

        A text of several sentences is split if that translates more of it. The whole text stays unchanged if
        a part matches no pattern; so does a long text.
        """
        if not self._texts or len(text) > _LONGEST or len(_GAP.findall(text)) > _MOST_GAPS:
            return text
        translation = self._known(text)
        return text if translation is None else translation[1]

    def _find(self, text: str) -> tuple[int, str] | None:
        """Number of translated characters of a text, and its translation."""
        translation = self._translate_by_pattern(text)
        for gap in _GAP.finditer(text):
            two = self._known(text[gap.end() :])
            for end in (gap.start(), gap.end() - 1) if two else ():  # a full stop may belong to the pattern
                head = self._translate_by_pattern(text[:end])
                if head and two and (translation is None or head[0] + two[0] > translation[0]):
                    translation = head[0] + two[0], head[1] + text[end : gap.end()] + two[1]
        name, colon, rest = text.partition(": ")
        if translation is None and colon and " " not in name and (known := self._known(rest)):
            translation = known[0], name + colon + known[1]
        return translation

    def _translate_by_pattern(self, text: str) -> tuple[int, str] | None:
        """Translate a text by one pattern: of those that match, the one with the most literal characters."""
        if " " in text and text in self._texts:
            return len(text), self._texts[text]
        for pattern, translation, own in self._compiled():
            if (fits := pattern.fullmatch(text)) is not None:
                values = {name[1:]: self._value(value) for name, value in fits.groupdict().items()}
                return own, _fill(translation, values)
        return None

    def _value(self, text: str) -> str:
        """The value of a placeholder: a number, a text with a translation, or a name that stays unchanged."""
        if _DECIMAL.fullmatch(text):
            return text.translate(self._signs)
        bare = text.strip()
        known = self._known(bare) if " " in bare else None
        return text if known is None else text.replace(bare, known[1])

    def _compiled(self) -> list[tuple[re.Pattern[str], str, int]]:
        if self._patterns is None:
            made = []
            for text, translation in self._texts.items():
                own = _PLACE.sub("", text)
                if own != text and _WORD.search(own):
                    made.append((_pattern(_PLACE.split(text)), translation, len(own)))
            self._patterns = sorted(made, key=lambda pattern: -pattern[2])
        return self._patterns


def _fill(text: str, values: Mapping[str, object]) -> str:
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), text)


def _pattern(pieces: list[str]) -> re.Pattern[str]:
    """The pattern of alternating literal pieces and placeholder names."""
    said, seen = "", set[str]()
    for at, piece in enumerate(pieces):
        if at % 2 == 0:
            said += re.escape(piece)
        elif piece in seen:
            said += f"(?P=_{piece})"
        else:
            seen.add(piece)
            said += f"(?P<_{piece}>.*?)"
    return re.compile(said, re.DOTALL)


ENGLISH = Translator()
