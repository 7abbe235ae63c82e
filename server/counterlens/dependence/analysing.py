"""The languages with a dependence analysis, and the functions of a source that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from counterlens.dependence.effects import DEFAULT, Rules
from counterlens.dependence.graph import Dependences
from counterlens.errors import SourceError
from counterlens.languages.part import LanguagePart
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function, whole_program

__all__ = ["MODULE"]

Node = TypeVar("Node")
_DECIDING = frozenset(
    {"if_statement", "for_statement", "while_statement", "try_statement", "match_statement"}
)


class ProgramAnalysis(Protocol):
    """A source text, parsed once."""

    @property
    def functions(self) -> list[str]:
        """The qualified names of all functions, outer ones first, in source order."""

    def dependences(self, function: str = MODULE) -> Dependences:
        """The dependences of one function.

        Args:
            function: Its qualified name, its own name if that is unambiguous, or `<module>`.

        Raises:
            SourceError: there is no such function, the name is ambiguous, or the function cannot be analysed.
        """

    def all(self) -> Iterator[Dependences]:
        """The dependences of the file's top-level statements and of every function."""


@dataclass(frozen=True, slots=True)
class AnalysedLanguage:
    """The analysis of one language.

    Attributes:
        parse: Parses a source text.
        located: Finds the functions of a document, even if parts of it do not parse.
    """

    parse: Callable[[str, Rules], ProgramAnalysis]
    located: Callable[[Document], list[Function]]


def find(functions: Sequence[tuple[str, str, Node]], function: str) -> tuple[str, Node]:
    """Find a function by name; of several definitions with one qualified name, the last.

    Args:
        functions: Each function's qualified name, its own name, and its node.
        function: A qualified name, or an own name if that is unambiguous.

    Returns:
        Its qualified name and its node.

    Raises:
        SourceError: there is no such function, or the name is ambiguous.
    """
    matches = [(full, node) for full, _, node in functions if full == function]
    matches = matches or [(full, node) for full, own, node in functions if own == function]
    if len({full for full, _ in matches}) > 1:
        choices = ", ".join(full for full, _ in matches)
        raise SourceError(f"several functions are called {function}: {choices}", "Give the qualified name")
    if matches:
        return matches[-1]
    if not functions:
        raise SourceError(f"there is no function {function}: there are none at all", f"Ask for {MODULE}")
    choices = ", ".join(full for full, _, _ in functions[:12]) + (", …" if len(functions) > 12 else "")
    raise SourceError(f"there is no function {function}", f"There is {choices}")


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
        language: The id of its language, such as `java`.
        rules: Options of the analysis.

    Raises:
        SourceError: the source cannot be parsed, or its language has no dependence analysis.
    """
    return ANALYSED.require(language).parse(source, rules)


def analysable_functions(document: Document) -> list[Function]:
    """The functions of a document that can be analysed, in source order; none in other languages."""
    language = ANALYSED.get(document.language)
    return language.located(document) if language is not None else []


def dependences(
    source: str, function: str = MODULE, *, language: str = "python", rules: Rules = DEFAULT
) -> Dependences:
    """The dependences of one function of a source text.

    Args:
        function: The function's qualified name, or `<module>` for a Python module's top-level statements.
        language: The id of its language.
        rules: Options of the analysis.

    Raises:
        SourceError: the source is invalid, there is no such function, the name is ambiguous, or the language
            has no dependence analysis.
    """
    return analyse(source, language, rules).dependences(function)
