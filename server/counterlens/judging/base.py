"""Verdicts on programs, and in words: the types of attribution (Hooda et al. 2024, section 3.1)."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.counting import plural
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.text import printable

NO_ORIGINAL = "nothing but its own tests vouches for it: there is no original to compare it with"
LIMITS = Limits(processes=256, disk_bytes=512 << 20, output_bytes=1 << 20)
"""Default limits of a program together with the tests that judge it: in a wide room, as a plain run is.

Its output has room for the report on thousands of cases.
"""
SHORTEST, LONGEST = 0.1, 3600.0
"""Range of the time limit that a user may set, seconds."""
MAP_SECONDS = 300.0
"""Default time limit in seconds for the one run of a repository's tests."""
_TRACES = 3  # maximum traces that are said
_LINES, _WIDTH = 8, 200  # maximum lines of a message, and characters of each
CASES = {"tests": "test", "doctest": "doctest", "given": "given test"}
"""The noun for one case of each attribution function."""


def facts_of(verdict: Verdict) -> list[str]:
    """What the original and the cheats say about a program that passes, a line each; empty for any other."""
    evidence = verdict.evidence
    if not verdict.passed or (evidence.comparison is None and evidence.cheats is None):
        return []
    facts = [describe_comparison(evidence.comparison) if evidence.comparison else NO_ORIGINAL]
    if evidence.cheats is not None:
        facts.append(describe_cheats(evidence.cheats))
    return facts


def describe_comparison(comparison: OriginalComparison) -> str:
    """What the original says, such as `agrees with the original on 31 inputs like those of the tests`.

    What a program does on other inputs, and what only it sees, is said and contests nothing.
    """
    match comparison.agreement:
        case OriginalSays.AGREES:
            agrees = f"agrees with the original on {plural(comparison.inputs, 'input')}"
            reasons = [agrees + _others(comparison), *([comparison.reason] if comparison.reason else [])]
            if comparison.traces:
                reasons.append(f"by itself, it {', '.join(comparison.traces[:_TRACES])}")
            text, other = "; ".join(reasons), comparison.elsewhere
            return text if other is None else f"{text}{_both(other.original, other.other)}"
        case OriginalSays.DIFFERS:
            where = f": {comparison.call}" if comparison.call else ""
            return f"differs from the original{where}{_both(comparison.original, comparison.other)}"
    return f"not comparable with the original: {comparison.reason}"


def _others(comparison: OriginalComparison) -> str:
    """On which other inputs than those like the tests' a program agrees, or differs."""
    if comparison.elsewhere is not None:
        return f" like those of the tests; differs on others: {comparison.elsewhere.call}"
    if not comparison.others:
        return " like those of the tests" if comparison.kinds else ""
    kinds = ", ".join(comparison.kinds)
    return f" like those of the tests, and on {plural(comparison.others, 'other')} ({kinds})"


def _both(original: str, other: str) -> str:
    before = f"\n  original: {original}" if original else ""
    return f"{before}\n  this one: {other}"


def describe_cheats(cheats: CheatTrial) -> str:
    """Whether the tests fail for cheats, such as `the tests fail for 9 of 9 cheats`."""
    if not cheats.passing:
        return f"the tests fail for {cheats.failing} of {plural(cheats.tried, 'cheat')}"
    cheat = min(cheats.passing, key=len)
    return f"the tests pass {len(cheats.passing)} of {plural(cheats.tried, 'cheat')}, such as `{cheat}`"


def lasting(seconds: float) -> Limits:
    """The limits for programs, or tests, that may take `seconds`."""
    return replace(LIMITS, seconds=seconds, cpu_seconds=math.ceil(seconds))


