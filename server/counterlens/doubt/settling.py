"""Verifies doubts by the function's own tests, run on the existing code and on the alternative.

A function that fails its own tests: the likeliest alternative that passes all of them, or a mark at its name.

Tests show more than the model's preference, so alternatives of all kinds run here, including silent ones, in
the order of the likelihood of their first tokens. A few tests can also be passed by accident: a fix is clear
only if no other alternative that passes is as likely and behaves differently.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Event

from counterlens.confidence.exclusion import ignore_comments
from counterlens.doubt.alternative import Alternative
from counterlens.doubt.blaming import is_raised_elsewhere
from counterlens.doubt.failing import FailedTest, FailingFunction, nearest_failure
from counterlens.doubt.generating import changed_text
from counterlens.doubt.marking import Doubt, Mark, Verification, doubts, is_silenced
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import LEAST_HEAD, Trial, ranked_by_head
from counterlens.errors import UnscorableError
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting, StandingByTests
from counterlens.judging.comparing import ComparingJudge, Distinction
from counterlens.judging.languages import behaviour_of
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import JointJudge, find_judge
from counterlens.models.base import Model
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document

MOST = 400
"""Maximum number of alternatives to run per function."""
AT_ONCE = (8, 24, 64)
"""Numbers of alternatives that run together; few at first, so that a fix among the likeliest comes soon."""
MOST_ENDLESS = 3
"""Maximum number of alternatives that may time out."""
MOST_PASSING = 6
"""Maximum number of alternatives that pass and are compared."""
LEAST_GAIN = -4.0
"""Nats: a fix may not be much less likely than the existing code; a few tests can be passed by accident."""
CLEAR = 4.0
"""Nats: an alternative that passes the tests is a rival of the likeliest one within this distance."""
MOST_CALLERS = 3
"""Maximum number of functions whose tests judge a function without tests of its own, which they call."""


def settle(
    model: Model,
    scope: DoubtScope,
    known: Sequence[Doubt] | None,
    sandbox: Sandbox,
    *,
    python: Path | None = None,
    limits: Limits = LIMITS,
    excluded: Sequence[str] = (),
    cancel: Event | None = None,
    progress: Callable[[str], None] | None = None,
    failed: Callable[[FailingFunction], None] | None = None,
) -> list[Mark]:
    """The doubts of a function with the result of its tests for each, or its mark if it fails its tests.

    Doubts whose alternative breaks passing tests are left out. An input is searched that distinguishes an
    alternative from the existing code if no test does. If the function fails its tests and none of the
    alternatives passes them, further ones are tried (see `fix_for`), and if no likely one passes, the
    function itself is marked.

    Args:
        known: Doubts of the function. None: the model is asked, but only if the tests mark nothing, since
            a fix is searched among more than what the model alone would mark.
        sandbox: The sandbox for programs.
        python: The interpreter; by default that of the file's project.
        limits: The limits of each program.
        excluded: Patterns of tests that are never used.
        progress: Called with a description of the current step.
        failed: Called with the mark at the function as soon as its tests fail, before a fix is searched.

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
        return list(doubts(model, scope, cancel=cancel) if known is None else known)
    test = nearest_failure(scope, stands.failures)
    mark = _mark_of(scope, test, stands)
    if mark is not None and failed is not None:
        failed(mark)
    later = known is None and stands.failed
    if known is None:
        known = () if later else doubts(model, scope, cancel=cancel)
    left = _judged(scope, known, stands, test, setting, say)
    if not stands.failed or any(doubt.tests is Verification.FAIL for doubt in left):
        return list(left)
    say(f"looking for fixes that pass the tests of {name}")
    fix = None
    with contextlib.suppress(UnscorableError):
        fix = fix_for(model, scope, stands.judge, test, setting)
    if fix is None and mark is None and later:
        return list(_judged(scope, doubts(model, scope, cancel=cancel), stands, test, setting, say))
    if fix is None:
        return [mark, *left] if mark is not None else list(left)
    start, end = fix.alternative.place
    clear = [mark for mark in left if mark.alternative.place[1] <= start or end <= mark.alternative.place[0]]
    return sorted([*clear, fix], key=lambda mark: mark.place)


def _mark_of(scope: DoubtScope, test: FailedTest | None, stands: StandingByTests) -> FailingFunction | None:
    """The mark at a function whose tests fail; None if the error is not its own, or a comment silences it."""
    if test is None or not test.near:
        return None
    names = frozenset(f"{each.file}::{each.name}" for each in stands.failures)
    mark = FailingFunction(scope, test, names)
    hidden = is_raised_elsewhere(mark) or is_silenced(ignore_comments(scope.document), mark.place)
    return None if hidden else mark


