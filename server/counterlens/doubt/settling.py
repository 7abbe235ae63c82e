"""Verifies doubts by the function's own tests, run on the existing code and on the alternative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.attribution.base import LIMITS, Judge, Judgement, Setting, Verdict
from counterlens.attribution.layout import interpreter_for
from counterlens.attribution.registry import find_judge
from counterlens.doubt.fixing import fix_for
from counterlens.doubt.marking import Doubt, Verification
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.telling_apart import StudiedVersion
from counterlens.models.base import Model
from counterlens.sandbox.base import Limits, Sandbox


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
