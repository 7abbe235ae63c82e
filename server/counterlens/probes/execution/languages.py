"""The languages whose calls are asked about, each by a part of its own that `Language.execution` names."""

from __future__ import annotations

from counterlens.languages.part import LanguagePart
from counterlens.probes.execution.language import ExecutedLanguage

EXECUTED: LanguagePart[ExecutedLanguage] = LanguagePart(
    "execution", ExecutedLanguage, "calls in {0} are not asked about", "Those in {0} are"
)
"""How calls are asked about, by language."""


def executed(language: str) -> ExecutedLanguage:
    """How calls in a language are asked about.

    Raises:
        SourceError: they are not.
    """
    return EXECUTED.require(language)
