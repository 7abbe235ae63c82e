"""Find the assertions of tests in their source, and notice whether a case completes one as it runs.

A case that branches on what the program gives, or catches what it raises, may end without having compared
anything.
"""

from __future__ import annotations

import ast
import builtins
import dis
import sys

from .sources import FUNCTIONS, called_name

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

    Lines = tuple[int, int]

_ASSERTING = ("assert", "raises", "warns")


class Assertions:
    """The assertions in a text of tests.

    Args:
        scopes: See `sources.scopes_of`.

    Attributes:
        lines: First and last line of each, innermost ones first.
        of_errors: Of these the blocks that wait for an error.
        names: The functions that assert something, themselves or by others of the text; "" is the module.
    """

    def __init__(self, scopes: list[list[ast.AST]]) -> None:
        nodes = [node for scope in scopes for node in scope if _is_assertion(node)]
        found = set(map(_lines_of, nodes))
        self.lines = sorted(found, key=lambda lines: lines[1] - lines[0])
        withs = [node for node in nodes if isinstance(node, (ast.With, ast.AsyncWith))]
        self.of_errors = set(map(_lines_of, withs))
        self.names = {_name_of(scope) for scope in scopes if any(map(_is_assertion, scope))}
        used = {_name_of(scope): _used(scope) for scope in scopes}
        while True:
            more = {name for name, others in used.items() if others & self.names} - self.names
            if not more:
                break
            self.names |= more

    def at(self, line: int) -> Lines | None:
        """The lines of the assertion that a line is in."""
        return next((lines for lines in self.lines if lines[0] <= line <= lines[1]), None)


class Reached:
    """Whether each case has completed an assertion; only this thread is followed.

    Args:
        find: The assertions of the file that a frame is of; None if it is none of the tests.
    """

    def __init__(self, find: Callable[[FrameType], Assertions | None]) -> None:
        self._find = find
        self._case = ""
        self._cases: set[str] = set()
        self._at: dict[FrameType, Lines | None] = {}  # the assertion that a frame is in

    def begin(self, case: str) -> None:
        """Follow a case until it has completed an assertion."""
        self._case, self._at = case, {}
        sys.settrace(self._enter)

    def without(self, cases: Iterable[str]) -> list[str]:
        """Of some cases those that have completed none."""
        return [case for case in cases if case not in self._cases]

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        """At a call, or where a frame goes on after a `yield`."""
        assertions = self._find(frame)
        return self._follow if assertions is not None and assertions.lines else None

    def _follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        at, line = self._at.get(frame), frame.f_lineno
        passed = event == "line" and at is not None and not at[0] <= line <= at[1]
        if passed or (event == "return" and at is not None and _returns(frame)):
            self._cases.add(self._case)
            self._at = {}
            sys.settrace(None)
            return None
        assertions = self._find(frame)
        if event == "line":
            self._at[frame] = assertions.at(line) if assertions is not None else None
        elif event == "exception" and assertions is not None and not _ends_iteration(frame, argument):
            if at in assertions.of_errors:
                return self._follow
            self._at[frame] = None
        return self._follow


def _returns(frame: FrameType) -> bool:
    """Whether a frame is left for good, and not at a `yield` or `await`."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN_")


def _ends_iteration(frame: FrameType, raised: Any) -> bool:
    """Whether an exception is only the end of what is awaited or looped over."""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return raised[0] is StopIteration and name.startswith(("SEND", "END_SEND", "YIELD_FROM", "FOR_ITER"))


def _is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    expressions: list[ast.expr] = []
    if isinstance(node, ast.Expr):
        expressions = [node.value.value if isinstance(node.value, ast.Await) else node.value]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        expressions = [item.context_expr for item in node.items]
    return any(
        isinstance(each, ast.Call) and called_name(each).lower().startswith(_ASSERTING)
        for each in expressions
    )


def _lines_of(node: Any) -> Lines:
    return node.lineno, node.end_lineno


def _name_of(scope: list[ast.AST]) -> str:
    return str(getattr(scope[0], "name", "")) if scope and isinstance(scope[0], FUNCTIONS) else ""


def _used(scope: list[ast.AST]) -> set[str]:
    return {str(getattr(node, "id", "") or getattr(node, "attr", "")) for node in scope}
