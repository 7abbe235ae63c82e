"""The functions of a document: found in the tree, so also in a file that does not parse everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import tree_sitter

from counterlens.errors import SourceError
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True)
class Function:
    """One function or method. Offsets are bytes of the document's UTF-8 text, lines are 1-based.

    Attributes:
        name: Its own name.
        qualname: Dotted path from the module: `Class.method`, `outer.inner`.
        start: The first byte of its first decorator, or of `def` or `async def`.
        end: The byte after its last.
        header: The first byte of `def` or `async def`.
        body: The first byte of its first statement, which may be its docstring.
        start_line: The line of `start`.
        end_line: The line of its last byte.
        column: The number of characters before `header` on its line.
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


class Named(Protocol):
    """A node with a qualified name."""

    @property
    def qualname(self) -> str:
        """Its dotted path from the file."""


NamedT = TypeVar("NamedT", bound=Named)


def functions(document: Document) -> list[Function]:
    """All functions of a document, outer ones before the ones inside them, in the order of the text.

    Only of Python: they are what is mutated, run and probed. Other languages are scored, not probed.
    """
    if document.language != "python":
        return []
    return list(_walk(document.tree.root_node, document.data))


def require_python(document: Document) -> Document:
    """The document, if it is one that can be run and probed.

    Raises:
        SourceError: it is in another language.
    """
    if document.language == "python":
        return document
    raise SourceError(
        f"{document.path or 'the text'} is {document.language}: only Python can be run and probed",
        "`counterlens score` works for it, and `counterlens mutate` for Java",
    )


def find_function(document: Document, qualname: str) -> Function:
    """The function with a qualified name; an unqualified one is enough where it is the only such.

    Raises:
        SourceError: there is none, or several, with their names; or the document is not Python.
    """
    return function_named(functions(require_python(document)), qualname, document.path or "the text")


def function_named(known: Sequence[NamedT], qualname: str, where: Path | str) -> NamedT:
    """The function with a qualified name among some; an unqualified one is enough where it is the only such.

    Raises:
        SourceError: there is none, or several; names what there is.
    """
    named = [f for f in known if f.qualname == qualname]
    named = named or [f for f in known if f.qualname.rpartition(".")[2] == qualname]
    if len({f.qualname for f in named}) > 1:
        choices = ", ".join(f.qualname for f in named)
        raise SourceError(f"several functions are called {qualname}: {choices}", "Give the qualified name")
    if named:
        return named[-1]  # of several definitions the last one is what the name means
    if not known:
        raise SourceError(f"there is no function {qualname} in {where}: it has no functions at all")
    choices = ", ".join(f.qualname for f in known[:12]) + (", …" if len(known) > 12 else "")
    raise SourceError(f"there is no function {qualname} in {where}", f"It has {choices}")


def function_at(document: Document, offset: int) -> Function | None:
    """The innermost function around a byte offset."""
    around = [f for f in functions(document) if f.start <= offset <= f.end]
    return around[-1] if around else None


def _walk(root: tree_sitter.Node, data: bytes) -> Iterator[Function]:
    todo: list[tuple[tree_sitter.Node, tuple[str, ...]]] = [(root, ())]
    while todo:
        node, path = todo.pop()
        if node.type in {"function_definition", "class_definition"}:
            name_node = node.child_by_field_name("name")
            body = node.child_by_field_name("body")
            if name_node is not None and name_node.text is not None:
                path = (*path, name_node.text.decode("utf-8", "replace"))
                if node.type == "function_definition" and body is not None:
                    yield _function(node, body, path, data)
        todo.extend((child, path) for child in reversed(node.children))


def _function(node: tree_sitter.Node, body: tree_sitter.Node, path: tuple[str, ...], data: bytes) -> Function:
    parent = node.parent
    decorated = parent is not None and parent.type == "decorated_definition"
    outer = parent if decorated and parent is not None else node
    line_start = data.rfind(b"\n", 0, node.start_byte) + 1
    return Function(
        name=path[-1],
        qualname=".".join(path),
        start=outer.start_byte,
        end=node.end_byte,
        header=node.start_byte,
        body=body.start_byte,
        start_line=outer.start_point.row + 1,
        end_line=node.end_point.row + 1,
        column=len(data[line_start : node.start_byte].decode("utf-8", "replace")),
    )
