"""Checks benchmark data: every reference solution must parse, and pass its own tests in the sandbox."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from threading import Event

from counterlens.datasets.base import Dataset, Problem, Provenance, TestForm
from counterlens.errors import SourceError
from counterlens.judging.base import LIMITS, Judgement, Setting, Verdict
from counterlens.judging.comparison import PrintingCase
from counterlens.judging.languages import JUDGED, judging_of
from counterlens.languages.registry import title_of
from counterlens.progress import ProgressCallback, Steps
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import STRICT, Document


class Finding(StrEnum):
    """The result for one reference solution."""

    PARSES = "parses"
    PASSES = "passes"
    DOES_NOT_PARSE = "does not parse"
    FAILS = "fails"
    TIMES_OUT = "times out"
    NO_SOLUTION = "no solution"
    NO_TESTS = "no tests"
    NOT_CHECKED = "not checked"  # its language cannot be parsed or run here

    @property
    def bad(self) -> bool:
        """Whether the data is at fault."""
        return self in {Finding.DOES_NOT_PARSE, Finding.FAILS, Finding.TIMES_OUT}


@dataclass(frozen=True, slots=True)
class Checked:
    """The check of one problem.

    Attributes:
        message: The reason for a failure.
    """

    id: str
    finding: Finding
    message: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The check of a dataset.

    Attributes:
        provenance: Origin of the data.
        problems: Results by problem; fewer than the records if there was a limit.
    """

    provenance: Provenance
    problems: tuple[Checked, ...]

    @property
    def counts(self) -> dict[Finding, int]:
        """The frequency of each finding that occurred."""
        counted = Counter(problem.finding for problem in self.problems)
        return {finding: counted[finding] for finding in Finding if counted[finding]}

    @property
    def faults(self) -> tuple[Checked, ...]:
        """The problems where the data is at fault."""
        return tuple(problem for problem in self.problems if problem.finding.bad)


def check(
    dataset: Dataset,
    *,
    run: Callable[[Problem, Event | None], Checked] | None = None,
    limit: int | None = None,
    cancel: Event | None = None,
    progress: ProgressCallback | None = None,
) -> Check:
    """Check the reference solutions of a dataset.

    Args:
        run: Runs a problem's tests against its solution; None to parse only.
        limit: Number of problems to check, from the beginning; None for all.
        progress: Called before each problem.

    Raises:
        DataError: a record is malformed.
        SandboxError: as `run`.
        Cancelled: `cancel` was set.
    """
    provenance = dataset.provenance
    total = min(limit, provenance.records) if limit is not None else provenance.records
    steps, checked = Steps(cancel, progress), list[Checked]()
    for problem in islice(dataset, total):
        steps.next(problem.id, len(checked), total)
        result = parse(problem)
        if run is not None and result.finding is Finding.PARSES:
            result = run(problem, cancel)
        checked.append(result)
    return Check(provenance, tuple(checked))


def parse(problem: Problem) -> Checked:
    """Whether the reference solution of a problem parses."""
    if not problem.source.strip():
        return Checked(problem.id, Finding.NO_SOLUTION)
    strict = STRICT.get(problem.language)
    if strict is None:
        return _parse_tree(problem)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are the dataset's own business
            strict(problem.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f"line {line}: " if line else ""
        return Checked(problem.id, Finding.DOES_NOT_PARSE, f"{where}{getattr(error, 'msg', error)}")
    return Checked(problem.id, Finding.PARSES)


def _parse_tree(problem: Problem) -> Checked:
    """Check by the syntax tree, if there is a grammar."""
    try:
        root = Document(problem.source, language=problem.language).tree.root_node
    except SourceError:
        return Checked(problem.id, Finding.NOT_CHECKED, f"there is no grammar of {problem.language}")
    if not root.has_error:
        return Checked(problem.id, Finding.PARSES)
    return Checked(problem.id, Finding.DOES_NOT_PARSE, "a syntax error")


_FINDINGS = {
    Judgement.PASSED: Finding.PASSES,
    Judgement.FAILED: Finding.FAILS,
    Judgement.INVALID: Finding.DOES_NOT_PARSE,
    Judgement.TIMED_OUT: Finding.TIMES_OUT,
    Judgement.REFUSED: Finding.NOT_CHECKED,
}


class Runner:
    """Runs the tests of problems.

    Args:
        sandbox: The sandbox for programs.
        limits: The limits of each program.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits = LIMITS) -> None:
        self._sandbox, self._limits = sandbox, limits

    def check(self, problem: Problem, cancel: Event | None = None) -> Checked:
        """Whether the reference solution of a problem passes its tests."""
        tests = problem.tests
        if tests is None:
            return Checked(problem.id, Finding.NO_TESTS)
        if problem.language not in JUDGED:
            return Checked(problem.id, Finding.NOT_CHECKED, f"{title_of(problem.language)} is not run")
        if missing := judging_of(problem.language).missing():
            return Checked(problem.id, Finding.NOT_CHECKED, missing)
        verdict = self.judge(problem, problem.source, cancel)
        why = verdict.evidence.message or verdict.evidence.failed or ""
        if tests.form is TestForm.STDIO and verdict.evidence.failed:
            why = f"{verdict.evidence.failed}: {why}"
        return Checked(problem.id, _FINDINGS[verdict.judgement], "" if verdict.passed else why)

    def judge(self, problem: Problem, program: str, cancel: Event | None = None) -> Verdict:
        """Judge a program by the tests of a problem.

        Raises:
            ValueError: it has no tests that can run.
            SandboxError, Cancelled: as `Sandbox.run`.
        """
        setting = Setting(self._sandbox, Path(sys.executable), self._limits)
        language = judging_of(problem.language)
        tests = problem.tests
        if tests is not None and tests.form is TestForm.STDIO:
            cases = [PrintingCase(case.input, case.output) for case in tests.cases]
            return language.by_output(cases, setting).judge(program, cancel=cancel)
        if tests is None or problem.function is None:
            raise ValueError(f"{problem.id} has no tests that can be run")
        judge = language.supplied(tests.text, problem.function, problem.source, setting)
        return judge.judge(program, cancel=cancel)
