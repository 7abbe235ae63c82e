"""Checks benchmark data: every reference solution must parse, and pass its own tests."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from threading import Event

from counterlens.datasets.base import Dataset, Problem, Provenance
from counterlens.errors import SourceError
from counterlens.progress import ProgressCallback, Steps
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
