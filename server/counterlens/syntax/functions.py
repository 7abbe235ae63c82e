"""The functions of a document, found in its tree, even if parts of the file do not parse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from counterlens.counting import enumeration
from counterlens.errors import SourceError
from counterlens.languages.language import Feature
from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import LANGUAGES, language_of, title_of
from counterlens.syntax.definitions import FINDERS, FunctionDefinition, definitions
from counterlens.syntax.document import Document

MODULE = "<module>"
"""The name of a whole program: a document, taken as one function that runs from its top to its end."""
IMPORTED: LanguagePart[Callable[[Path, str], tuple[Path, str] | None]] = LanguagePart("imported")
"""Searches for the file and the name of what a file imports, by language."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function or method, or a whole program. Offsets are UTF-8 bytes, lines are 1-based.

    Attributes:
        name: Its own name; `MODULE` for a whole program.
        qualname: Dotted path from the file: `Class.method`, `outer.inner`; with the types of its parameters
            if several have this path: `Class.method(int, String)`.
        start: The first byte of its first decorator or annotation, or of its header.
        end: The byte after its last.
        header: The first byte after decorators and annotations: of `def`, `async def`, `public` or a type.
        body: The first byte of its first statement, which may be its docstring.
        start_line: The line of `start`.
        end_line: The line of its last byte.
        column: Number of characters before `header` on its line.
    """

    name: str
    qualname: str
    start: int
    end: int
    header: int
    body: int
    start_line: int
    end_line: int
    column: int

    def holds(self, other: Function) -> bool:
        """Whether another function is nested in this one."""
        return self.start < other.start and other.end <= self.end


class Named(Protocol):
    """A node with a qualified name."""

    @property
    def qualname(self) -> str:
        """Its dotted path from the file."""


NamedT = TypeVar("NamedT", bound=Named)


def whole_program(document: Document) -> Function:
    """A document as one function without a header."""
    data = document.data
    root = document.tree.root_node
    first = root.named_children[0].start_byte if root.named_children else 0
    return Function(MODULE, MODULE, 0, len(data), 0, first, 1, data.count(b"\n") + 1, 0)


def functions(document: Document) -> list[Function]:
    """All functions of a document, outer ones before the ones nested in them, in source order.

    There are none in languages without a finder of functions.
    """
    if document.language not in FINDERS:
        return []
    pairs = definitions(document.tree.root_node, document.language)
    return [_function(name, definition, document.data) for name, definition in pairs]


def require_functions(document: Document) -> Document:
    """Return the document if its language has a finder of functions.

    Raises:
        SourceError: its language has none.
    """
    if document.language in FINDERS:
        return document
    raise SourceError(
        f"{document.path or 'the text'} is {title_of(document.language)}: only functions of "
        f"{FINDERS.titles('and')} can be run and probed",
        "`counterlens score` works for it",
    )


def has_feature(document: Document, feature: Feature) -> bool:
    """Whether a document's language has a feature."""
    language = LANGUAGES.get(document.language)
    return language is not None and feature in language.features


def require_feature(document: Document, feature: Feature) -> Document:
    """Return the document if its language has a feature.

    Raises:
        SourceError: its language lacks the feature.
    """
    if has_feature(document, feature):
        return document
    titles = enumeration(
        [language.title for language in LANGUAGES.values() if feature in language.features], "and"
    )
    raise SourceError(
        f"{document.path or 'the text'} is {title_of(document.language)}: this works for {titles} only",
        "`counterlens score` works for it",
    )


def is_internal(qualname: str) -> bool:
    """Whether a function is not called by name from outside: `_helper`, `__eq__`, or in such a class."""
    return any(part.startswith("_") for part in qualname.split("."))


def find_function(document: Document, qualname: str) -> Function:
    """The function with a qualified name, or with a unique unqualified one; `MODULE` is the whole program.

    Raises:
        SourceError: there is none, or several; the message lists them; or the language has no finder.
    """
    if qualname == MODULE:
        return whole_program(require_functions(document))
    return function_named(functions(require_functions(document)), qualname, document.path or "the text")


def function_named(candidates: Sequence[NamedT], qualname: str, where: Path | str) -> NamedT:
    """The one of some functions with a qualified name, or with a unique unqualified one.

    Raises:
        SourceError: there is none, or several; the message lists the choices.
    """
    named = [f for f in candidates if f.qualname == qualname]
    named = named or [f for f in candidates if qualname in _short_names(f.qualname)]
    if len({f.qualname for f in named}) > 1:
        choices = ", ".join(f.qualname for f in named)
        raise SourceError(f"several functions are called {qualname}: {choices}", "Give the qualified name")
    if named:
        return named[-1]  # the name refers to the last of several definitions
    if isinstance(where, Path) and (elsewhere := _definition_elsewhere(where, qualname)):
        raise SourceError(
            f"{qualname} is not defined in {where}, which imports it", f"Name its file: {elsewhere}"
        )
    if not candidates:
        raise SourceError(f"there is no function {qualname} in {where}: it has no functions at all")
    choices = ", ".join(f.qualname for f in candidates[:12]) + (", …" if len(candidates) > 12 else "")
    raise SourceError(f"there is no function {qualname} in {where}", f"It has {choices}")


def _definition_elsewhere(path: Path, qualname: str) -> str:
    """The definition of a name that a file imports, as `PATH::QUALNAME`; empty if none is found."""
    try:
        find = IMPORTED.get(language_of(path))
    except SourceError:  # the user has named the language
        return ""
    place = find(path, qualname) if find else None
    if place is None:
        return ""
    file, name = place
    here = Path.cwd()
    return f"{file.relative_to(here) if file.is_relative_to(here) else file}::{name}"


def function_at(document: Document, offset: int) -> Function | None:
    """The innermost function around a byte offset; an offset in a line's indentation counts as its end."""
    data = document.data
    begin, end = data.rfind(b"\n", 0, offset) + 1, data.find(b"\n", offset)
    line = data[begin : end if end >= 0 else len(data)]
    indented = len(line) - len(line.lstrip())
    at = max(offset, begin + indented) if indented < len(line) else offset
    around = [f for f in functions(document) if f.start <= at <= f.end]
    return around[-1] if around else None


def _short_names(qualname: str) -> tuple[str, str, str]:
    """A name without the classes around it, without its parameter types, and without both."""
    path, bracket, types = qualname.partition("(")
    own = path.rpartition(".")[2]
    return own + bracket + types, path, own


def _function(qualname: str, definition: FunctionDefinition, data: bytes) -> Function:
    outer, header = definition.start, definition.header
    line_start = data.rfind(b"\n", 0, header) + 1
    return Function(
        name=definition.path[-1],
        qualname=qualname,
        start=outer.start_byte,
        end=definition.node.end_byte,
        header=header,
        body=definition.body,
        start_line=outer.start_point.row + 1,
        end_line=definition.node.end_point.row + 1,
        column=len(data[line_start:header].decode("utf-8", "replace")),
    )


def enclosing(spans: Sequence[tuple[int, int]]) -> list[int]:
    """The index of the innermost span around each of some nested spans, or -1.

    Args:
        spans: Begin and end of each, in the order of their begins.
    """
    around: list[int] = []
    stack: list[int] = []
    for index, (start, _) in enumerate(spans):
        while stack and spans[stack[-1]][1] <= start:
            stack.pop()
        around.append(stack[-1] if stack else -1)
        stack.append(index)
    return around
