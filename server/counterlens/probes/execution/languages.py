"""The languages of execution questions, each with a separate module that `Language.execution` names."""

from __future__ import annotations

from counterlens.languages.part import LanguagePart
from counterlens.probes.execution.language import ExecutedLanguage

EXECUTED: LanguagePart[ExecutedLanguage] = LanguagePart(
    "execution", ExecutedLanguage, "questions about calls in {0} are not supported", "Those in {0} are"
)
"""The support of execution questions, by language."""


def execution_of(language: str) -> ExecutedLanguage:
    """The support of execution questions in a language.

    Raises:
        SourceError: the language is not supported.
    """
    return EXECUTED.require(language)
