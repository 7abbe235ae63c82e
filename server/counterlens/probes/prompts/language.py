"""The interface of a language for prompts: reading, emptying and completing its functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import tree_sitter

from counterlens.errors import OptionError, SourceError
from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import LANGUAGES
from counterlens.models.base import Stop
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


class PromptLanguage(ABC):
    """A language that prompts support.

    Attributes:
        texts: The node types of comments and of the content of strings.
        suffix: The end of the names of templates with examples in the language.
    """

    texts: ClassVar[frozenset[str]]
    suffix: ClassVar[str] = ""

    @abstractmethod
    def described(self, text: str) -> str:
        """A description as a comment or string before a program."""

    def imported(self, document: Document, function: Function) -> str:
        """The definitions of other files that a function uses, as text before a program.

        Raises:
            OptionError: they cannot be found in this language.
        """
        raise OptionError(
            f"the definitions that {function.qualname} uses from other files cannot be found in "
            f"{LANGUAGES[document.language].title}",
            "Omit --context",
        )

    @abstractmethod
    def docstring(self, document: Document, function: Function) -> tuple[int, int]:
        """The byte range of a function's documentation, up to the following code.

        Both ends are the function's end if it has none.
        """

    @abstractmethod
    def behind_docstring(self, document: Document, function: Function) -> int:
        """The first byte of the line of a function's first statement after its docstring.

        It is the first byte of the statement itself if that shares a line with the header.
        """

    @abstractmethod
    def hollow(self, document: Document, function: Function, text: str = "") -> Document:
        """The document with a function that only raises an error.

        Args:
            text: Its documentation; empty for none.

        Raises:
            SourceError: the header of the function cannot be read.
        """

    @abstractmethod
    def alone(self, text: str) -> str:
        """A source that contains only one function.

        Args:
            text: The function, not indented.
        """

    @abstractmethod
    def stop(self, document: Document, function: Function, cut: int) -> Stop:
        """The condition that ends a completion of a function from a cut on."""

    def inner_stop(self, document: Document, start: int, end: int) -> Stop:  # noqa: ARG002 - any place
        """The condition that ends a completion of statements inside a function.

        Args:
            start: The first byte of the line of the first statement.
            end: The byte after the last statement.

        Raises:
            OptionError: the language has none.
        """
        raise OptionError(
            f"statements inside a function cannot be completed in {LANGUAGES[document.language].title}",
            "Omit --holes",
        )

    @abstractmethod
    def stand_ins(self, document: Document, function: Function) -> tuple[str, ...]:
        """Statements that end a function and that tests should not accept as its code."""

    @abstractmethod
    def emptied(self, rest: str, stand_in: str, stop: Stop) -> tuple[str, ...]:
        """The forms of a stand-in that replaces the rest of a function; the first that compiles counts.

        Args:
            rest: The replaced code, from the beginning of a line.
            stand_in: One of `stand_ins`.
            stop: The condition that ends a completion there.
        """

    @abstractmethod
    def names(self, node: tree_sitter.Node, owners: set[str]) -> bool:
        """Whether an identifier with a function's name refers to the function.

        Args:
            owners: The names of the function's classes, through which it can be reached.
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
    """The indentation of the first line that is not blank."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]


PROMPTED: LanguagePart[PromptLanguage] = LanguagePart(
    "prompts", PromptLanguage, "functions in {0} are not probed", "Those in {0} are"
)
"""The prompt support, by language."""


prompting_of = PROMPTED.require
"""The prompts of a language; a `SourceError` if it has none."""
