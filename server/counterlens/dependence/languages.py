"""The languages whose functions are analysed: one line for each.

A language is a folder that makes a `Dependences` of a function, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from counterlens.dependence.analysing import MODULE, ProgramAnalysis
from counterlens.dependence.braces.program import BraceLanguage, BraceProgram, located_in
from counterlens.dependence.c.language import C
from counterlens.dependence.graph import Dependences
from counterlens.dependence.java.language import JAVA
from counterlens.dependence.program import Program
from counterlens.dependence.rules import DEFAULT, Rules
from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions


@dataclass(frozen=True, slots=True)
class AnalysedLanguage:
    """How one language is analysed.

    Attributes:
        parse: Parses a source text.
        located: Finds the functions of a document, also of one that does not parse everywhere.
    """

    parse: Callable[[str, Rules], ProgramAnalysis]
    located: Callable[[Document], list[Function]]


def _braces(language: BraceLanguage) -> AnalysedLanguage:
    return AnalysedLanguage(
        lambda source, rules: BraceProgram(source, language, rules), partial(located_in, language)
    )


_LANGUAGES = {
    "python": AnalysedLanguage(Program, functions),
    "java": _braces(JAVA),
    "c": _braces(C),
}


def analysed_languages() -> tuple[str, ...]:
    """The ids of the languages whose functions can be analysed."""
    return tuple(_LANGUAGES)


def analyse(source: str, language: str = "python", rules: Rules = DEFAULT) -> ProgramAnalysis:
    """Parse a source text.

    Args:
        source: The text.
        language: The id of its language, such as `java`.
        rules: How it is analysed.

    Raises:
        SourceError: the source cannot be read, or its language is not one of `analysed_languages()`.
    """
    known = _LANGUAGES.get(language)
    if known is None:
        raise SourceError(
            f"the dependences of {language} cannot be computed", f"Those of {', '.join(_LANGUAGES)} can"
        )
    return known.parse(source, rules)


def located(document: Document) -> list[Function]:
    """The functions of a document that can be analysed, in the order of the text; none in other languages."""
    known = _LANGUAGES.get(document.language)
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
        SourceError: the source is not valid, or has no such function, or several; or its language is not one
            of `analysed_languages()`.
    """
    return analyse(source, language, rules).dependences(function)
