"""What a failed test compared and where, from the objects of its runner: pytest, unittest and doctest."""

from __future__ import annotations

import builtins
import linecache
import os
import reprlib
import sys
import traceback

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType, TracebackType
    from typing import Any

    Values = tuple[str, str, str]  # an operator, and the two values that it compares, as text

LONGEST = 4000
_LINES, _WIDTH = 3, 100
"""Lines of a shown output, and characters that the outputs have in common before the part that is shown."""
_MANY, _LONGEST = 1000, 400  # maximum items of a value that is shown whole, and characters of any
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _LONGEST
_OPERATORS = {
    "assertEqual": "==", "assertNotEqual": "!=", "assertAlmostEqual": "==", "assertNotAlmostEqual": "!=",
    "assertSequenceEqual": "==", "assertListEqual": "==", "assertTupleEqual": "==", "assertSetEqual": "==",
    "assertDictEqual": "==", "assertMultiLineEqual": "==", "assertCountEqual": "==", "assertIs": "is",
    "assertIsNot": "is not", "assertIn": "in", "assertNotIn": "not in", "assertLess": "<",
    "assertLessEqual": "<=", "assertGreater": ">", "assertGreaterEqual": ">=",
}  # fmt: skip
"""The operators of the methods of `unittest.TestCase` that compare their first two arguments."""
_CONSTANTS = {"assertTrue": "True", "assertFalse": "False", "assertIsNone": "None"}
_RAISES = ("expected_exceptions", "expected_exception", "expected")
"""Where the contexts of `raises` in versions of pytest, and of `assertRaises`, hold the class."""


def detail_of(
    error: BaseException | None,
    is_candidate: Callable[[str], bool],
    *,
    line: int = 0,
    statement: str = "",
    at: int = 0,
    compared: Values | None = None,
) -> dict[str, Any]:
    """The failure in the form of `FailureDetail`.

    Args:
        error: The exception that ended the test.
        is_candidate: Whether a file is the candidate's.
        line: The line of the test that was running.
        statement: The statement there.
        at: The line of the candidate that raised it; 0 if none did.
        compared: The values of the assertion of the test, if that is known to have failed.
    """
    detail: dict[str, Any] = {"line": line, "statement": statement, "at": at}
    failed = _example(error)
    if failed is not None:
        inner, step = _exception_of(failed)
        wanted = failed.example.want.rstrip("\n")
        detail.update(operator="example", statement=failed.example.source.strip(), right=wanted)
        if inner is None:
            return {**detail, "left": failed.got.rstrip("\n")}
        inside = step is not None and is_candidate(step.tb_frame.f_code.co_filename)
        return {**detail, "error": _first_line(inner), "at": step.tb_lineno if step and inside else 0}
    values = compared or _values_of(error, statement)
    if values is not None:
        return {**detail, **dict(zip(("operator", "left", "right"), values))}  # noqa: B905 - Python 3.8
    told = isinstance(error, AssertionError) or type(error).__name__ == "Failed"
    return {**detail, "error": "" if error is None or (told and not at) else _first_line(error)}


