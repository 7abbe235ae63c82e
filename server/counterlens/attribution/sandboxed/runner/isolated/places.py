"""The places in the text of tests that decide how strong the evidence of a program's answer is."""

from __future__ import annotations

import ast
import builtins

from .assertions import Assertions
from .guards import caught
from .loops import LoopFlow, around_loops
from .sources import FUNCTIONS, assignments, called_name, read_name, scopes_of, sources_of, span_of

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .sources import Span

_PARTS = {"issubset", "isdisjoint", "issuperset", "union", "difference", "update", "difference_update"}
_ORDERS = {"assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual", "le", "lt", "ge", "gt"}
_SEARCHES = {"assertIn", "startswith", "endswith", "find", "index", "count", "contains"}


class TestPlaces:
    """The places in a text of tests, by their kinds; none if it is not Python.

    A program's results are looked up in a few functions of a file that may have hundreds, so each kind is
    searched function by function, when it is first needed.

    Kinds:
        given: Expressions whose value is looped over.
        taken: These, and the places where loops take items.
        again: Calls whose arguments are also used elsewhere.
        mirrored: Calls whose value is compared with a value computed from their arguments, as in
            `f(xs) == sorted(xs)`.
        ordered: Expressions whose value is compared by order, as a set is by `<=`, or is subtracted from, or
            added to, another one.
        within: Expressions whose value is searched for in another one.
        caught: Expressions whose errors are caught in place of an assertion.

    Args:
        text: The text, or a function that reads it.
        facts: What an earlier run found in the same text.

    Attributes:
        facts: These, and what has been found since, as plain data.
        grown: Whether something has been found since.
    """

    def __init__(self, text: str | Callable[[], str], facts: dict[str, Any] | None = None) -> None:
        self._text = text
        self.facts: dict[str, Any] = facts if facts is not None else {}
        self.grown = False
        self._parsed: list[list[ast.AST]] | None = None
        self._spans: dict[tuple[str, int], set[Span]] = {}
        self._given: set[Span] | None = None
        self._assertions: Assertions | None = None

    @property
    def looped(self) -> set[str]:
        """The names whose value is looped over."""
        return set(self._fact("looped", self._loops)[1])

    @property
    def assertions(self) -> Assertions:
        """All assertions."""
        if self._assertions is None:
            if "assertions" in self.facts:
                self._assertions = Assertions.known(self.facts["assertions"], self._scopes)
            else:
                self._assertions = Assertions(self._scopes())
                self._fact("assertions", lambda: self.assertions.facts)
        return self._assertions

    @property
    def checks(self) -> set[int]:
        """The first lines of functions with an assertion that may be false."""
        return set(self._fact("checks", self._first_lines))

    def _first_lines(self) -> list[int]:
        nodes = (node for scope in self._scopes() for node in scope)
        return sorted({_first_line(node) for node in nodes if _checks(node)})

    def _scopes(self) -> list[list[ast.AST]]:
        if self._parsed is None:
            self._parsed = scopes_of(self._text if isinstance(self._text, str) else self._text())
        return self._parsed

    def _fact(self, name: str, find: Callable[[], Any]) -> Any:
        if name not in self.facts:
            self.facts[name] = find()
            self.grown = True
        return self.facts[name]

    def near(self, kind: str, line: int) -> Iterator[Span]:
        """The spans of this kind in the functions that contain a line, and outside of all functions."""
        if kind in ("given", "taken"):
            if self._given is None:
                self._given = {(a, b, c, d) for a, b, c, d in self._fact("looped", self._loops)[0]}
            yield from self._given
            if kind == "given":
                return
        ranges = self._fact("ranges", lambda: list(map(_range, self._scopes())))
        for number, (first, last) in enumerate(ranges):
            if first <= line <= last:
                yield from self._spans_in(kind, number)

    def _spans_in(self, kind: str, number: int) -> set[Span]:
        """The spans of a kind in one scope."""
        if (kind, number) not in self._spans:
            found = self._fact(
                f"{kind} {number}", lambda: sorted(set(self._found(kind, self._scopes()[number])))
            )
            self._spans[kind, number] = {(a, b, c, d) for a, b, c, d in found}
        return self._spans[kind, number]

    def _loops(self) -> tuple[list[Span], list[str]]:
        """The values and names that flow into loops, also from one function to another."""
        flow = LoopFlow(self._scopes())
        return sorted(flow.given()), sorted(flow.names)

    def _found(self, kind: str, scope: list[ast.AST]) -> Iterator[Span]:
        if kind == "caught":
            return caught(scope, self.assertions.names)
        return _KINDS[kind](scope)


def _range(scope: list[ast.AST]) -> tuple[int, int]:
    """The first and last line of a scope."""
    if scope and isinstance(scope[0], FUNCTIONS):
        return _first_line(scope[0]), scope[0].end_lineno or scope[0].lineno
    lines: list[Any] = [(node.lineno, node.end_lineno) for node in scope if hasattr(node, "end_lineno")]  # type: ignore[attr-defined]
    return min((first for first, _ in lines), default=1), max((last for _, last in lines), default=0)


