"""A function whose tests fail: the nearest test that fails, and what it expected.

The report of a test is read as its runner wrote it: the introspection of pytest's assertions, the messages of
`unittest`, the output of an example of a docstring, or an exception. Of two compared values, the one that the
program computed is the one whose expression calls something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tree_sitter

from counterlens.doubt.argument_order import positional
from counterlens.doubt.scope import DoubtScope
from counterlens.judging.base import FailedCase
from counterlens.regular_file import read_text
from counterlens.syntax.definitions import text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

_FIRST = re.compile(r"^(?P<file>[^\n:]+\.py):(?P<line>\d+): (?P<statement>.*)$")
_RAISED_AT = re.compile(r"\nat (?P<file>[^\n:]+\.py):(?P<line>\d+): [^\n]*\Z")
_MESSAGE = re.compile(r"^(?:assert\b|[A-Za-z_][\w.]*(?::|$))")
_UNEQUAL = re.compile(
    r"^(?:AssertionError: )?(?:\w+ differ: )?(?P<first>.+?) != (?P<second>.+?)(?: : .*)?$", re.S
)
_NOT_RAISED = re.compile(
    r"^(?:Failed: DID NOT RAISE <class '(?P<one>[^']+)'>|AssertionError: (?P<other>\w+) not raised)"
)
_TRUTH = re.compile(r"^AssertionError: (?P<got>.+) is not (?P<wanted>true|false|None)(?: : .*)?$", re.S)
_PROMPT = ">>> "
_EXAMPLE = re.compile(
    r"^(?:>>> (?P<source>[^\n]*(?:\n(?!expected: |raised: )[^\n]*)*)\n)?"
    r"(?:expected: (?P<wanted>.*?)\s*\n)?(?P<how>got|raised): +(?P<got>.*)$",
    re.S,
)
"""What the judges of examples say, whoever runs them."""
_SPOKEN = {"!=": "other than ", "is not": "other than ", "in": "one of ", "not in": "none of "}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A test that a function fails.

    Attributes:
        name: The test, such as `test_total` or `TestTotal.test_empty`, or an example of a docstring.
        message: The message of the test, a few lines.
        file: Its file; None if unknown.
        line: The line that failed, or the first of the test, from 1; 0 if unknown.
        expected: The value that it expected; empty if unknown.
        got: The value that the program returned; empty if unknown.
        error: The exception that it raised, with its message; empty if it raised none.
        statement: The statement of the test that failed; empty if unknown.
        at: The line of the function's file that raised it, from 1; 0 if unknown.
        endless: Whether it was stopped.
        near: Whether the test is in the test module of the function's file, or names the function.
    """

    name: str
    message: str
    file: Path | None = None
    line: int = 0
    expected: str = ""
    got: str = ""
    error: str = ""
    statement: str = ""
    at: int = 0
    endless: bool = False
    near: bool = True

    @property
    def text(self) -> str:
        """The test, and its message below."""
        return "\n".join(filter(None, (self.name, self.message.strip())))


@dataclass(frozen=True, slots=True)
class FailingFunction:
    """A mark at the name of a function that fails its tests, where no fix is known.

    Attributes:
        failed: The nearest test that fails.
    """

    scope: DoubtScope
    failed: FailedTest
    failures: frozenset[str] = frozenset()

    @property
    def more(self) -> int:
        """Number of further tests that fail."""
        return max(len(self.failures) - 1, 0)

    @property
    def place(self) -> tuple[int, int]:
        """The byte range of the function's name."""
        return self.scope.name

    def within(self, scope: DoubtScope) -> FailingFunction:
        """The same mark in a version of the document with the same function, possibly elsewhere."""
        return replace(self, scope=scope)


def nearest_failure(scope: DoubtScope, failures: Sequence[FailedCase]) -> FailedTest | None:
    """The failing test that is nearest to a function; None if there are no failures.

    The examples of its own docstring come first, then the tests in the test module of its file, then those
    that name the function themselves, then others.
    """
    ordered = sorted(enumerate(failures), key=lambda each: (_distance(scope, each[1]), each[0]))
    return failed_test(scope, ordered[0][1]) if ordered else None


