"""Tests settle a doubt: a function's own, run with what stands there and with the alternative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.attribution.base import LIMITS, Judge, Judgement, Verdict
from counterlens.attribution.registry import find_judge
from counterlens.doubt.marking import Doubt, Telling
from counterlens.sandbox.base import Limits, Sandbox


def settled(
    found: Iterable[Doubt],
    sandbox: Sandbox,
    *,
    python: Path | None = None,
    limits: Limits = LIMITS,
    cancel: Event | None = None,
    progress: Callable[[Doubt], None] | None = None,
) -> Iterator[Doubt]:
    """Each doubt with what tests say of it; those whose alternative breaks what works are left out.

    Args:
        found: Doubts of one document, function by function.
        sandbox: Where programs are run.
        python: The interpreter; by default that of the file's project.
        limits: What each program may use.
        cancel: Set it to give up.
        progress: Called with each doubt before it is settled.

    Raises:
        SandboxError, Cancelled: as `find_judge` and `Judge.judge`.
    """
    judges: dict[int, tuple[Judge | None, Verdict | None]] = {}
    for doubt in found:
        if progress:
            progress(doubt)
        function, document = doubt.scope.function, doubt.scope.document
        if function.start not in judges:
            judge = find_judge(
                document,
                function,
                sandbox,
                python=python,
                limits=limits,
                fallback=False,
                cancel=cancel,
            )
            judges[function.start] = (judge, _verdict(judge, document.text, cancel) if judge else None)
        judge, stands = judges[function.start]
        changed = _verdict(judge, doubt.fixed, cancel) if judge is not None and stands is not None else None
        if stands is None or changed is None:
            yield doubt
        elif changed.passed or not stands.passed:
            tests = Telling.FAIL if changed.passed and not stands.passed else Telling.SAME
            yield replace(doubt, tests=tests, failing="" if stands.passed else _failing(stands))


def _verdict(judge: Judge, program: str, cancel: Event | None) -> Verdict | None:
    """Whether a program passes; None where it could not be run."""
    verdict = judge.judge(program, cancel=cancel)
    return None if verdict.judgement is Judgement.REFUSED else verdict


def _failing(verdict: Verdict) -> str:
    """The first case that fails, and what happens there."""
    return "\n".join(filter(None, (verdict.evidence.failed, verdict.evidence.message.strip())))
