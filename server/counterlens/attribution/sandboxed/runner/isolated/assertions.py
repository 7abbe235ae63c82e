"""Find the assertions of tests in their source, and detect whether a case completes one when it runs.

A case that branches on results of the program, or catches its exceptions, may end without comparing anything.
"""

from __future__ import annotations

import ast
import builtins
import dis
import sys

from .guards import assertions_in, guards_in, lines_of
from .sources import FUNCTIONS, position_of, span_of

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType
    from typing import Any

    from .guards import Lines
    from .sources import Span

_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)


class Assertions:
    """The assertions in a text of tests.

    Args:
        scopes: See `sources.scopes_of`.

    Attributes:
        lines: First and last line of each assertion, innermost ones first.
        of_errors: The assertions among them that are blocks expecting an exception.
        narrow: The spans of assertions that share their lines with a condition or a loop, by their lines.
        guards: The conditions that decide whether some assertions are made: the line of each, and the lines
            of these assertions.
        made: The completed assertions.
        asked: The guards that have been evaluated.
        names: The functions that assert something, directly or through others of the text; "" is the module.
    """

    def __init__(self, scopes: list[list[ast.AST]]) -> None:
        self.made: set[Lines] = set()
        self.asked: set[int] = set()
        nodes = [each for scope in scopes for node in scope for each in assertions_in(node)]
        found = set(map(lines_of, nodes))
        self.lines = sorted(found, key=lambda lines: lines[1] - lines[0])
        withs = [node for node in nodes if isinstance(node, (ast.With, ast.AsyncWith))]
        self.of_errors = set(map(lines_of, withs))
        heads = {line for scope in scopes for line in _heads(scope)}
        self.narrow: dict[Lines, list[Span]] = {}
        for node in nodes:
            if isinstance(node, ast.expr) or (node.lineno in heads and node not in withs):  # type: ignore[attr-defined]
                self.narrow.setdefault(lines_of(node), []).append(span_of(node))
        guards = [guard for scope in scopes for guard in guards_in(scope)]
        self.guards = [(guard.line, guard.lines) for guard in guards]
        self._conditions: Callable[[], list[ast.expr]] = lambda: [guard.condition for guard in guards]
        self.names = {_name_of(scope) for scope in scopes if any(map(assertions_in, scope))}
        used = {_name_of(scope): _used(scope) for scope in scopes}
        while True:
            more = {name for name, others in used.items() if others & self.names} - self.names
            if not more:
                break
            self.names |= more

    @classmethod
    def known(cls, facts: dict[str, Any], scopes: Callable[[], list[list[ast.AST]]]) -> Assertions:
        """The assertions of a text with these `facts`; its scopes are only needed for conditions."""
        found = cls([])
        found.lines = [(first, last) for first, last in facts["lines"]]
        found.of_errors = {(first, last) for first, last in facts["errors"]}
        found.narrow = {(first, last): [(a, b, c, d) for a, b, c, d in spans]
                        for (first, last), spans in facts["narrow"]}  # fmt: skip
        found.guards = [(line, {(first, last) for first, last in lines}) for line, lines in facts["guards"]]
        found.names = set(facts["names"])
        found._conditions = lambda: [guard.condition for scope in scopes() for guard in guards_in(scope)]
        return found

    @property
    def facts(self) -> dict[str, Any]:
        """All of this but the conditions, as plain data."""
        return {
            "lines": self.lines,
            "errors": sorted(self.of_errors),
            "narrow": [[lines, spans] for lines, spans in self.narrow.items()],
            "guards": [[line, sorted(lines)] for line, lines in self.guards],
            "names": sorted(self.names),
        }

    def at(self, line: int) -> Lines | None:
        """The lines of the assertion that contains a line."""
        return next((lines for lines in self.lines if lines[0] <= line <= lines[1]), None)

    def concern(self, code: CodeType) -> bool:
        """Whether a function has a line of an assertion, or of a guard."""
        guards = {line for line, _ in self.guards}
        lines = {line for _, line in dis.findlinestarts(code)} | {code.co_firstlineno}
        return any(line is not None and (line in guards or self.at(line) is not None) for line in lines)

    @property
    def open(self) -> bool:
        """Whether there is a guard none of whose assertions has been made so far."""
        return any(lines.isdisjoint(self.made) for _, lines in self.guards)

    def ask(self, line: int) -> None:
        """Record that a line runs."""
        self.asked |= {number for number, (at, _) in enumerate(self.guards) if at == line}

    def unmade(self) -> list[ast.expr]:
        """The conditions that were evaluated, but none of whose assertions was made."""
        unmade = [number for number in sorted(self.asked) if self.guards[number][1].isdisjoint(self.made)]
        conditions = self._conditions() if unmade else []
        return [conditions[number] for number in unmade]


