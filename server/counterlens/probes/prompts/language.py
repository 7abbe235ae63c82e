"""The interface of a language for prompts: how its functions are read, emptied and completed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import tree_sitter

from counterlens.errors import SourceError
from counterlens.models.base import Stop
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


class PromptLanguage(ABC):
    """One language whose functions are asked about.

    Attributes:
        texts: The node types of comments and of the content of strings.
        suffix: The end of the names of templates that show programs of its own.
    """

    texts: ClassVar[frozenset[str]]
    suffix: ClassVar[str] = ""

    @abstractmethod
    def described(self, text: str) -> str:
        """A description as it stands before a program."""

    @abstractmethod
    def docstring(self, document: Document, function: Function) -> tuple[int, int]:
        """The bytes of a function's documentation up to what follows it; the function's end for none."""

    @abstractmethod
    def behind_docstring(self, document: Document, function: Function) -> int:
        """The first byte of the line of a function's first statement, or of what stands behind its docstring.

        Of a function whose first statement shares a line with its header, that of the statement.
        """

    @abstractmethod
    def hollow(self, document: Document, function: Function, text: str = "") -> Document:
        """The document with a function that does nothing but fail.

        Args:
            document: The source.
            function: The function.
            text: Its documentation; there is none if it is empty.

        Raises:
            SourceError: the header of the function cannot be read.
        """

    @abstractmethod
    def alone(self, text: str) -> str:
        """A source that holds nothing but one function.

        Args:
            text: The function, not indented.
        """

    @abstractmethod
    def stop(self, document: Document, function: Function, cut: int) -> Stop:
        """The end of a completion of a function from a cut on."""

    @abstractmethod
    def stand_ins(self, document: Document, function: Function) -> tuple[str, ...]:
        """Statements that end a function, and that no tests should take for its code."""

    @abstractmethod
    def emptied(self, rest: str, stand_in: str, stop: Stop) -> tuple[str, ...]:
        """A stand-in in place of the rest of a function, in ways of which the first that compiles counts.

        Args:
            rest: What stood there, from a line's beginning on.
            stand_in: One of `stand_ins`.
            stop: The end of a completion there.
        """

    @abstractmethod
    def names(self, node: tree_sitter.Node, owners: set[str]) -> bool:
        """Whether an identifier stands for the function of its name, rather than for something else.

        Args:
            node: The identifier.
            owners: The names that its own attributes are reached by besides those of the language.
        """


def definition_node(document: Document, function: Function) -> tree_sitter.Node:
    """The syntax node of a function.

    Raises:
        SourceError: the header of the function cannot be read.
    """
    header = function.header
    node = document.tree.root_node.descendant_for_byte_range(header, header + 1)
    while node is not None and (node.end_byte != function.end or node.child_by_field_name("body") is None):
        node = node.parent
    if node is None:
        raise SourceError(f"the header of {function.qualname} cannot be read")
    return node


def indentation(text: str) -> str:
    """The blanks of the first line of a text that holds something."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]
