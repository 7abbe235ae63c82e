"""Compare the encoded results of two calls, where neither program can interfere.

Values are the same if `==` holds for values of the built-in types: numbers by value whatever their type,
sequences in order and of one type, sets and dictionaries in any order. Beyond `==`: NaN equals NaN, floats
may differ by rounding (`RELATIVE`), objects are the same if their classes have the same name and their
attributes are the same, and iterators if their items are the same. Exceptions are the same if their classes
have the same name; their messages do not count.

Judging a whole program by its output: it reads each input, and must print the expected output.

Each language has a subclass of `OutputJudge` that runs its programs (`languages.py`).

Outputs are compared token by token, as contest judges do: blanks and line ends only separate, and a number
with a point or an exponent may differ by rounding (`TOLERANCE`). The program never sees the expected output,
and runs in a separate process, so "passed" is strong.
"""

from __future__ import annotations

import json
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

from counterlens.judging.base import Evidence, Judge, Judgement, Setting, Verdict, brief

ID = "given"
TOLERANCE = 1e-6
"""Maximum difference between a number and the expected one: relative, and absolute below 1."""
ROOM = 4 << 20  # maximum bytes of an output
TOO_MUCH = f"it prints more than {ROOM >> 20} MiB"
RELATIVE, ABSOLUTE = 1e-9, 1e-12
_UNKNOWN = {"?", "…"}
_DEEPEST = 500


@dataclass(frozen=True, slots=True)
class PrintingCase:
    """One run of a program.

    Attributes:
        input: Its standard input.
        output: The expected output.
    """

    input: str
    output: str


