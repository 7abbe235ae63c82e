"""Analysers of source texts by language, and finders of their functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from counterlens.dependence.graph import Dependences
from counterlens.dependence.rules import Rules
from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function

__all__ = ["MODULE"]

Node = TypeVar("Node")


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


def find(known: Sequence[tuple[str, str, Node]], function: str) -> tuple[str, Node]:
    """Find a function by name; of several definitions with one qualified name, the last.

    Args:
        known: Each function's qualified name, its own name, and its node.
        function: A qualified name, or an own name if that is unambiguous.

    Returns:
        Its qualified name and its node.

    Raises:
        SourceError: there is no such function, or the name is ambiguous.
    """
    matches = [(full, node) for full, _, node in known if full == function]
    matches = matches or [(full, node) for full, own, node in known if own == function]
    if len({full for full, _ in matches}) > 1:
        choices = ", ".join(full for full, _ in matches)
        raise SourceError(f"several functions are called {function}: {choices}", "Give the qualified name")
    if matches:
        return matches[-1]
    if not known:
        raise SourceError(f"there is no function {function}: there are none at all", f"Ask for {MODULE}")
    choices = ", ".join(full for full, _, _ in known[:12]) + (", …" if len(known) > 12 else "")
    raise SourceError(f"there is no function {function}", f"There is {choices}")