def comparing_frame() -> tuple[object, int]:
    """The code and line of the innermost frame outside of pytest."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_of(frame, "_pytest", "pluggy", __name__.partition(".")[0]):
        frame = frame.f_back
    return (frame.f_code, frame.f_lineno) if frame is not None else (None, 0)


def raising_frame(error: BaseException | None) -> tuple[object, int]:
    """The code and line of the innermost frame of an exception."""
    steps = _steps(error)
    return (steps[-1].tb_frame.f_code, steps[-1].tb_lineno) if steps else (None, 0)


def as_text(value: object) -> str:
    """A value, as `repr` shows it; cut if it is long, and replaced if it cannot be shown."""
    try:
        many = len(value) > _MANY  # type: ignore[arg-type]
    except BaseException:
        many = False
    try:
        text = _SHORT.repr(value) if many else repr(value)
    except BaseException:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def places_of(
    error: BaseException | None, is_test: Callable[[str], bool], is_candidate: Callable[[str], bool]
) -> tuple[TracebackType | None, TracebackType | None]:
    """Where the test was running that an exception ended, and where the candidate raised it, if it did."""
    asserting = raising = None
    for step in _steps(error):
        file = step.tb_frame.f_code.co_filename
        if is_test(file):
            asserting, raising = step, None
        elif is_candidate(file):
            raising = step
    return asserting, raising


def _values_of(error: BaseException | None, statement: str) -> Values | None:
    """What an assertion method, a context that waits for an exception, or a plain assertion compared."""
    for step in _steps(error):
        frame = step.tb_frame
        name, own = frame.f_code.co_name, frame.f_locals
        if not _is_of(frame, "_pytest", "unittest"):
            continue
        first, second, *_ = *(own.get(each) for each in frame.f_code.co_varnames[1:3]), None, None
        if name in _OPERATORS:
            return _OPERATORS[name], as_text(first), as_text(second)
        if name in _CONSTANTS:
            return "is", as_text(first), _CONSTANTS[name]
        if name == "__exit__" and own.get("exc_type") is None:
            classes = next(filter(None, (getattr(own.get("self"), each, None) for each in _RAISES)), ())
            names = [
                getattr(each, "__name__", "")
                for each in (classes if isinstance(classes, tuple) else (classes,))
            ]
            return "raises", "no exception", " or ".join(names)
    if error is None or not isinstance(error, AssertionError) or not statement:
        return None
    lines = (line.partition("AssertionError: ")[2] or line for line in _full_message(error).splitlines())
    value = next((line[len("assert ") :] for line in lines if line.startswith("assert ")), "")
    return (
        ("not", value[len("not ") :], "")
        if value.startswith("not ")
        else ("true", value, "")
        if value
        else None
    )


def _example(error: BaseException | None) -> Any:
    """The failure of an example, as `doctest` raises it; None if an exception is none."""
    doctest: Any = sys.modules.get("doctest")
    if doctest is None or error is None:
        return None
    several = getattr(error, "failures", None) if type(error).__name__ == "MultipleDoctestFailures" else None
    first = several[0] if several else error  # pytest collects them if its settings say so
    return first if isinstance(first, (doctest.DocTestFailure, doctest.UnexpectedException)) else None


def describe(error: BaseException) -> str:
    """The type and message of an exception; of a failing example, what it expected and what came instead."""
    failed = _example(error)
    if failed is None:
        return shorten(_full_message(error))
    source, (inner, step) = failed.example.source.strip(), _exception_of(failed)
    if inner is None:
        return shorten(f">>> {source}\n{unlike(failed.example.want, failed.got)}")
    at = f"\nat {place_in(step)}" if step and step.tb_frame.f_code.co_filename.endswith(".py") else ""
    return shorten(f">>> {source}\nraised:   {_first_line(inner)}{at}")


def _exception_of(failed: Any) -> tuple[BaseException | None, TracebackType | None]:
    """The exception that an example raised, and where; None if it printed something else."""
    inner = getattr(failed, "exc_info", None)
    if inner is None:
        return None, None
    steps = _steps(inner[1])
    return inner[1], steps[-1] if steps else None


def place_in(step: TracebackType) -> str:
    """The file and line of a step of a traceback, with its first line of code."""
    file = step.tb_frame.f_code.co_filename
    name, code = file.rpartition(os.sep)[2], linecache.getline(file, step.tb_lineno).strip()
    return f"{name}:{step.tb_lineno}: {code}"


def unlike(wanted: str, got: str) -> str:
    """What an example expected and got; where they are long, from the first difference on."""
    sides = [text.rstrip("\n").split("\n") for text in (wanted, got)]
    same = _common_start(*sides)
    if max(map(len, sides)) > _LINES:
        sides = [["…", *lines[same:]] if same else lines for lines in sides]
        sides = [lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"] for lines in sides]
        same = min(same, 1)
    firsts = [lines[same] if same < len(lines) else "" for lines in sides]
    alike = _common_start(*firsts)
    if alike > _WIDTH:
        for lines in sides:
            lines[same : same + 1] = [f"…{lines[same][alike - _WIDTH // 2 :]}"] if same < len(lines) else []
    shared = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…" for line in sides[0][:same]]
    sides = [[*shared, *lines[same:]] for lines in sides]
    shown = ["\n          ".join(lines) or "nothing" for lines in sides]
    return f"expected: {shown[0]}\ngot:      {shown[1]}"


def _common_start(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of first lines, or characters, that two outputs have in common."""
    pairs = enumerate(zip(first, second))  # noqa: B905 - Python 3.8
    return next((at for at, (item, other) in pairs if item != other), min(len(first), len(second)))


def shorten(text: str) -> str:
    """The beginning and the end of a long text."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n…\n{text[-half:]}"


def _full_message(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def _first_line(error: BaseException) -> str:
    """The class and message of an exception, without further lines; of a `SyntaxError` the last one."""
    lines = _full_message(error).splitlines() or [type(error).__name__]
    return lines[-1 if isinstance(error, SyntaxError) else 0]


def _steps(error: BaseException | None) -> list[TracebackType]:
    steps, step = [], error.__traceback__ if error is not None else None
    while step is not None:
        steps.append(step)
        step = step.tb_next
    return steps


def _is_of(frame: FrameType, *packages: str) -> bool:
    """Whether a frame runs code of a package."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in packages
