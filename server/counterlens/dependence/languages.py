"""The languages whose functions are analysed, each by a part of its own that `Language.dependence` names."""

from __future__ import annotations

from counterlens.dependence.analysing import MODULE, AnalysedLanguage, ProgramAnalysis
from counterlens.dependence.graph import Dependences
from counterlens.dependence.rules import DEFAULT, Rules
from counterlens.languages.part import LanguagePart
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

ANALYSED: LanguagePart[AnalysedLanguage] = LanguagePart(
    "dependence",
    AnalysedLanguage,
    "the dependences of {0} cannot be computed",
    "Those of {0} can",
)
"""How functions are analysed, by language."""


def analyse(source: str, language: str = "python", rules: Rules = DEFAULT) -> ProgramAnalysis:
    """Parse a source text.

    Args:
        source: The text.
        language: The id of its language, such as `java`.
        rules: How it is analysed.

    Raises:
        SourceError: the source cannot be read, or its language is not analysed.
    """
    return ANALYSED.require(language).parse(source, rules)


def located(document: Document) -> list[Function]:
    """The functions of a document that can be analysed, in the order of the text; none in other languages."""
    known = ANALYSED.get(document.language)
    return known.located(document) if known is not None else []


def dependences(
    source: str, function: str = MODULE, *, language: str = "python", rules: Rules = DEFAULT
) -> Dependences:
    """The dependences of one function of a source text.

    Args:
        source: The source.
        function: The function's qualified name, or `<module>` for a Python module's own statements.
        language: The id of its language.
        rules: How it is analysed.

    Raises:
        SourceError: the source is not valid, or has no such function, or several; or its language is not
            analysed.
    """
    return analyse(source, language, rules).dependences(function)
