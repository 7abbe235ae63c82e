"""Tests that accept nearly any result of a function, recognised by their shape; nothing is run.

A probe is refused where the tests pass although `return 42` or nothing replaces the code. Most such tests
state only that a result is true, or not even that; a reader can be told so before any program runs. Tests of
any other shape say nothing here.
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from counterlens.judging.base import WeakAssertion
from counterlens.python.judging.differential.observed import find_node
from counterlens.python.judging.discovery import Imports, files_with_tests
from counterlens.python.judging.layout import layout_of
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_LARGEST = 1 << 18  # bytes of a test file that is read while somebody types
_LONGEST = 60  # characters of a shown assertion
_TRUE, _FALSE = frozenset({"assertTrue", "assert_", "failUnless"}), frozenset({"assertFalse", "failIf"})
_QUESTIONS = ("is_", "has_", "can_", "should_", "needs_", "does_", "was_", "are_")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def weak_assertion(document: Document, function: Function) -> WeakAssertion | None:
    """The assertion for which a probe will be refused; None if the tests have another shape."""
    try:
        node, _ = find_node(parse_module(document.text), function.qualname)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if node is None or document.path is None or _has_example(node):
        return None
    true: list[str] = []
    false: list[str] = []
    unseen: list[str] = []
    place = layout_of(document.path, document.text)
    holder = function.qualname.partition(".")[0]
    for file in files_with_tests(place):
        tree = _read(file)
        if tree is None:
            continue
        imports = Imports(tree, holder, place.module)
        if not imports.direct and not imports.modules:
            continue
        for use in _uses(tree, function.name):
            kept = {_Use.TRUE: true, _Use.FALSE: false, _Use.UNSEEN: unseen}.get(use.kind)
            if kept is None:
                return None
            kept.append(use.text)
    decides = _decides(node, function.name)
    if true and not false:
        return WeakAssertion(true[0], "42", "is True" if decides else "")
    if false and not true:
        return WeakAssertion(false[0], "None", "is False" if decides else "")
    return WeakAssertion(unseen[0], "None", "") if unseen and not true else None


class _Use:
    """A use of a function in a test."""

    TRUE, FALSE, UNSEEN, OTHER = "true", "false", "unseen", "other"

    def __init__(self, kind: str, node: ast.AST | None = None) -> None:
        self.kind = kind
        self.text = " ".join(ast.unparse(node).split()) if node is not None else ""
        if len(self.text) > _LONGEST:
            self.text = self.text[: _LONGEST - 1] + "…"


def _uses(tree: ast.Module, name: str) -> Iterator[_Use]:
    """The uses of a name in a file, apart from its imports."""
    for node, above in _with_parents(tree, ()):
        named = isinstance(node, ast.Name) and node.id == name
        if not named and not (isinstance(node, ast.Attribute) and node.attr == name):
            continue
        call = above[-1] if above else None
        if not (isinstance(call, ast.Call) and call.func is node):
            yield _Use(_Use.OTHER)
            continue
        around = [inner.value if isinstance(inner, ast.Await) else inner for inner in above[:-1][::-1]]
        yield _use_of(call, around, guarded=any(isinstance(inner, ast.With | ast.Try) for inner in around))


def _use_of(call: ast.Call, around: list[ast.AST], *, guarded: bool) -> _Use:
    parent = around[0] if around else None
    if isinstance(parent, ast.Assert) and parent.test is call:
        return _Use(_Use.TRUE, ast.Assert(call))
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        outer = around[1] if len(around) > 1 else None
        if isinstance(outer, ast.Assert) and outer.test is parent:
            return _Use(_Use.FALSE, ast.Assert(parent))
    if isinstance(parent, ast.Call) and parent.args[:1] == [call]:
        method = getattr(parent.func, "attr", "")
        if method in _TRUE | _FALSE:
            return _Use(_Use.TRUE if method in _TRUE else _Use.FALSE, parent)
    if isinstance(parent, ast.Expr) and not guarded:
        return _Use(_Use.UNSEEN, call)
    return _Use(_Use.OTHER)


def _with_parents(node: ast.AST, above: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    for child in ast.iter_child_nodes(node):
        yield child, (*above, node)
        yield from _with_parents(child, (*above, node))


def _has_example(node: _Definition) -> bool:
    """Whether a docstring has an example with a result."""
    try:
        return any(
            example.want for example in doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
        )
    except ValueError:
        return True  # nobody knows


def _decides(node: _Definition, name: str) -> bool:
    """Whether a function returns True or False, as far as its text tells."""
    if isinstance(node.returns, ast.Name):
        return node.returns.id == "bool"
    returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value]
    return name.startswith(_QUESTIONS) or (
        bool(returned)
        and all(
            isinstance(value, ast.Compare)
            or (isinstance(value, ast.Constant) and isinstance(value.value, bool))
            or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not))
            for value in returned
        )
    )


def _read(file: Path) -> ast.Module | None:
    try:
        state = file.stat()
    except OSError:
        return None
    return _parsed(file, state.st_mtime_ns, state.st_size) if state.st_size <= _LARGEST else None


@lru_cache(maxsize=256)
def _parsed(file: Path, _changed: int, _size: int) -> ast.Module | None:
    try:
        return parse_module(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
