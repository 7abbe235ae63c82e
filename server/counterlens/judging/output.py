"""Judging a whole program by its output: it reads each input, and must print the expected output.

Each language has a subclass of `OutputJudge` that runs its programs (`languages.py`).

Outputs are compared token by token, as contest judges do: blanks and line ends only separate, and a number
with a point or an exponent may differ by rounding (`TOLERANCE`). The program never sees the expected output,
and runs in a separate process, so "passed" is strong.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Event

from counterlens.judging.base import Evidence, Judge, Judgement, Setting, Verdict, brief

ID = "given"
TOLERANCE = 1e-6
"""Maximum difference between a number and the expected one: relative, and absolute below 1."""
ROOM = 4 << 20  # maximum bytes of an output
TOO_MUCH = f"it prints more than {ROOM >> 20} MiB"


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
