"""`LanguagePart`: one layer's part of each language, loaded from the place that the language names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from threading import RLock
from typing import Any, Generic, TypeVar, cast

from counterlens import plugins
from counterlens.counting import enumeration
from counterlens.errors import SourceError
from counterlens.languages.language import Language
from counterlens.languages.registry import LANGUAGES, title_of
from counterlens.plugins import PluginFailure

T = TypeVar("T")

PARTS: dict[str, LanguagePart[Any]] = {}
"""All parts, by the field of `Language` that each reads; one part per field."""


@dataclass(frozen=True, slots=True)
class FunctionAt:
    """A function of a part that is imported when it is first called.

    Attributes:
        place: Its place, `package.module:NAME`.
    """

    place: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return resolve_name(self.place)(*arguments, **named)


class LanguagePart(Mapping[str, T], Generic[T]):
    """One part of every language that has it, by language id, in the order of the registry.

    A plug-in's part that cannot be loaded is left out, and `counterlens doctor` gives the reason.

    Args:
        field: The field of `Language` that names the part.
        kind: The class of each part; None for any callable.
        lacking: The message about a language without it, with `{0}` for the language.
        hint: The remedy, with `{0}` for the languages that have it.
    """

    def __init__(self, field: str, kind: type | None = None, lacking: str = "", hint: str = "") -> None:
        assert field in Language.__dataclass_fields__, field
        assert field not in PARTS, field
        self._field, self._kind = field, kind
        self._lacking, self._hint = lacking or f"{{0}} has no {field}", hint
        self._loaded: dict[str, T | None] = {}
        self._lock = RLock()
        PARTS[field] = self

    def __getitem__(self, language: str) -> T:
        if language not in self._loaded:
            with self._lock:
                if language not in self._loaded:
                    self._loaded[language] = self._load(LANGUAGES[language])
        part = self._loaded[language]
        if part is None:
            raise KeyError(language)
        return part

    def __iter__(self) -> Iterator[str]:
        return (language for language in LANGUAGES if language in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, language: object) -> bool:
        registered_language = LANGUAGES.get(language) if isinstance(language, str) else None
        if registered_language is None or not getattr(registered_language, self._field):
            return False
        return registered_language.id not in LANGUAGES.added or self.get(registered_language.id) is not None

    def require(self, language: str) -> T:
        """The part of a language.

        Raises:
            SourceError: the language does not have it; the hint lists those that do.
        """
        part = self.get(language)
        if part is None:
            hint = self._hint.format(self.titles("and"))
            raise SourceError(self._lacking.format(title_of(language)), hint or None)
        return part

    def titles(self, conjunction: str) -> str:
        """The titles of the languages that have it, such as `Python and Java`."""
        return enumeration([title_of(language) for language in self], conjunction)

    def _load(self, language: Language) -> T | None:
        place: str = getattr(language, self._field)
        if not place:
            return None
        try:
            part = resolve_name(place)
            if not (callable(part) if self._kind is None else isinstance(part, self._kind)):
                raise TypeError(f"{place} is no {self._kind.__name__ if self._kind else 'function'}")
            return cast("T", part)
        except Exception as error:
            if language.id not in LANGUAGES.added:
                raise
            reason = f"its {self._field}: {' '.join(f'{type(error).__name__}: {error}'.split())}"
            package = place.partition(".")[0].partition(":")[0]
            plugins.failures.append(PluginFailure("counterlens.languages", language.id, package, reason))
            return None
