"""The languages whose functions are asked about: one line for each; nothing above asks which it is."""

from __future__ import annotations

from counterlens.errors import SourceError
from counterlens.probes.prompts.java import JavaPrompts
from counterlens.probes.prompts.language import PromptLanguage
from counterlens.probes.prompts.python import PythonPrompts

_LANGUAGES: dict[str, PromptLanguage] = {known.id: known for known in (PythonPrompts(), JavaPrompts())}


def prompted_languages() -> tuple[str, ...]:
    """The ids of the languages whose functions are asked about."""
    return tuple(_LANGUAGES)


def prompted(language: str) -> PromptLanguage:
    """How functions of a language are asked about.

    Raises:
        SourceError: they are not.
    """
    if language not in _LANGUAGES:
        titles = " and ".join(known.title for known in _LANGUAGES.values())
        raise SourceError(f"functions in {language} are not probed", f"Those in {titles} are")
    return _LANGUAGES[language]