class Reached:
    """Whether each case has completed an assertion; only this thread is traced.

    Args:
        find: Returns the assertions of a frame's file; None if the frame is not of the tests.
    """

    def __init__(self, find: Callable[[FrameType], Assertions | None]) -> None:
        self._find = find
        self._case = ""
        self._cases: set[str] = set()
        self._at: dict[FrameType, Lines | None] = {}  # the assertion that a frame is in
        self._seen: dict[int, tuple[CodeType, bool]] = {}  # whether a function has a line to follow

    def begin(self, case: str) -> None:
        """Trace a case until it has completed an assertion."""
        self._case, self._at = case, {}
        sys.settrace(self._trace_call)

    def without(self, cases: Iterable[str]) -> list[str]:
        """Return the cases, of those given, that have completed no assertion."""
        return [case for case in cases if case not in self._cases]

    def _trace_call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        """Handle a call, or a frame that continues after a `yield`."""
        code = frame.f_code
        if id(code) not in self._seen:  # the hash of a code object takes long
            assertions = self._find(frame)
            self._seen[id(code)] = code, assertions is not None and assertions.concern(code)
        return self._trace_line if self._seen[id(code)][1] else None

    def _trace_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        assertions = self._find(frame)
        if assertions is None:
            return None
        at, line = self._at.get(frame), frame.f_lineno
        if line is None and event == "opcode":  # an instruction without a line
            return self._trace_line
        passed = event == "return" and at is not None and _returns(frame)
        if event == "line":
            assertions.ask(line)
            passed = at is not None and at not in assertions.narrow and not at[0] <= line <= at[1]
        elif event == "opcode":
            passed = at in assertions.narrow and not _is_at(frame, assertions.narrow[at])
        if passed and at is not None:
            self._cases.add(self._case)
            assertions.made.add(at)
            self._at.pop(frame)
            if not assertions.open:
                self._at = {}
                sys.settrace(None)
                return None
            at = None
        if event in ("line", "opcode") and (at is None or at not in assertions.narrow):
            found = assertions.at(line)
            narrow = found in assertions.narrow
            frame.f_trace_opcodes = narrow
            inside = found is not None and (not narrow or _is_at(frame, assertions.narrow[found]))
            self._at[frame] = found if inside else None
        elif event == "exception" and not _ends_iteration(frame, argument):
            if at in assertions.of_errors:
                return self._trace_line
            self._at[frame] = None
        return self._trace_line


def _returns(frame: FrameType) -> bool:
    """Whether a frame returns, as opposed to a suspension at a `yield` or `await`."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN_")


def _ends_iteration(frame: FrameType, raised: Any) -> bool:
    """Whether an exception only signals the end of an iteration or an `await`."""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return raised[0] is StopIteration and name.startswith(("SEND", "END_SEND", "YIELD_FROM", "FOR_ITER"))


def _is_at(frame: FrameType, spans: list[Span]) -> bool:
    """Whether the instruction of a frame is in one of some spans; unknown before Python 3.11."""
    at = position_of(frame.f_code, frame.f_lasti, frame.f_lineno)
    return at[1] >= 0 and any(span[:2] <= at[:2] and at[2:] <= span[2:] for span in spans)


def _heads(scope: list[ast.AST]) -> set[int]:
    """The lines on which a condition or a loop begins, or that several statements share."""
    found = {node.lineno for node in scope if isinstance(node, _BLOCKS)}
    found |= {node.pattern.lineno for node in scope if hasattr(node, "pattern") and hasattr(node, "guard")}
    return found


def _name_of(scope: list[ast.AST]) -> str:
    return str(getattr(scope[0], "name", "")) if scope and isinstance(scope[0], FUNCTIONS) else ""


def _used(scope: list[ast.AST]) -> set[str]:
    return {str(getattr(node, "id", "") or getattr(node, "attr", "")) for node in scope}
