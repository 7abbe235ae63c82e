"""Verification of counterfactuals by running them: each must keep or break the meaning as it claims.

A preserving counterfactual that fails with a judge is to be discarded and counted (Hooda et al. 2024,
section 4.2). A breaking one that no judge distinguishes from the original stays, marked as possibly
equivalent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Event

from counterlens.counting import plural
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting, Verdict
from counterlens.judging.comparing import ComparingJudge
from counterlens.judging.languages import behaviour_of
from counterlens.judging.pace import pace
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.mutations.base import Counterfactual
from counterlens.progress import ProgressCallback, Steps
from counterlens.sandbox.base import Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

NOT_RUN = "not run"


class Settlement(StrEnum):
    """The outcome of a counterfactual."""

    HOLDS = "holds"  # it keeps the meaning, as far as the judges show
    DISCARDED = "discarded"  # it should keep the meaning, but does not
    BREAKS = "breaks"  # it breaks the meaning, as it should
    POSSIBLY_EQUIVALENT = "possibly equivalent"  # it should break the meaning, but passes with every judge
    UNSETTLED = "unsettled"  # no judge can judge it


@dataclass(frozen=True, slots=True)
class Settled:
    """A counterfactual and the result of its verification.

    Attributes:
        counterfactual: The counterfactual, with `possibly_equivalent` set if it is.
        verdict: The verdict behind the result; None if no judge could judge it.
        reason: Whether it was run, and what that showed, or why it was not: `run, equal on 31 inputs`.
    """

    counterfactual: Counterfactual
    finding: Settlement
    verdict: Verdict | None
    reason: str


def settle(
    document: Document,
    counterfactuals: Iterable[Counterfactual],
    sandbox: Sandbox,
    *,
    python: Path | None = None,
    cancel: Event | None = None,
    progress: ProgressCallback | None = None,
) -> list[Settled]:
    """Verify counterfactuals by the tests of their function and by differential execution, if available.

    Args:
        python: The interpreter; by default that of the file's project.
        progress: Called for each counterfactual.

    Raises:
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    waiting = list(counterfactuals)
    setting = Setting(sandbox, python or interpreter_for(document.path), LIMITS, cancel)
    benches = _Benches(document, setting)
    steps = Steps(cancel, progress)
    settled = []
    for number, counterfactual in enumerate(waiting):
        steps.next(f"{counterfactual.mutation}, line {counterfactual.start_line}", number, len(waiting))
        settled.append(_settle(counterfactual, *benches.of(counterfactual.function), cancel))
    return settled


def counts(settled: Iterable[Settled]) -> dict[Settlement, int]:
    """The number of counterfactuals with each result."""
    tally = Counter(outcome.finding for outcome in settled)
    return {finding: tally[finding] for finding in Settlement}


def _settle(
    counterfactual: Counterfactual, judges: Sequence[Judge], reason: str, cancel: Event | None
) -> Settled:
    heard, basis = [], []
    for judge in judges:
        verdict = judge.judge(counterfactual.source, cancel=cancel)
        if verdict.judgement is Judgement.REFUSED:
            continue
        heard.append(verdict)
        basis.append(_basis(judge, verdict))
        if not verdict.passed:
            finding = Settlement.DISCARDED if counterfactual.preserving else Settlement.BREAKS
            evidence = verdict.evidence
            reason = f"run, differs by {evidence.attribution}"
            reason += f": {evidence.failed}" if evidence.failed else ""
            return Settled(counterfactual, finding, verdict, reason)
    if not heard:
        return Settled(counterfactual, Settlement.UNSETTLED, None, f"{NOT_RUN}: {reason}")
    run = f"run, {' and '.join(basis)}"
    if counterfactual.preserving:
        return Settled(counterfactual, Settlement.HOLDS, heard[-1], run)
    return Settled(
        replace(counterfactual, possibly_equivalent=True),
        Settlement.POSSIBLY_EQUIVALENT,
        heard[-1],
        run,
    )


def _basis(judge: Judge, verdict: Verdict) -> str:
    if isinstance(judge, ComparingJudge):
        return f"equal on {plural(judge.tests, 'input')}, which reach {judge.reached} of the original"
    return f"passes {plural(verdict.evidence.tests, verdict.evidence.attribution)}"


class _Paced(Judge):
    """A judge of counterfactuals whose time limit depends on the original's run time; see `pace.py`."""

    attribution, tests = "", 0

    def __init__(self, judge: Judge, original: Verdict) -> None:
        self._judge, self._original = judge, original
        self.attribution, self.tests = judge.attribution, judge.tests

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        with pace(self._original):
            return self._judge.judge(program, cancel=cancel)


class _Benches:
    """The judges of each function, found when its first counterfactual is verified."""

    def __init__(self, document: Document, setting: Setting) -> None:
        self._document, self._setting = document, setting
        self._functions = {function.qualname: function for function in functions(document)}
        self._found: dict[str, tuple[list[Judge], str]] = {}

    def of(self, qualname: str) -> tuple[list[Judge], str]:
        """The judges, and the reason if there are none."""
        if qualname not in self._found:
            self._found[qualname] = self._look(qualname)
        return self._found[qualname]

    def _look(self, qualname: str) -> tuple[list[Judge], str]:
        reason = "it is in no function"
        parts = qualname.split(".")
        for end in range(len(parts), 0, -1):  # a nested function is judged by the behaviour of the outer one
            function = self._functions.get(".".join(parts[:end]))
            if function is not None:
                judges, why = self._judges(function)
                if judges:
                    return judges, ""
                reason = why if reason.startswith("it is in no") else reason
        return [], reason

    def _judges(self, function: Function) -> tuple[list[Judge], str]:
        document, setting = self._document, self._setting
        judges: list[Judge] = []
        tests = find_judge(document, function, setting, fallback=False, witnessed=False)
        if tests is not None:
            original = tests.judge(document.text, cancel=setting.cancel)
            if original.passed:
                judges.append(_Paced(tests, original))
        judge = behaviour_of(document, function, setting)
        if isinstance(judge, str):
            return judges, judge
        return [*judges, judge], ""
