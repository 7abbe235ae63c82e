"""All languages by id. A new one is a folder and its name here, or a `counterlens.languages` plug-in."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.languages.language import Language
from counterlens.plugins import Registry

PACKS = ("python", "java", "scored")
"""The packages with a language each, or several; their `language` modules have them in `LANGUAGES`."""
_OWN: tuple[Language, ...] = tuple(
    language
    for pack in PACKS
    for language in importlib.import_module(f"counterlens.{pack}.language").LANGUAGES
)
LANGUAGES = Registry("counterlens.languages", _OWN, name=lambda language: language.id, kind=Language)
_SHEBANG = re.compile(rb"#!\s*\S*?(?:/env\s+(?:-S\s+)?)?([A-Za-z]+)[\d.]*(?:\s|$)")


def installed_languages() -> list[str]:
    """The ids of the languages whose grammar is installed."""
    return [language.id for language in LANGUAGES.values() if language.installed]


def suffixes() -> frozenset[str]:
    """The file name endings of the languages whose grammar is installed."""
    return frozenset(
        suffix for language in LANGUAGES.values() if language.installed for suffix in language.suffixes
    )


def title_of(language: str) -> str:
    """The title of a language; its id if it is unknown."""
    registered_language = LANGUAGES.get(language)
    return registered_language.title if registered_language is not None else language


def language_of(path: Path, data: bytes = b"") -> str:
    """The language id of a file, by its name, or by its first line if that names an interpreter.

    Args:
        data: The beginning of its content.

    Raises:
        SourceError: neither identifies a language.
    """
    ending = path.suffix.lower()
    registered_language = _first(lambda language: ending in language.suffixes)
    if registered_language is None and (shebang := _SHEBANG.match(data.split(b"\n", 1)[0])):
        registered_language = _language_named(shebang[1].decode())
    if registered_language is None and ending == ".ipynb":
        raise SourceError(
            f"{path.name} is a notebook, and not a file of code",
            f"Export its cells to one file: jupyter nbconvert --to script {path.name}",
        )
    if registered_language is None:
        raise SourceError(
            f"the language of {path.name} is unknown",
            f"Use a known file extension ({', '.join(sorted(suffixes()))}), or `score --language`",
        )
    return registered_language.id


def language_named(name: str) -> str:
    """The id of the language with an id or alias: `javascriptreact` is `javascript`.

    Raises:
        SourceError: there is no such language.
    """
    registered_language = _language_named(name)
    if registered_language is None:
        raise SourceError(f"there is no language {name}", f"There are {', '.join(installed_languages())}")
    return registered_language.id


def _language_named(name: str) -> Language | None:
    lower = name.lower()
    return LANGUAGES.get(lower) or _first(lambda language: lower in language.aliases)


def _first(fits: Callable[[Language], bool]) -> Language | None:
    """The first language that fits: built-in ones first; plug-ins are loaded only if none of them fits."""
    return next(filter(fits, _OWN), None) or next(filter(fits, LANGUAGES.added.values()), None)
