"""Find the conditions in tests that decide whether they assert anything about the program."""

from __future__ import annotations

import ast
import builtins

from .sources import called_name, span_of

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from typing import Any

    from .sources import Span

    Lines = tuple[int, int]

ASSERTING = ("assert", "raises", "warns")
_LEAVING = (ast.Return, ast.Continue, ast.Break)
_MATCH: Any = getattr(ast, "Match", ())  # of Python 3.10


class Guard:
    """A condition, and the assertions that are made only if it holds, or only if it does not.

    Attributes:
        condition: The condition.
        line: The line that evaluates it.
        lines: First and last line of each of the assertions.
    """

    def __init__(self, condition: ast.expr, guarded: Iterable[ast.AST]) -> None:
        self.condition, self.line = condition, condition.lineno
        self.lines = set(map(lines_of, guarded))


def guards_in(scope: Sequence[ast.AST]) -> Iterator[Guard]:
    """The guards of a scope."""
    asserted = [each for node in scope for each in assertions_in(node) if _may_fail(each)]
    for node in scope:
        guard = _guard(node, asserted)
        if guard is not None and guard.lines:
            yield guard


def _guard(node: ast.AST, asserted: list[ast.AST]) -> Guard | None:
    after = [each for each in asserted if each.lineno > (getattr(node, "end_lineno", 0) or 0)]  # type: ignore[attr-defined]
    if isinstance(node, ast.If):
        sides = [_inside(part, asserted) for part in (node.body, node.orelse)]
        has_failure = [_contains_failure(part) for part in (node.body, node.orelse)]
        if sides[0] and not has_failure[1]:
            return Guard(node.test, sides[0])
        if not has_failure[0] and isinstance(node.body[-1], _LEAVING):
            return Guard(node.test, sides[1] or after)
        return Guard(node.test, sides[1]) if sides[1] and not has_failure[0] else None
    if isinstance(node, ast.Expr):
        value = node.value
        if isinstance(value, (ast.BoolOp, ast.IfExp)):
            first = value.values[0] if isinstance(value, ast.BoolOp) else value.test
            return Guard(first, assertions_in(node))
        if isinstance(value, ast.Call) and called_name(value) == "assume" and value.args:
            return Guard(value.args[0], after)
    if _MATCH and isinstance(node, _MATCH):
        cases: list[Any] = node.cases
        plain = [
            each for each in cases if each.guard is None and getattr(each.pattern, "pattern", "") is None
        ]
        if not any(_contains_failure(each.body) for each in plain):
            return Guard(node.subject, [found for each in cases for found in _inside(each.body, asserted)])
    return None


def assertions_in(node: ast.AST) -> list[ast.AST]:
    """The assertions of a statement: itself, or the calls that it makes on a condition."""
    if isinstance(node, ast.Assert):
        return [node]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [node] if any(_asserts(item.context_expr) for item in node.items) else []
    if not isinstance(node, ast.Expr):
        return []
    value = node.value.value if isinstance(node.value, ast.Await) else node.value
    if isinstance(value, ast.BoolOp):
        return [each for each in value.values if _asserts(each)]
    if isinstance(value, ast.IfExp):
        return [each for each in (value.body, value.orelse) if _asserts(each)]
    return [node] if _asserts(value) else []


def caught(scope: Sequence[ast.AST], asserting: Container[str]) -> Iterator[Span]:
    """The expressions whose errors are caught in place of an assertion.

    Args:
        scope: The nodes.
        asserting: The functions of the tests that assert something.
    """
    for node in scope:
        body: list[ast.stmt] = []
        if isinstance(node, ast.Try):
            body = [] if all(map(_contains_failure, (each.body for each in node.handlers))) else node.body
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
            body = node.body if any(called_name(call) == "suppress" for call in calls) else []
        inner = [each for statement in body for each in ast.walk(statement)]
        asserted = [each for part in inner for each in assertions_in(part) if _may_fail(each)]
        if asserted or any(isinstance(each, ast.Call) and called_name(each) in asserting for each in inner):
            for each in inner:
                if isinstance(each, (ast.Call, ast.Attribute, ast.Subscript)):
                    yield span_of(each)


def lines_of(node: Any) -> Lines:
    """First and last line of a node."""
    return node.lineno, node.end_lineno


def _inside(body: Sequence[ast.stmt], asserted: list[ast.AST]) -> list[ast.AST]:
    inner = {id(each) for statement in body for each in ast.walk(statement)}
    return [each for each in asserted if id(each) in inner]


def _contains_failure(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may fail the program."""
    return any(
        isinstance(each, (ast.Assert, ast.Raise))
        or (isinstance(each, ast.Call) and called_name(each).lower().startswith((*ASSERTING, "fail")))
        for statement in body
        for each in ast.walk(statement)
    )


def _asserts(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called_name(node).lower().startswith(ASSERTING)


def _may_fail(node: ast.AST) -> bool:
    """Whether a node is an assertion of a condition, not only that a place is not reached."""
    return not (isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant))