def _distance(scope: DoubtScope, failure: FailedCase) -> tuple[bool, ...]:
    if failure.file is None or _is_own_example(scope, failure):
        return (False,)
    named = scope.function.name.strip("_") in failure.name.rpartition("::")[2]
    return (True, not _is_of_module(scope, failure.file), not _names(failure, scope), not named)


def _is_own_example(scope: DoubtScope, failure: FailedCase) -> bool:
    """Whether a test of a project is made of the examples of a function's docstring."""
    item = failure.name.rpartition("::")[2]
    of_function = item == scope.function.qualname or item.endswith(f".{scope.function.qualname}")
    return of_function and failure.file == scope.document.path and failure.message.startswith(_PROMPT)


def _names(failure: FailedCase, scope: DoubtScope) -> bool:
    """Whether a test itself names a function, or the class of a special method."""
    *owners, name = scope.function.qualname.split(".")
    wanted = owners[-1] if owners and name.startswith("__") else name
    own = _located(failure)
    return own is not None and re.search(rf"\b{re.escape(wanted)}\b", own[1]) is not None


def _is_of_module(scope: DoubtScope, file: Path) -> bool:
    """Whether a test file has the name of the function's file, or of its package."""
    path = scope.document.path
    if path is None:
        return False
    own = path.parent.name if path.stem == "__init__" else path.stem
    return own.strip("_") == re.sub(r"^tests?_|_tests?$", "", file.stem).strip("_")


def _located(failure: FailedCase) -> tuple[int, str] | None:
    """The first line of a test, from 1, and its source."""
    if failure.file is None:
        return None
    try:
        document = Document(read_text(failure.file), failure.file)
    except (OSError, ValueError):
        return None
    names = [part.partition("[")[0] for part in failure.name.split("::")[1:]]
    known = {each.qualname: each for each in functions(document)}
    inherited = (each for name, each in known.items() if names and name.rpartition(".")[2] == names[-1])
    test = known.get(".".join(names)) or next(inherited, None)
    if test is None:
        return None
    body = document.data[test.body : test.end].decode("utf-8", "replace")
    return document.positions.line_of(test.header) + 1, body


def failed_test(scope: DoubtScope, failure: FailedCase) -> FailedTest:
    """What a test says about a function that fails it."""
    distance = _distance(scope, failure)
    near = not (distance[0] and distance[1] and distance[2])
    if failure.file is None or failure.message.startswith(_PROMPT):
        return replace(_example(scope, failure), endless=failure.endless, near=near)
    name = ".".join(failure.name.split("::")[1:]) or failure.name
    located = _located(failure)
    test = FailedTest(name, failure.message, failure.file, located[0] if located else 0, near=near)
    if failure.endless:
        return replace(test, endless=True)
    message = failure.message
    raised = _RAISED_AT.search(message)
    if raised and _is_in(scope, raised):
        test = replace(test, at=int(raised["line"]))
    message = message[: raised.start()] if raised else message
    first, _, rest = message.partition("\n")
    place = _FIRST.match(first)
    statement = ""
    if place:
        if place["file"] == failure.file.name:
            test = replace(test, line=int(place["line"]))
        lines = rest.split("\n")
        start = next((at for at, line in enumerate(lines) if _MESSAGE.match(line)), 0)
        statement = "\n".join((place["statement"], *lines[:start]))
        message = "\n".join(lines[start:]) if rest else place["statement"]
    test = replace(test, statement=_short(statement))
    return _read(test, message, statement, scope.function.name)


def _example(scope: DoubtScope, failure: FailedCase) -> FailedTest:
    """What an example of a docstring says."""
    match = _EXAMPLE.match(failure.message)
    source = match["source"] if match and match["source"] else failure.name
    file = failure.file or scope.document.path
    line = _example_line(scope, source) if file == scope.document.path else 0
    test = FailedTest(source, failure.message, file, line)
    if match is None:
        return test
    test = replace(test, expected=_short(match["wanted"] or ""))
    if match["how"] == "got":
        return replace(test, got=_short(match["got"]))
    raised = _RAISED_AT.search(match["got"])
    error = match["got"][: raised.start()] if raised else match["got"]
    at = int(raised["line"]) if raised and _is_in(scope, raised) else 0
    return replace(test, error=_short(error.strip().partition("\n")[0]), at=at)