class OutputJudge(Judge):
    """Judges whole programs by their output; see the module.

    Args:
        cases: The runs, in order.
        setting: The sandbox, interpreter and limits; the limits apply to each run.
    """

    attribution = ID

    def __init__(self, cases: Sequence[PrintingCase], setting: Setting) -> None:
        self.cases, self.setting = tuple(cases), setting

    @property
    def tests(self) -> int:
        """The number of runs."""
        return len(self.cases)

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run a program on the inputs until an output is wrong; see `Judge.judge`."""
        started = time.monotonic()
        if self.cases:
            judgement, evidence = self._judged(program, cancel)
        else:
            judgement = Judgement.REFUSED
            evidence = Evidence(ID, 0, None, "there is no input to run it with")
        return Verdict(judgement, evidence, time.monotonic() - started)

    def _judged(self, program: str, cancel: Event | None) -> tuple[Judgement, Evidence]:
        number = 0
        for number, printed in enumerate(self._printed(program, cancel), 1):
            case = self.cases[number - 1]
            if isinstance(printed, str):
                difference = first_difference(printed, case.output)
                judgement, message = Judgement.FAILED if difference else Judgement.PASSED, difference
            else:
                judgement, message = printed
            if judgement is Judgement.INVALID:
                return judgement, Evidence(ID, 0, None, brief(message))
            if judgement is not Judgement.PASSED:
                evidence = Evidence(ID, number, f"case {number}", brief(message))
                return judgement, evidence
        return Judgement.PASSED, Evidence(ID, number)

    @abstractmethod
    def _printed(self, program: str, cancel: Event | None) -> Iterator[str | tuple[Judgement, str]]:
        """Return the output of a program in each case, or the reason why there is none."""

    def _late(self) -> tuple[Judgement, str]:
        return Judgement.TIMED_OUT, f"stopped after {self.setting.limits.seconds:g} s"


def first_difference(output: str, due: str) -> str:
    """Describe the first difference between an output and the expected one; empty if there is none."""
    mine, right = output.split(), due.split()
    for at, (word, other) in enumerate(zip(mine, right, strict=False), 1):
        if word != other and not _close(word, other):
            return f"it prints {_shorten(word)} for {_shorten(other)} as word {at}"
    if len(mine) != len(right):
        return f"it prints {len(mine)} words for {len(right)}"
    return ""


def _close(token: str, due: str) -> bool:
    """Whether two tokens are numbers that differ only by rounding; integers must be the same."""
    if not any(sign in due for sign in ".eE"):
        return False
    try:
        number, other = float(token), float(due)
    except ValueError:
        return False
    return math.isclose(number, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _shorten(word: str) -> str:
    return repr(word if len(word) <= 40 else f"{word[:37]}...")


Form = Any
"""A value as `sandboxed/recorder/structure.py` encodes it."""


def comparable(form: Form) -> bool:
    """Whether a value can be compared completely: it contains no function, module, file or the like."""
    if not isinstance(form, list):
        return True
    head = _head(form)
    if head == "d":
        return all(comparable(part) for pair in form[1:] for part in pair)
    if head == "o":
        return comparable(form[2]) and all(comparable(field[1]) for field in form[3])
    return head not in _UNKNOWN and all(map(comparable, form[1:]))


def same(form: Form, other: Form) -> bool:
    """Whether two values are the same; see the module. False if one cannot be compared."""
    try:
        return _same(form, other, 0)
    except (TypeError, ValueError, IndexError, KeyError, OverflowError, RecursionError):
        return False  # a form that the encoder never produces


def _same(form: Form, other: Form, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    number, another = _number(form), _number(other)
    if number is not None and another is not None:
        return close(number, another)
    if _head(form) != _head(other):
        form, other = _plain(form), _plain(other)
    head = _head(form)
    if head != _head(other) or head in _UNKNOWN:
        return False
    if head in _ALIKE:
        return _ALIKE[head](form[1:], other[1:], depth)
    return type(form) is type(other) and bool(form == other)


def _head(form: Form) -> str:
    """The first letter of a form; the same for sets and frozen sets."""
    if not isinstance(form, list):
        return ""
    return "s" if form[0] == "z" else str(form[0])


def _sequences(forms: list[Form], other: list[Form], depth: int) -> bool:
    return len(forms) == len(other) and all(_same(a, b, depth + 1) for a, b in zip(forms, other, strict=True))


def _objects(form: list[Form], other: list[Form], depth: int) -> bool:
    (name, content, fields), (other_name, other_content, other_fields) = form, other
    return (
        name == other_name
        and _same(content, other_content, depth + 1)
        and [field[0] for field in fields] == [field[0] for field in other_fields]
        and _sequences([field[1] for field in fields], [field[1] for field in other_fields], depth)
    )


def _equal_in_any_order(forms: list[Form], other: list[Form], depth: int) -> bool:
    ordered = sorted(forms, key=_key), sorted(other, key=_key)
    return _sequences(*ordered, depth)


def _mappings(mapping: list[Form], other: list[Form], depth: int) -> bool:
    if len(mapping) != len(other):
        return False
    ordered = (
        sorted(mapping, key=lambda pair: _key(pair[0])),
        sorted(other, key=lambda pair: _key(pair[0])),
    )
    return all(
        _same(a[0], b[0], depth + 1) and _same(a[1], b[1], depth + 1) for a, b in zip(*ordered, strict=True)
    )


def _functions(first: list[Form], other: list[Form], depth: int) -> bool:
    """Two functions that were called: inputs on which the first raises say nothing."""
    return len(first) == len(other) and all(
        a[0] == b[0] and (a[1][0] == "x" or (b[1][0] == "v" and _same(a[1][1], b[1][1], depth + 1)))
        for a, b in zip(first, other, strict=True)
    )


_ALIKE = {
    "l": _sequences, "t": _sequences, "g": _sequences, "w": _sequences, "n": _sequences,
    "s": _equal_in_any_order, "d": _mappings, "o": _objects, "k": _functions,
}  # fmt: skip


def _key(form: Form) -> str:
    """A key that sorts equal elements of sets to the same place."""
    number = _number(form)
    if number is not None:
        # A float without a fraction as the equal int
        return f"n{int(number) if isinstance(number, float) and number.is_integer() else number}"
    if isinstance(form, list) and form and form[0] in {"s", "z"}:
        return "s" + json.dumps(sorted(_key(part) for part in form[1:]))
    if isinstance(form, list):
        return str(form[0]) + json.dumps([_key(part) for part in form[1:]])
    return json.dumps(form)


def _plain(form: Form) -> Form:
    """The built-in value of an instance of a subclass of a built-in type that adds no attributes."""
    return (
        form[2] if isinstance(form, list) and form[0] == "o" and form[2] is not None and not form[3] else form
    )


def _number(form: Form) -> int | float | complex | None:
    if isinstance(form, int):
        return int(form)
    if isinstance(form, list) and form:
        if form[0] == "i":
            return int(form[1], 16)
        if form[0] == "f":
            return float.fromhex(form[1])
        if form[0] == "c":
            return complex(float.fromhex(form[1]), float.fromhex(form[2]))
        if form[0] == "o" and form[2] is not None and not form[3]:
            return _number(form[2])
    return None


def close(number: complex, other: complex) -> bool:
    """Whether two numbers are the same except for rounding; NaN is the same as NaN."""
    if number == other:
        return True
    if isinstance(number, int) and isinstance(other, int):
        return False
    try:
        if isinstance(number, complex) or isinstance(other, complex):
            number, other = complex(number), complex(other)
            return close(number.real, other.real) and close(number.imag, other.imag)
        if math.isnan(number) or math.isnan(other):
            return math.isnan(number) and math.isnan(other)
        return math.isclose(number, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    except OverflowError:  # an integer beyond every float
        return False


def show(form: Form) -> str:
    """A value roughly as Python would write it, for display."""
    number = _number(form)
    if isinstance(form, bool) or form is None or isinstance(form, str):
        return repr(form)
    if number is not None and (isinstance(form, int) or form[0] != "o"):
        return _digits(number)
    head, rest = form[0], form[1:]
    brackets = {"l": "[]", "t": "()", "s": "{}"}
    if head in brackets and (rest or head != "s"):
        comma = "," if head == "t" and len(rest) == 1 else ""
        return brackets[head][0] + ", ".join(map(show, rest)) + comma + brackets[head][1]
    if head == "d":
        return "{" + ", ".join(f"{show(key)}: {show(value)}" for key, value in rest) + "}"
    if head == "o":
        inner = [] if rest[1] is None else [show(rest[1])]
        return f"{rest[0]}({', '.join([*inner, *(f'{name}={show(value)}' for name, value in rest[2])])})"
    others: dict[str, Callable[[], str]] = {
        "b": lambda: repr(bytes.fromhex(rest[0])),
        "s": lambda: "set()",
        "z": lambda: f"frozenset({show(['s', *rest]) if rest else ''})",
        "g": lambda: f"an iterator over {show(['l', *rest])}",
        "e": lambda: f"{rest[0]}.{rest[1]}",
        "m": lambda: f"{rest[0]}({', '.join(map(show, rest[1:]))})",
        "w": lambda: f"a coroutine that gives {show(rest[0])}",
        "n": lambda: f"a context of {show(rest[0])}",
        "k": lambda: f"a function: {_calls(rest)}",
        "r": lambda: str(rest[1]),
        "type": lambda: str(rest[0]),
        "single": lambda: str(rest[0]),
        "^": lambda: "...",
        "?": lambda: f"a {rest[0]}",
        "…": lambda: "a very large value",
    }
    return others[head]() if head in others else "?"


def _digits(number: complex) -> str:
    """A number as Python would write it; an integer with more digits than Python writes is hexadecimal."""
    try:
        return repr(number)
    except ValueError:
        return hex(number) if isinstance(number, int) else "a very large value"


def _calls(outcomes: list[Form]) -> str:
    """The calls of a function that gave something."""
    given = [f"{arguments} gives {show(outcome[1])}" for arguments, outcome in outcomes if outcome[0] == "v"]
    return ", ".join(given[:3])
