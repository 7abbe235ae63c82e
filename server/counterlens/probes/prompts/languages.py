"""The languages whose functions are asked about, each by a part of its own that `Language.prompts` names."""

from __future__ import annotations

from counterlens.languages.part import LanguagePart
from counterlens.probes.prompts.language import PromptLanguage

PROMPTED: LanguagePart[PromptLanguage] = LanguagePart(
    "prompts", PromptLanguage, "functions in {0} are not probed", "Those in {0} are"
)
"""How functions are asked about, by language."""


def prompted(language: str) -> PromptLanguage:
    """How functions of a language are asked about.

    Raises:
        SourceError: they are not.
    """
    return PROMPTED.require(language)
