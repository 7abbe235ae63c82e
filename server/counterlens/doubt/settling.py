"""Verifies doubts by the function's own tests, run on the existing code and on the alternative.

A function that fails its own tests: the likeliest alternative that passes all of them, or a mark at its name.

Tests show more than the model's preference, so alternatives of all kinds run here, including silent ones, in
the order of the likelihood of their first tokens. A few tests can also be passed by accident: a fix is
confirmed only if no other alternative that passes behaves differently on an input.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Event

from counterlens.confidence.exclusion import ignore_comments
from counterlens.doubt.alternative import Alternative
from counterlens.doubt.blaming import is_raised_elsewhere
from counterlens.doubt.failing import FailedTest, FailingFunction, WrittenFix, nearest_failure
from counterlens.doubt.generating import changed_text
from counterlens.doubt.marking import Doubt, Mark, Verification, doubts, is_silenced
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import Trial, ranked_by_head
from counterlens.errors import UnscorableError
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting, StandingByTests
from counterlens.judging.comparing import ComparingJudge, Distinction
from counterlens.judging.languages import behaviour_of
from counterlens.judging.pace import ANSWER, MUTANT, at_most
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import JointJudge, find_judge
from counterlens.models.base import Model
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document

MOST = 400
"""Maximum number of alternatives to run per function."""
AT_ONCE = os.cpu_count() or 1
"""Number of alternatives that run side by side."""
MOST_ENDLESS = 3
"""Maximum number of alternatives that may time out."""
MOST_TRIED = 6
"""Maximum number of alternatives that pass and that the model compares with the existing code."""
MOST_COMPARED = 24
"""Maximum number of rivals that run on inputs; with more, a fix is not confirmed."""
LEAST_FIX = 0.1
"""Minimum share of a fix, beside the existing code: a few tests can be passed by accident."""
MOST_CALLERS = 3
"""Maximum number of functions whose tests judge a function without tests of its own, which they call."""


Rewrite = Callable[[Model, FailingFunction, Judge, Setting], WrittenFix | None]
"""Has a model write a version of a failing function that passes the tests of a judge."""
Passing = tuple[Alternative, str, Callable[[], Trial]]
"""An alternative, the whole document with it, and what tries it with the model."""


def settle(
    model: Model,
    scope: DoubtScope,
    given_doubts: Sequence[Doubt] | None,
    sandbox: Sandbox,
    *,
    python: Path | None = None,
    limits: Limits = LIMITS,
    excluded: Sequence[str] = (),
    cancel: Event | None = None,
    progress: Callable[[str], None] | None = None,
    failed: Callable[[FailingFunction], None] | None = None,
    rewrite: Rewrite | None = None,
) -> list[Mark]:
    """The doubts of a function with the result of its tests for each, or its mark if it fails its tests.

    Doubts whose alternative breaks passing tests are left out. An input is searched that distinguishes an
    alternative from the existing code if no test does. If the function fails its tests and none of the
    alternatives passes them, further ones are tried (see `fix_for`), and if no likely one passes, the
    function itself is marked.

    Args:
        given_doubts: Doubts of the function. None: the model is asked, but only if the tests mark nothing,
            since a fix is searched among more than what the model alone would mark.
        sandbox: The sandbox for programs.
        python: The interpreter; by default that of the file's project.
        limits: The limits of each program.
        excluded: Patterns of tests that are never used.
        progress: Called with a description of the current step.
        failed: Called with the mark at the function as soon as its tests fail, before a fix is searched.
        rewrite: Has the model write the function anew where no alternative is a fix.

    Raises:
        ModelError: as `fix_for`.
        SandboxError, Cancelled: as `find_judge` and `Judge.judge`.
    """
    say = progress or (lambda _: None)
    document, name = scope.document, f"{scope.document.path}::{scope.function.qualname}"
    say(f"running the tests of {name}")
    setting = Setting(
        sandbox, python or interpreter_for(document.path), limits, cancel, excluded=tuple(excluded)
    )
    judge = judge_for(scope, setting)
    stands = judge.standing(document.text, cancel=cancel) if judge else None
    if stands is None:
        return list(doubts(model, scope, cancel=cancel) if given_doubts is None else given_doubts)
    test = nearest_failure(scope, stands.failures)
    mark = _mark_of(scope, test, stands)
    if mark is not None and failed is not None:
        failed(mark)
    if not stands.failed:
        given_doubts = doubts(model, scope, cancel=cancel) if given_doubts is None else given_doubts
        return list(_with_verdicts(scope, given_doubts, stands, setting, say))
    say(f"looking for fixes that pass the tests of {name}")
    fix = None
    with contextlib.suppress(UnscorableError):
        fix = fix_for(model, scope, stands.judge, test, setting, MUTANT.after(stands.seconds))
    if fix is None and mark is not None and rewrite is not None:
        say(f"having the model write {name} anew")
        with at_most(ANSWER.after(stands.seconds)):
            mark = replace(mark, written=rewrite(model, mark, stands.judge, setting))
    if given_doubts is None:
        given_doubts = doubts(model, scope, cancel=cancel) if fix is None and mark is None else ()
    place = fix.alternative.place if fix else (0, 0)
    others = [
        replace(doubt, tests=Verification.SAME, failed=test)
        for doubt in given_doubts
        if doubt.alternative.place[1] <= place[0] or place[1] <= doubt.alternative.place[0]
    ]
    own = fix or mark
    return sorted([*others, own] if own else others, key=lambda mark: mark.place)


def _mark_of(scope: DoubtScope, test: FailedTest | None, stands: StandingByTests) -> FailingFunction | None:
    """The mark at a function whose tests fail; None if the error is not its own, or a comment silences it."""
    if test is None or not test.near:
        return None
    names = frozenset(f"{each.file}::{each.name}" for each in stands.failures)
    mark = FailingFunction(scope, test, names)
    hidden = is_raised_elsewhere(mark) or is_silenced(ignore_comments(scope.document), mark.place)
    return None if hidden else mark


def _with_verdicts(
    scope: DoubtScope,
    all_doubts: Sequence[Doubt],
    stands: StandingByTests,
    setting: Setting,
    say: Callable[[str], None],
) -> Iterator[Doubt]:
    """The doubts of a function that passes its tests, without those whose alternative breaks them."""
    standing = StudiedVersion(scope, scope.document.text, setting)
    with at_most(MUTANT.after(stands.seconds)):
        verdicts = stands.judge.judge_all([doubt.fixed for doubt in all_doubts], cancel=setting.cancel)
    for doubt, changed in zip(all_doubts, verdicts, strict=True):
        if changed.judgement is Judgement.REFUSED:
            yield doubt
        elif changed.passed:
            say(f"looking for an input that distinguishes two versions of {scope.function.qualname}")
            apart = standing.difference(doubt.fixed)
            yield replace(doubt, tests=Verification.SAME, apart=apart)


def judge_for(scope: DoubtScope, setting: Setting) -> Judge | None:
    """The judge by the tests of a function, or of those that call it if it has none; None without tests.

    Raises:
        SandboxError, Cancelled: as `find_judge`.
    """
    by_name = {function.qualname: function for function in scope.file.functions} | {
        scope.function.qualname: scope.function
    }
    names = [scope.function.qualname]
    seen = set(names)
    while names:
        judges = [
            judge
            for name in names[:MOST_CALLERS]
            if (
                judge := find_judge(
                    scope.document,
                    by_name[name],
                    setting,
                    fallback=False,
                    witnessed=False,
                )
            )
        ]
        if judges:
            return JointJudge(judges) if len(judges) > 1 else judges[0]
        names = list(
            dict.fromkeys(
                caller for name in names for caller in scope.file.callers(name) if caller not in seen
            )
        )
        seen.update(names)
    return None


def fix_for(
    model: Model,
    scope: DoubtScope,
    judge: Judge,
    failed: FailedTest | None,
    setting: Setting,
    limit: float | None = None,
) -> Doubt | None:
    """The likeliest alternative that passes all tests of a function; None if no likely one does.

    It is confirmed if all others that pass behave like it on inputs.

    Args:
        model: The model, which determines the order of trials.
        scope: The function, which fails its tests as it is.
        failed: The nearest failing test, if known.
        setting: The environment for comparing alternatives with each other, and cancellation.
        limit: The processor time in seconds that the tests of an alternative may take, if it is limited.

    Raises:
        UnscorableError, ModelError, Cancelled: as `ranked_by_head`.
        SandboxError, Cancelled: as `Judge.judge`.
    """
    passing = _passing(model, scope, judge, limit, setting.cancel)
    tried = sorted(
        ((trial(), program) for _, program, trial in passing[:MOST_TRIED]), key=lambda each: -each[0].gain
    )
    likely = (each for each in tried if each[0].share >= LEAST_FIX)
    best = next(likely, None)
    if best is None:
        return None
    trial, program = best
    rivals = [(alternative, text) for alternative, text, _ in passing if alternative != trial.alternative]
    version = StudiedVersion(scope, program, setting)
    for rival, text in rivals[:MOST_COMPARED]:
        if not version.does_the_same(text):
            return Doubt(scope, trial, Verification.UNCONFIRMED, failed, rival, version.difference(text))
    unknown = len(rivals) > MOST_COMPARED
    return Doubt(scope, trial, Verification.UNCONFIRMED if unknown else Verification.FAIL, failed)


def _passing(
    model: Model, scope: DoubtScope, judge: Judge, limit: float | None, cancel: Event | None
) -> list[Passing]:
    """The alternatives that pass the tests, likeliest first tokens first."""
    comments, endless = ignore_comments(scope.document), 0
    ranked = (
        (alternative, changed_text(scope.document, alternative), trial)
        for _, alternative, trial in ranked_by_head(model, scope, cancel=cancel)
        if not is_silenced(comments, alternative.place)
    )
    passing: list[Passing] = []
    left = islice(ranked, MOST)
    while some := list(islice(left, AT_ONCE)):
        with at_most(limit):
            verdicts = judge.judge_all([program for _, program, _ in some], cancel=cancel)
        passing += [each for each, verdict in zip(some, verdicts, strict=True) if verdict.passed]
        endless += sum(verdict.judgement is Judgement.TIMED_OUT for verdict in verdicts)
        if endless >= MOST_ENDLESS:
            break
    return passing


@dataclass(frozen=True)
class StudiedVersion:
    """A version of a function, run on many inputs when it is first compared with another.

    Attributes:
        scope: The function, in the document that all versions share.
        program: The whole document in this version.
        setting: The sandbox, the interpreter, the limits and cancellation.
    """

    scope: DoubtScope
    program: str
    setting: Setting

    @cached_property
    def _judge(self) -> ComparingJudge | None:
        version = Document(self.program, self.scope.document.path)
        judge = behaviour_of(version, self.scope.function, self.setting)
        return None if isinstance(judge, str) else judge

    def difference(self, other: str) -> Distinction | None:
        """The smallest input found on which another version behaves differently.

        Raises:
            SandboxError, Cancelled: as `Judge.judge`.
        """
        return self._judge.difference(other, cancel=self.setting.cancel) if self._judge else None

    def does_the_same(self, other: str) -> bool:
        """Whether another version ran and behaved in the same way on every input.

        Raises:
            SandboxError, Cancelled: as `Judge.judge`.
        """
        return self._judge is not None and self._judge.judge(other, cancel=self.setting.cancel).passed