class Judgement(StrEnum):
    """The verdict on a program."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"  # it does not parse
    TIMED_OUT = "timed_out"
    REFUSED = "refused"  # it was not run: there is no judge, or running programs is not allowed


class OriginalSays(StrEnum):
    """The behaviour of a program beside that of its original, on the same inputs."""

    AGREES = "agrees"  # the same result on every input like those of the tests
    DIFFERS = "differs"  # another result on such an input, on which the original returns
    NOT_COMPARABLE = "not comparable"  # no input could be compared


@dataclass(frozen=True, slots=True)
class OtherDifference:
    """An input that is not like those of the tests, with the results of original and program for it."""

    call: str
    original: str
    other: str


@dataclass(frozen=True, slots=True)
class OriginalComparison:
    """What the original says, as the second witness: program and original ran apart, on the same inputs.

    Attributes:
        inputs: Number of inputs on which the original returns and both results were compared: of those like
            the inputs of the tests, if these are known.
        call: The smallest input found on which they differ, as a call that can be pasted.
        original: The result of the original for it.
        other: The result of the program for it.
        reason: Why they cannot be compared, or what else is worth saying, such as inputs on which they differ
            only where the original refuses.
        others: Number of inputs that are not like those of the tests, on which the program agrees, too.
        kinds: How these differ from those of the tests, such as `negative` or `larger`.
        elsewhere: The smallest of these on which the program differs, which contests nothing.
        traces: What the program does that nobody else sees, and the original does not, such as a warning.
    """

    agreement: OriginalSays
    inputs: int = 0
    call: str | None = None
    original: str = ""
    other: str = ""
    reason: str = ""
    others: int = 0
    kinds: tuple[str, ...] = ()
    elsewhere: OtherDifference | None = None
    traces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheatTrial:
    """Whether the tests see the hole: the verdicts of the tests on cheats in place of the function's body.

    Attributes:
        tried: Number of cheats that ran.
        passing: The cheats that the tests pass, described, such as `return True`.
    """

    tried: int
    passing: tuple[str, ...] = ()

    @property
    def failing(self) -> int:
        """Number of cheats that the tests fail."""
        return self.tried - len(self.passing)


@dataclass(frozen=True, slots=True)
class FailureDetail:
    """What a failed test compared and where, as the objects of its runner say it.

    Attributes:
        line: The line of the test's file that was running, from 1; 0 if unknown.
        statement: The statement there, or the source of an example.
        operator: Of a comparison, such as `==`; `true` and `not` of one value; `raises` of an exception that
            did not come; `example` of what an example printed. Empty if something else failed.
        left: The first value, or what an example printed.
        right: The second value, what an example expected, or the class of the exception.
        error: The exception that came instead, on one line; empty if none did.
        at: The line of the program that raised it, from 1; 0 if none did.
    """

    line: int = 0
    statement: str = ""
    operator: str = ""
    left: str = ""
    right: str = ""
    error: str = ""
    at: int = 0

    def __post_init__(self) -> None:
        for name in ("statement", "operator", "left", "right", "error"):
            object.__setattr__(self, name, printable(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a judgement; texts from programs are made `printable`.

    Attributes:
        attribution: The attribution function: `doctest`, `tests`; several are joined by `+`.
        tests: Number of cases that ran to their end.
        failed: The name or source of the first case that failed, or that was running when the program ended.
        message: The message, at most a few lines. If all passed, the omitted cases with the reason, or empty.
        comparison: What the original says about a program that passed; None if there is no original.
        cheats: Whether the tests fail for cheats; None if that was not tried.
        detail: What the failed case compared; None if its runner does not say it.
    """

    attribution: str
    tests: int
    failed: str | None = None
    message: str = ""
    comparison: OriginalComparison | None = None
    cheats: CheatTrial | None = None
    detail: FailureDetail | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", printable(self.message))
        if self.failed is not None:
            object.__setattr__(self, "failed", printable(self.failed))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement with its evidence and its cost.

    Attributes:
        seconds: Elapsed seconds.
        cpu_seconds: Its processor time; None if unknown.
    """

    judgement: Judgement
    evidence: Evidence
    seconds: float = 0.0
    cpu_seconds: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the program passed."""
        return self.judgement is Judgement.PASSED

    @property
    def contested(self) -> bool:
        """Whether the tests pass, but the original does otherwise on an input like theirs."""
        comparison = self.evidence.comparison
        return self.passed and comparison is not None and comparison.agreement is OriginalSays.DIFFERS


@dataclass(frozen=True, slots=True)
class HoleReach:
    """Coverage of a hole by the judging tests.

    Attributes:
        tests: Number of judging tests that run a line of it.
        lines: Number of lines on which they run a statement.
        of: Number of lines on which a statement begins.
    """

    tests: int
    lines: int
    of: int


@dataclass(frozen=True, slots=True)
class FailedCase:
    """One test that a program fails.

    Attributes:
        name: Its pytest id, or the source of an example of a docstring.
        message: The message: the line of the test, if known, and the error below it.
        file: Its file; None for an example of a docstring.
        endless: Whether it was stopped.
        detail: What it compared; None if its runner does not say it.
    """

    name: str
    message: str
    file: Path | None = None
    endless: bool = False
    detail: FailureDetail | None = None


@dataclass(frozen=True, slots=True)
class StandingByTests:
    """A program before its tests.

    Attributes:
        judge: The judge by the tests that can judge it.
        failures: The tests that it fails; empty if it passes all.
        failed: Whether it does not pass, for a reason outside of any test if there are no failures.
        message: That reason.
        seconds: The processor time of its tests, or the elapsed time if that is unknown.
    """

    judge: Judge
    failures: tuple[FailedCase, ...] = ()
    failed: bool = False
    message: str = ""
    seconds: float = 0.0