def _judged(
    scope: DoubtScope,
    known: Sequence[Doubt],
    stands: StandingByTests,
    test: FailedTest | None,
    setting: Setting,
    say: Callable[[str], None],
) -> list[Doubt]:
    """The doubts with the results of the tests, without those whose alternative breaks passing tests."""
    judge, cancel = stands.judge, setting.cancel
    standing = StudiedVersion(scope, scope.document.text, setting)
    left: list[Doubt] = []
    verdicts = judge.judge_variants([doubt.fixed for doubt in known], cancel=cancel)
    for doubt, changed in zip(known, verdicts, strict=True):
        if changed.judgement is Judgement.REFUSED:
            left.append(doubt)
        elif stands.failed:
            fixes = changed.passed and _passes_alone(judge, doubt.fixed, len(known), cancel)
            tests = Verification.FAIL if fixes else Verification.SAME
            left.append(replace(doubt, tests=tests, failed=test))
        elif changed.passed:
            say(f"looking for an input that distinguishes two versions of {scope.function.qualname}")
            apart = standing.difference(doubt.fixed)
            left.append(replace(doubt, tests=Verification.SAME, apart=apart))
    return left


def judge_for(scope: DoubtScope, setting: Setting) -> Judge | None:
    """The judge by the tests of a function, or of those that call it if it has none; None without tests.

    Raises:
        SandboxError, Cancelled: as `find_judge`.
    """
    known = {function.qualname: function for function in scope.file.functions} | {
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
                    known[name],
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
) -> Doubt | None:
    """The likeliest alternative that passes all tests of a function; None if no likely one does.

    The doubt names a rival if the tests do not decide between the two.

    Args:
        model: The model, which determines the order of trials.
        scope: The function, which fails its tests as it is.
        failed: The nearest failing test, if known.
        setting: The environment for comparing alternatives with each other, and cancellation.

    Raises:
        UnscorableError, ModelError, Cancelled: as `ranked_by_head`.
        SandboxError, Cancelled: as `Judge.judge`.
    """
    passing = sorted(_passing(model, scope, judge, setting.cancel), key=lambda trial: -trial.gain)
    if not passing:
        return None
    best, *others = passing
    version = StudiedVersion(scope, changed_text(scope.document, best.alternative), setting)
    for rival in others:
        if best.gain - rival.gain >= CLEAR:
            break
        program = changed_text(scope.document, rival.alternative)
        if not version.does_the_same(program):
            apart = version.difference(program)
            return Doubt(scope, best, Verification.SAME, failed, rival.alternative, apart)
    return Doubt(scope, best, Verification.FAIL, failed)


def _passing(model: Model, scope: DoubtScope, judge: Judge, cancel: Event | None) -> list[Trial]:
    """The likely alternatives that pass; after the first one, only those run that may be as likely."""
    comments, endless = ignore_comments(scope.document), 0
    ranked = (
        each
        for each in ranked_by_head(model, scope, cancel=cancel)
        if not is_silenced(comments, each[1].place)
    )
    trials: list[Trial] = []
    for some in _batches(islice(ranked, MOST), judge):
        if trials:
            some = [each for each in some if each[0] >= LEAST_HEAD]
        if not some:
            break
        programs = [changed_text(scope.document, alternative) for _, alternative, _ in some]
        verdicts = judge.judge_variants(programs, cancel=cancel)
        for (head, _, trial), program, verdict in zip(some, programs, verdicts, strict=True):
            if not verdict.passed or (trials and head < LEAST_HEAD) or len(trials) == MOST_PASSING:
                continue
            if (tried := trial()).gain >= LEAST_GAIN and _passes_alone(judge, program, len(some), cancel):
                trials.append(tried)
        endless += sum(verdict.judgement is Judgement.TIMED_OUT for verdict in verdicts)
        if endless >= MOST_ENDLESS or len(trials) == MOST_PASSING:
            break
    return trials


Ranked = tuple[float, Alternative, Callable[[], Trial]]


def _batches(ranked: Iterator[Ranked], judge: Judge) -> Iterator[list[Ranked]]:
    """The alternatives in groups that run together; one by one if the judge cannot run several."""
    sizes = AT_ONCE if judge.at_once else (1,)
    for number in range(MOST):
        some = list(islice(ranked, sizes[min(number, len(sizes) - 1)]))
        if not some:
            return
        yield some


def _passes_alone(judge: Judge, program: str, together: int, cancel: Event | None) -> bool:
    """Whether a program that passed beside others passes by itself; see `variant_run.py`."""
    return together == 1 or judge.judge(program, cancel=cancel).passed


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
