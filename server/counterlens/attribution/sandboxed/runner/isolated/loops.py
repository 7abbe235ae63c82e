"""Find the loops of tests over results in their source.

The following flow into a loop: calls in the iterable; assignments to its names in the same function, in its
module, or as an attribute; results of fixtures and helpers; and arguments of a helper that loops over them.
"""

from __future__ import annotations

import ast
import builtins

from .guards import guards_in
from .sources import (
    COMPREHENSIONS,
    FUNCTIONS,
    assignments,
    called_name,
    name_of,
    read_name,
    sources_of,
    span_of,
)

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from .sources import Span

_LOOPING = {"all", "any", "filter", "map", "next", "parametrize", "reduce", "starmap", "zip", "zip_longest"}
_BY_FUNCTION = {"filter", "map", "reduce", "starmap"}  # the first argument is a function


class LoopFlow:
    """The values that flow into the loops of a file, including those through its own functions.

    Args:
        scopes: See `sources.scopes_of`.

    Attributes:
        names: The names among them.
    """

    def __init__(self, scopes: list[list[ast.AST]]) -> None:
        self._scopes = scopes
        self.names: set[str] = set()
        self._helpers: set[str] = set()  # functions of the tests that loop over their arguments
        self._shared: dict[str, list[ast.AST]] = {}
        for scope in scopes:
            own = assignments(scope)
            of_function = isinstance(scope[0], FUNCTIONS) if scope else False
            for name, values in own.items():
                if not of_function or name.startswith("Attribute"):
                    self._shared.setdefault(name, []).extend(values)
            for node in scope:
                if isinstance(node, FUNCTIONS):
                    self._shared.setdefault(read_name(node.name), []).extend(_returned(node))

    def given(self) -> set[Span]:
        """The spans of the expressions whose value is looped over."""
        while True:
            known = len(self._helpers)
            spans: set[Span] = set()
            for scope in self._scopes:
                spans |= self._of(scope)
            if len(self._helpers) == known:
                return spans

    def _of(self, scope: list[ast.AST]) -> set[Span]:
        looped, assigned = _looped(scope, self._helpers), assignments(scope)
        spans: set[Span] = set()
        names: set[str] = set()
        while looped:
            for node in sources_of(looped.pop()):
                spans.add(span_of(node))
                if isinstance(node, ast.Name):
                    self.names.add(node.id)
                called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                name = name_of(node.func if called else node)  # type: ignore[attr-defined]
                if name not in names:
                    names.add(name)
                    looped += [*assigned.get(name, ()), *self._shared.get(name, ())]
        for node in scope:
            if isinstance(node, FUNCTIONS):
                parameters = [*node.args.args, *node.args.kwonlyargs]
                if any(read_name(each.arg) in names for each in parameters):
                    self._helpers.add(node.name)
        return spans


def around_loops(scope: list[ast.AST]) -> Iterator[Span]:
    """The spans where loops take the next item; a whole loop's column is `-1 - column`."""
    for node in scope:
        if isinstance(node, (ast.For, *COMPREHENSIONS)):
            line, column, *end = span_of(node)
            yield line, -1 - column, end[0], end[1]
        elif isinstance(node, ast.Call) and any(_is_looping(each) for each in sources_of(node)):
            yield span_of(node)


def _returned(function: ast.AST) -> list[ast.AST]:
    """The values that a function of the tests returns, such as a fixture."""
    found = (each.value for each in ast.walk(function) if isinstance(each, (ast.Return, ast.Yield)))
    return [value for value in found if value is not None]


def _looped(nodes: Sequence[ast.AST], helpers: Container[str]) -> list[ast.AST]:
    """The iterables in some nodes, and the values that must be non-empty for an assertion to be made."""
    found: list[ast.AST] = [each for guard in guards_in(nodes) for each in _wanted(guard.condition)]
    for node in nodes:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            found.append(node.iter)
        elif isinstance(node, ast.While):  # a request to the program in its test ends it every time
            found += [each for each in ast.walk(node.test) if isinstance(each, ast.Name)]
        elif isinstance(node, ast.Call) and (_is_looping(node) or called_name(node) in helpers):
            found += node.args[1:] if called_name(node) in _BY_FUNCTION else node.args
    return found


def _wanted(condition: ast.AST) -> Iterator[ast.AST]:
    """The expressions that a condition requires to be true, or to have a value."""
    if isinstance(condition, ast.BoolOp):
        for each in condition.values:
            yield from _wanted(each)
    elif isinstance(condition, ast.UnaryOp):
        yield from _wanted(condition.operand)
    elif isinstance(condition, ast.Compare):
        if any(isinstance(each, ast.Constant) and each.value is None for each in condition.comparators):
            yield condition.left
    else:
        yield condition


def _is_looping(node: ast.AST) -> bool:
    """Whether a node is a call that loops over its arguments."""
    return isinstance(node, ast.Call) and called_name(node) in _LOOPING
