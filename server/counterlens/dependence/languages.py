"""The languages whose functions are analysed: one line for each.

A language is a folder that makes a `Dependences` of a function, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable

from counterlens.dependence.analysing import MODULE, ProgramAnalysis
from counterlens.dependence.braces.program import BraceProgram
from counterlens.dependence.c.language import C
from counterlens.dependence.graph import Dependences
from counterlens.dependence.java.language import JAVA
from counterlens.dependence.program import Program
from counterlens.dependence.rules import DEFAULT, Rules
from counterlens.errors import SourceError

_ANALYSES: dict[str, Callable[[str, Rules], ProgramAnalysis]] = {
    "python": Program,
    "java": lambda source, rules: BraceProgram(source, JAVA, rules),
    "c": lambda source, rules: BraceProgram(source, C, rules),
}


def analysed_languages() -> tuple[str, ...]:
    """The ids of the languages whose functions can be analysed."""
    return tuple(_ANALYSES)


def analyse(source: str, language: str = "python", rules: Rules = DEFAULT) -> ProgramAnalysis:
    """Parse a source text.

    Args:
        source: The text.
        language: The id of its language, such as `java`.
        rules: How it is analysed.

    Raises:
        SourceError: the source cannot be read, or its language is not one of `analysed_languages()`.
    """
    made = _ANALYSES.get(language)
    if made is None:
        raise SourceError(
            f"the dependences of {language} cannot be found", f"Those of {', '.join(_ANALYSES)} can"
        )
    return made(source, rules)


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
