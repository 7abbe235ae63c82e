"""Verifies doubts by the function's own tests, run on the existing code and on the alternative.

A function that fails its own tests: the likeliest alternative that passes them.

Tests show more than the model's preference, so alternatives of all kinds run here, including silent ones, in
the order of the likelihood of their first tokens. A few tests can also be passed by accident: a fix is clear
only if no other alternative that passes is as likely and behaves differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Event

from counterlens.confidence.ignoring import ignored
from counterlens.doubt.generating import changed_text
from counterlens.doubt.marking import Doubt, Verification, silenced
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import LEAST_HEAD, Trial, ranked_by_head
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting, Verdict
from counterlens.judging.comparing import ComparingJudge, Distinction
from counterlens.judging.languages import behaviour_of
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.models.base import Model
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document

MOST = 60
"""Maximum number of alternatives to run per function."""
MOST_ENDLESS = 3
"""Maximum number of alternatives that may time out."""
LEAST_GAIN = -4.0
"""Nats: a fix may not be much less likely than the existing code; a few tests can be passed by accident."""
CLEAR = 4.0
"""Nats: an alternative that passes the tests is a rival of the likeliest one within this distance."""


def settled(
    model: Model,
    scope: DoubtScope,
    found: Sequence[Doubt],
    sandbox: Sandbox,
    *,
    python: Path | None = None,
    limits: Limits = LIMITS,
    excluded: Sequence[str] = (),
    cancel: Event | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Doubt]:
    """The doubts of a function with the result of its tests for each.

    Doubts whose alternative breaks passing tests are left out. An input is searched that distinguishes an
    alternative from the existing code if no test does. Further alternatives are tried if the function fails
    its tests and none of the alternatives passes them; see `fix_for`.

    Args:
        model: The model.
        scope: The function.
        found: Its marks.
        sandbox: The sandbox for programs.
        python: The interpreter; by default that of the file's project.
        limits: The limits of each program.
        excluded: Patterns of tests that are never used.
        cancel: Set to cancel.
        progress: Called with a description of the current step.

    Raises:
        UnscorableError, ModelError: as `fix_for`.
        SandboxError, Cancelled: as `find_judge` and `Judge.judge`.
    """
    say = progress or (lambda _: None)
    document, name = scope.document, f"{scope.document.path}::{scope.function.qualname}"
    say(f"running the tests of {name}")
    judge = find_judge(
        document,
        scope.function,
        sandbox,
        python=python,
        limits=limits,
        fallback=False,
        witnessed=False,
        excluded=excluded,
        cancel=cancel,
    )
    stands = _verdict(judge, document.text, cancel) if judge else None
    if judge is None or stands is None:
        return list(found)
    setting = Setting(sandbox, python or interpreter_for(document.path), limits, cancel)
    standing = StudiedVersion(scope, document.text, setting, cancel)
    left = []
    failing = "" if stands.passed else _failing(stands)
    for doubt in found:
        changed = _verdict(judge, doubt.fixed, cancel)
        if changed is None:
            left.append(doubt)
        elif changed.passed or not stands.passed:
            tests = Verification.FAIL if changed.passed and not stands.passed else Verification.SAME
            apart = None
            if stands.passed:
                say(f"looking for an input that distinguishes two versions of {name}")
                apart = standing.difference(doubt.fixed)
            left.append(replace(doubt, tests=tests, failing=failing, apart=apart))
    if stands.passed or any(one.tests is Verification.FAIL for one in left):
        return left
    say(f"looking for fixes that pass the tests of {name}")
    fix = fix_for(model, scope, judge, failing, setting, cancel=cancel)
    if fix is None:
        return left
    start, end = fix.alternative.place
    clear = [one for one in left if one.alternative.place[1] <= start or end <= one.alternative.place[0]]
    return sorted([*clear, fix], key=lambda one: one.alternative.place)


def _verdict(judge: Judge, program: str, cancel: Event | None) -> Verdict | None:
    """The verdict on a program; None if it could not run."""
    verdict = judge.judge(program, cancel=cancel)
    return None if verdict.judgement is Judgement.REFUSED else verdict


def _failing(verdict: Verdict) -> str:
    """The first failing case, with its failure."""
    return "\n".join(filter(None, (verdict.evidence.failed, verdict.evidence.message.strip())))


def fix_for(
    model: Model,
    scope: DoubtScope,
    judge: Judge,
    failing: str,
    setting: Setting,
    *,
    cancel: Event | None = None,
) -> Doubt | None:
    """The likeliest alternative that passes a function's tests; None if no likely one does.

    The doubt names a rival if the tests do not decide between the two.

    Args:
        model: The model, which determines the order of trials.
        scope: The function, which fails its tests as it is.
        judge: Its tests.
        failing: The failing test, and its message.
        setting: The environment for comparing alternatives with each other.
        cancel: Set to cancel.

    Raises:
        UnscorableError, ModelError, Cancelled: as `ranked_by_head`.
        SandboxError, Cancelled: as `Judge.judge`.
    """
    passing = sorted(_passing(model, scope, judge, cancel), key=lambda one: -one.gain)
    if not passing:
        return None
    best, *others = passing
    version = StudiedVersion(scope, changed_text(scope.document, best.alternative), setting, cancel)
    for rival in others:
        if best.gain - rival.gain >= CLEAR:
            break
        program = changed_text(scope.document, rival.alternative)
        if not version.does_the_same(program):
            apart = version.difference(program)
            return Doubt(scope, best, Verification.SAME, failing, rival.alternative, apart)
    return Doubt(scope, best, Verification.FAIL, failing)


def _passing(model: Model, scope: DoubtScope, judge: Judge, cancel: Event | None) -> list[Trial]:
    """The likely alternatives that pass; after the first one, only those run that may be as likely."""
    comments, endless = ignored(scope.document), 0
    ranked = ranked_by_head(model, scope, cancel=cancel)
    found: list[Trial] = []
    for head, one, trial in islice((each for each in ranked if not silenced(comments, each[1])), MOST):
        if found and head < LEAST_HEAD:
            break
        verdict = judge.judge(changed_text(scope.document, one), cancel=cancel)
        if verdict.passed and (tried := trial()).gain >= LEAST_GAIN:
            found.append(tried)
        endless += verdict.judgement is Judgement.TIMED_OUT
        if endless >= MOST_ENDLESS:
            break
    return found


@dataclass(frozen=True)
class StudiedVersion:
    """A version of a function, run on many inputs when it is first compared with another.

    Attributes:
        scope: The function, in the document that all versions share.
        program: The whole document in this version.
        setting: The sandbox, the interpreter and the limits.
        cancel: Set to cancel.
    """

    scope: DoubtScope
    program: str
    setting: Setting
    cancel: Event | None = None

    @cached_property
    def _judge(self) -> ComparingJudge | None:
        version = Document(self.program, self.scope.document.path)
        judge = behaviour_of(version, self.scope.function, replace(self.setting, cancel=self.cancel))
        return None if isinstance(judge, str) else judge

    def difference(self, other: str) -> Distinction | None:
        """The smallest input found on which another version behaves differently.

        Raises:
            SandboxError, Cancelled: as `Judge.judge`.
        """
        return self._judge.difference(other, cancel=self.cancel) if self._judge else None

    def does_the_same(self, other: str) -> bool:
        """Whether another version ran and behaved in the same way on every input.

        Raises:
            SandboxError, Cancelled: as `Judge.judge`.
        """
        return self._judge is not None and self._judge.judge(other, cancel=self.cancel).passed