class Judge(ABC):
    """The tests of one function, ready to run against any version of its file.

    A subclass judges one program; it overrides the other methods if it can do more.
    """

    @property
    @abstractmethod
    def attribution(self) -> str:
        """The id of the attribution function."""

    @property
    @abstractmethod
    def tests(self) -> int:
        """The number of its cases."""

    @abstractmethod
    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program.

        Args:
            program: The whole source of the file, with the function replaced by the version to judge.

        Raises:
            Cancelled: `cancel` was set.
        """

    def judge_all(self, programs: Sequence[str], *, cancel: Event | None = None) -> list[Verdict]:
        """The verdicts on several programs, which run side by side on the processors of the machine.

        Raises:
            SandboxError, Cancelled: as `judge`.
        """
        contexts = [copy_context() for _ in programs]  # the time limit of this thread holds in the others

        def judged(context: Context, program: str) -> Verdict:
            return context.run(self.judge, program, cancel=cancel)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(judged, contexts, programs))

    def standing(self, program: str, *, cancel: Event | None = None) -> StandingByTests | None:
        """The tests that a program fails: all of them if it can run on after a failure, else the first.

        Returns:
            None if none of them can judge it.

        Raises:
            SandboxError, Cancelled: as `judge`.
        """
        verdict = self.judge(program, cancel=cancel)
        if verdict.judgement is Judgement.REFUSED:
            return None
        spent = verdict.cpu_seconds or verdict.seconds
        if verdict.passed:
            return StandingByTests(self, seconds=spent)
        evidence = verdict.evidence
        endless = verdict.judgement is Judgement.TIMED_OUT
        case = FailedCase(evidence.failed or "", evidence.message, None, endless, evidence.detail)
        failures = (case,) if evidence.failed else ()
        return StandingByTests(self, failures, failed=True, message=evidence.message, seconds=spent)

    def vetted(self, original: str, cancel: Event | None) -> Judge | str:  # noqa: ARG002
        """The judge with the tests that the original passes; the reason if there are none.

        One that cannot leave out tests stays as it is.
        """
        return self

    def recorded_calls(self, target: str, cancel: Event | None) -> Sequence[Any]:  # noqa: ARG002
        """The calls of a function that the tests make while the original runs; none if they are unknown."""
        return ()

    @property
    def reaching(self) -> int:
        """The number of tests that run the function, whether they judge or not, if known."""
        return self.tests

    def reach(self, lines: range) -> HoleReach | None:  # noqa: ARG002
        """The coverage of some lines of the function, 1-based, by its tests; None if unknown."""
        return None

    @property
    def described(self) -> str:
        """A description with its number of cases, such as `3 doctests`."""
        case = CASES.get(self.attribution, self.attribution)
        if self.reaching > self.tests:
            return f"{self.tests} of {plural(self.reaching, case)} that reach it"
        return plural(self.tests, case)


@dataclass(frozen=True, slots=True)
class Setting:
    """Sandbox, interpreter and limits of judging.

    Attributes:
        sandbox: The sandbox for programs.
        python: The interpreter that runs them.
        limits: The limits of each program.
        cancel: Set to cancel the search for tests.
        report: Called with the current step if the search for tests takes time.
        vetted: Whether tests that fail on the original are left out. For runs over many functions that
            nobody inspects; not for a function that may have a bug, or that the user named.
        surveyed: Whether the project's suite runs once first, and tests are chosen by the lines that they
            run, or by what they mention if those lines are unknown; else the suite runs only for a function
            that no test mentions.
        map_timeout: Maximum seconds for one run of the project's whole suite; 0 to skip it.
        excluded: Patterns of tests that never judge, relative to the project.
    """

    sandbox: Sandbox
    python: Path
    limits: Limits = LIMITS
    cancel: Event | None = None
    report: Callable[[str], None] | None = None
    vetted: bool = False
    map_timeout: float = MAP_SECONDS
    surveyed: bool = False
    excluded: tuple[str, ...] = ()

    def excludes(self, file: str) -> bool:
        """Whether a whole file of tests is excluded; its name is relative to the project, with slashes."""
        return any(
            file == pattern or file.startswith(pattern.rstrip("/") + "/") or fnmatchcase(file, pattern)
            for pattern in self.excluded
            if "::" not in pattern
        )


Attribution = Callable[[Document, Function, Setting], Judge | None]
"""A way to find the tests of a function, one module each, which the language registers: a judge, or None."""


def brief(message: str) -> str:
    """A message cut to a few lines of limited length."""
    lines = [
        line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in message.strip().splitlines()
    ]
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"])


@dataclass(frozen=True, slots=True)
class WeakAssertion:
    """An assertion that accepts nearly any result.

    Attributes:
        assertion: The assertion, as code; the call if no test looks at its result.
        accepts: A wrong result that it accepts, as code.
        instead: What to compare the result with, as code; empty if only the author knows.
    """

    assertion: str
    accepts: str
    instead: str
