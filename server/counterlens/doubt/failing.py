"""A function whose tests fail: the nearest test that fails, and what it expected.

What a test compared comes from its runner (`FailureDetail`). Of two compared values, the one that the program
computed is the one whose expression calls something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tree_sitter

from counterlens.doubt.argument_order import positional
from counterlens.doubt.edits import Edit, shift_edit
from counterlens.doubt.scope import DoubtScope
from counterlens.judging.base import FailedCase, FailureDetail
from counterlens.regular_file import read_text
from counterlens.syntax.definitions import text_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

_EXAMPLE = "example"
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
class WrittenFix:
    """A version of a function that a model wrote, and that passes all tests that the code fails.

    Attributes:
        edit: The smallest change of whole lines that puts it in: a byte range and its text.
        confirmed: Whether another version that passes them does the same on inputs, and none does otherwise.
    """

    edit: Edit
    confirmed: bool


@dataclass(frozen=True, slots=True)
class FailingFunction:
    """A mark at the name of a function that fails its tests, where no small fix is known.

    Attributes:
        failed: The nearest test that fails.
        written: A version that passes, if a model wrote one.
    """

    scope: DoubtScope
    failed: FailedTest
    failures: frozenset[str] = frozenset()
    written: WrittenFix | None = None

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
        shift = scope.function.start - self.scope.function.start
        written = self.written and replace(self.written, edit=shift_edit(self.written.edit, shift))
        return replace(self, scope=scope, written=written)


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
    return of_function and failure.file == scope.document.path and _is_example(failure)


def _is_example(failure: FailedCase) -> bool:
    return failure.detail is not None and failure.detail.operator == _EXAMPLE


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
    by_name = {each.qualname: each for each in functions(document)}
    inherited = (each for name, each in by_name.items() if names and name.rpartition(".")[2] == names[-1])
    test = by_name.get(".".join(names)) or next(inherited, None)
    if test is None:
        return None
    body = document.data[test.body : test.end].decode("utf-8", "replace")
    return document.positions.line_of(test.header) + 1, body


def failed_test(scope: DoubtScope, failure: FailedCase) -> FailedTest:
    """What a test says about a function that fails it."""
    distance, detail = _distance(scope, failure), failure.detail or FailureDetail()
    near = not (distance[0] and distance[1] and distance[2])
    message = failure.message
    if failure.file is None or _is_example(failure):
        name, file = detail.statement or failure.name, failure.file or scope.document.path
        line = _example_line(scope, name) if file == scope.document.path else 0
        test = FailedTest(name, message, file, line, endless=failure.endless, near=near)
    else:
        name = ".".join(failure.name.split("::")[1:]) or failure.name
        located = _located(failure)
        line = detail.line or (located[0] if located else 0)
        statement = _short(detail.statement)
        test = FailedTest(name, message, failure.file, line, statement=statement, near=near)
    if failure.endless:
        return replace(test, endless=True)
    expected, got = _expected_and_got(detail, scope.function.name)
    error = _short(detail.error.partition("\n")[0])
    return replace(test, expected=_short(expected), got=_short(got), error=error, at=detail.at)


def _expected_and_got(detail: FailureDetail, function: str) -> tuple[str, str]:
    """What a test expected, and what the program computed; empty if it does not say that."""
    left, right = detail.left, detail.right
    match detail.operator:
        case "":
            return "", ""
        case "true":
            return "a true value", left
        case "not":
            return f"not {left}", left
        case "example":
            return right or "nothing", "" if detail.error else left or "nothing"
    operator, written = detail.operator, detail.statement.removeprefix("assert ").strip()
    sides = _comparison(written) if written != detail.statement else _arguments(written)
    if _computed_second(sides, function):
        left, right, operator = right, left, _TURNED.get(operator, operator)
    return _SPOKEN.get(operator, f"{operator} " if operator in _TURNED else "") + right, left


def _example_line(scope: DoubtScope, source: str) -> int:
    """The line of an example in the docstring of a function, from 1; 0 if it is not found."""
    lines = scope.document.text.split("\n")
    start, end = scope.function.start_line, scope.function.end_line
    wanted = f">>> {source.partition(chr(10))[0]}"
    return next((n for n in range(start, end + 1) if n <= len(lines) and wanted in lines[n - 1]), 0)


def _comparison(text: str) -> list[str]:
    """The two sides of a comparison; none if a text is not one."""
    expression = _expression(text)
    if expression is not None and expression.type == "parenthesized_expression":
        expression = expression.named_children[0]
    is_one = expression is not None and expression.type == "comparison_operator"
    sides = expression.named_children if expression is not None and is_one else []
    return list(map(text_of, sides)) if len(sides) == 2 else []


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