def _handed_over(scope: list[ast.AST]) -> Iterator[Span]:
    """The calls whose arguments have names that are also read elsewhere."""
    read = [node.id for node in scope if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for node in scope:
        if isinstance(node, ast.Call) and any(read.count(name) > 1 for name in _names_in(_arguments(node))):
            yield span_of(node)


def _ordered(scope: list[ast.AST]) -> Iterator[Span]:
    """The expressions that are compared by order, tested for inclusion, or joined with others."""
    values = assignments(scope)
    for node in scope:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            if any(isinstance(each, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for each in node.ops):
                sides = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.BitOr)):
            sides = [node.left, node.right]
        elif isinstance(node, ast.Call) and called_name(node) in _PARTS:
            sides = [node.func.value, *node.args] if isinstance(node.func, ast.Attribute) else []
        elif isinstance(node, ast.Call) and called_name(node) in _ORDERS:
            sides = node.args[:2]
        elif isinstance(node, ast.Call) and any(each.arg == "default" for each in node.keywords):
            sides = node.args
        yield from _taken_from(sides, values)


def _within(scope: list[ast.AST]) -> Iterator[Span]:
    """The expressions that are searched for in others."""
    values = assignments(scope)
    for node in scope:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            places = [node.left, *node.comparators]
            sides = [place for place, each in zip(places, node.ops) if isinstance(each, ast.In)]  # noqa: B905
        elif isinstance(node, ast.Call) and called_name(node) in _SEARCHES:
            sides = node.args[:1]
        yield from _taken_from(sides, values)


def _taken_from(sides: list[ast.expr], values: dict[str, list[ast.AST]]) -> Iterator[Span]:
    """The places that some expressions take their values from."""
    for side in sides:
        for source in sources_of(side):
            if isinstance(source, ast.Name):
                yield from map(span_of, values.get(read_name(source.id), ()))
            yield span_of(source)


def _mirrored(scope: list[ast.AST]) -> Iterator[Span]:
    """The calls whose value is compared with another value computed from their arguments."""
    values = assignments(scope)
    for node in scope:
        if isinstance(node, (ast.For, ast.comprehension)):
            for target in ast.walk(node.target):
                if isinstance(target, ast.Name):
                    values.setdefault(read_name(target.id), []).append(node.iter)
    for node in scope:
        if isinstance(node, ast.Compare):
            yield from _mirrored_in(node, values)
        elif isinstance(node, ast.Call) and called_name(node).lower().startswith("assert"):
            yield from _mirrored_in(ast.Tuple(_arguments(node), ast.Load()), values)


def _mirrored_in(comparison: ast.AST, values: dict[str, list[ast.AST]]) -> Iterator[Span]:
    calls: list[ast.Call] = []
    reached: set[tuple[str, frozenset[int]]] = set()  # a name, and the calls that it is an argument of
    todo: list[tuple[ast.AST, frozenset[int]]] = [(comparison, frozenset())]
    while todo:
        node, under = todo.pop()
        if isinstance(node, ast.Call):
            if node not in calls:
                calls.append(node)
            todo.append((node.func, under))
            todo += [(argument, under | {id(node)}) for argument in _arguments(node)]
            continue
        if isinstance(node, ast.Name) and (node.id, under) not in reached:
            reached.add((node.id, under))
            todo += [(value, under) for value in values.get(read_name(node.id), ())]
        todo += [(child, under) for child in ast.iter_child_nodes(node)]
    for call in calls:
        names = _names_in(_arguments(call))
        if any(name in names and id(call) not in under for name, under in reached):
            yield span_of(call)


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _names_in(values: list[ast.expr]) -> set[str]:
    return {each.id for value in values for each in ast.walk(value) if isinstance(each, ast.Name)}


def _checks(node: ast.AST) -> bool:
    """Whether a function itself asserts something, beyond that it is not called."""
    if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
        return False
    todo = list(ast.iter_child_nodes(node))
    while todo:
        inner = todo.pop()
        if isinstance(inner, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(inner, ast.Assert) and not isinstance(inner.test, ast.Constant):
            return True
        if isinstance(inner, ast.Call) and called_name(inner).startswith("assert"):
            return True
        todo += ast.iter_child_nodes(inner)
    return False


def _first_line(node: Any) -> int:
    """The first line of a function's code object."""
    lines: list[int] = [each.lineno for each in (node, *getattr(node, "decorator_list", ()))]
    return min(lines)


_KINDS: dict[str, Callable[[list[ast.AST]], Iterator[Span]]] = {
    "taken": around_loops,
    "again": _handed_over,
    "mirrored": _mirrored,
    "ordered": _ordered,
    "within": _within,
}