def _is_in(scope: DoubtScope, raised: re.Match[str]) -> bool:
    """Whether an exception was raised in the file of a function."""
    return scope.document.path is not None and raised["file"] == scope.document.path.name


def _example_line(scope: DoubtScope, source: str) -> int:
    """The line of an example in the docstring of a function, from 1; 0 if it is not found."""
    lines = scope.document.text.split("\n")
    start, end = scope.function.start_line, scope.function.end_line
    wanted = f">>> {source.partition(chr(10))[0]}"
    return next((n for n in range(start, end + 1) if n <= len(lines) and wanted in lines[n - 1]), 0)


def _read(test: FailedTest, message: str, statement: str, function: str) -> FailedTest:
    """A test with what its message says."""
    message = message.strip()
    asserted = re.search(r"^(?:AssertionError: )?assert (.*)", message, re.S | re.M)
    if asserted:
        return _of_assertion(test, asserted[1], statement, function)
    if missing := _NOT_RAISED.match(message):
        wanted = (missing["one"] or missing["other"]).rpartition(".")[2]
        return replace(test, expected=wanted, got="no exception")
    if truth := _TRUTH.match(message):
        wanted = truth["wanted"] if truth["wanted"] == "None" else truth["wanted"].capitalize()
        return replace(test, expected=wanted, got=_short(truth["got"]))
    line = message.partition("\n")[0]
    if message.startswith("AssertionError") and (unequal := _UNEQUAL.match(line)):
        first, second = _short(unequal["first"]), _short(unequal["second"])
        if _computed_second(_arguments(statement), function):
            first, second = second, first
        return replace(test, expected=second, got=first)
    if message.startswith(("AssertionError", "Failed: ")):
        return replace(test, message=message)
    return replace(test, error=_short(line))


def _of_assertion(test: FailedTest, text: str, statement: str, function: str) -> FailedTest:
    """A test with the values of an assertion that pytest has rewritten."""
    line = text.partition("\n")[0].strip()
    shown, written = _comparison(line), _comparison(statement.removeprefix("assert ").strip())
    if shown is None:
        negated = line.startswith("not ")
        value = line.removeprefix("not ")
        return replace(
            test, expected=f"not {_short(value)}" if negated else "a true value", got=_short(value)
        )
    left, operator, right = shown
    if written is not None and _computed_second([written[0], written[2]], function):
        left, right = right, left
        operator = _TURNED.get(operator, operator)
    sign = _SPOKEN.get(operator, f"{operator} " if operator in _TURNED else "")
    return replace(test, expected=_short(f"{sign}{right}"), got=_short(left))


def _comparison(text: str) -> tuple[str, str, str] | None:
    """The two sides of a comparison, and its operator; None if it is not one."""
    expression = _expression(text)
    if expression is None:
        parts = re.split(r" (==|!=|<=|>=|<|>|is not|is|not in|in) ", text)
        return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
    if expression.type != "comparison_operator" or len(expression.named_children) != 2:
        return None
    left, right = expression.named_children
    data = text.encode()
    operator = " ".join(data[left.end_byte : right.start_byte].decode().split())
    return text_of(left), operator, text_of(right)


def _arguments(statement: str) -> list[str]:
    """The first two arguments of a call that is a statement."""
    call = _expression(statement.strip())
    given = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
    return [text_of(argument) for argument in positional(given)[:2]] if given is not None else []


def _expression(text: str) -> tree_sitter.Node | None:
    """The one expression of a text; None if it is none."""
    root = Document(text).tree.root_node
    statement = root.named_children[0] if len(root.named_children) == 1 and not root.has_error else None
    if statement is None or statement.type != "expression_statement" or not statement.named_children:
        return None
    return statement.named_children[0]


def _computed_second(sides: Sequence[str], function: str) -> bool:
    """Whether only the second of two expressions was computed: it calls the function, or something at all."""
    if len(sides) < 2:
        return False
    own = [re.search(rf"\b{re.escape(function)}\b", side) is not None for side in sides]
    called = ["(" in side for side in sides]
    return (own[1] and not own[0]) or (not any(own) and called[1] and not called[0])


def _short(value: str) -> str:
    """A value on one line."""
    return " ".join(value.split())
