"""The languages that prompts support, each with a separate module, which `Language.prompts` names."""

from __future__ import annotations

from counterlens.languages.part import LanguagePart
from counterlens.probes.prompts.language import PromptLanguage

PROMPTED: LanguagePart[PromptLanguage] = LanguagePart(
    "prompts", PromptLanguage, "functions in {0} are not probed", "Those in {0} are"
)
"""The prompt support, by language."""


def prompting_of(language: str) -> PromptLanguage:
    """The prompt support of a language.

    Raises:
        SourceError: the language has none.
    """
    return PROMPTED.require(language)
