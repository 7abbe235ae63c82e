"""The languages with a dependence analysis, each in a part named by `Language.dependence`."""

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
"""The dependence analysis of each language."""


def analyse(source: str, language: str = "python", rules: Rules = DEFAULT) -> ProgramAnalysis:
    """Parse a source text.

    Args:
        source: The text.
        language: The id of its language, such as `java`.
        rules: Options of the analysis.

    Raises:
        SourceError: the source cannot be parsed, or its language has no dependence analysis.
    """
    return ANALYSED.require(language).parse(source, rules)


def analysable_functions(document: Document) -> list[Function]:
    """The functions of a document that can be analysed, in source order; none in other languages."""
    known = ANALYSED.get(document.language)
    return known.located(document) if known is not None else []


def dependences(
    source: str, function: str = MODULE, *, language: str = "python", rules: Rules = DEFAULT
) -> Dependences:
    """The dependences of one function of a source text.

    Args:
        source: The source.
        function: The function's qualified name, or `<module>` for a Python module's top-level statements.
        language: The id of its language.
        rules: Options of the analysis.

    Raises:
        SourceError: the source is invalid, there is no such function, the name is ambiguous, or the language
            has no dependence analysis.
    """
    return analyse(source, language, rules).dependences(function)
