"""The languages with a dependence analysis, and a file's top-level statements, treated as a function."""

from __future__ import annotations

from counterlens.dependence.analysing import MODULE, AnalysedLanguage, ProgramAnalysis
from counterlens.dependence.graph import Dependences
from counterlens.dependence.rules import DEFAULT, Rules
from counterlens.languages.part import LanguagePart
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, whole_program

_DECIDING = frozenset(
    {"if_statement", "for_statement", "while_statement", "try_statement", "match_statement"}
)


def scopes(document: Document) -> list[Function]:
    """The functions of a document, followed by its top-level statements."""
    return [*analysable_functions(document), whole_program(document)]


def scope_at(document: Document, offset: int) -> Function:
    """The innermost function around a byte offset, or the module."""
    around = [
        function for function in analysable_functions(document) if function.start <= offset <= function.end
    ]
    return around[-1] if around else whole_program(document)


def first_decision(document: Document) -> int | None:
    """The offset of the first branch or loop at the top level; None if there is none."""
    offsets = (node.start_byte for node in document.tree.root_node.children if node.type in _DECIDING)
    return next(offsets, None)


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
