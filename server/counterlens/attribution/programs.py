"""The verdict on a single program: by another program, or by the tests found beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.attribution.base import Evidence, Judgement, Setting, Strength, Verdict
from counterlens.attribution.languages import behaviour_of, judged, program_language
from counterlens.attribution.registry import find_judge
from counterlens.attribution.test_run import brief
from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions


def judge_against(
    program: str,
    original: Path,
    setting: Setting,
    *,
    function: str | None = None,
    cancel: Event | None = None,
) -> Verdict:
    """Compare the behaviour of a program with that of another one, function by function.

    Args:
        program: Its text.
        original: The other program, which is right.
        setting: Their sandbox and interpreter.
        function: The function to compare; by default every one that both define at their top level.
        cancel: Set to cancel.

    Raises:
        SourceError: the original cannot be read, or does not define the function.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    document = Document.read(original)
    known, entries = functions(document), judged(document.language).entries(document)
    compared = [each for each in known if each.qualname == function] if function else entries
    if function and not compared:
        names = ", ".join(each.qualname for each in entries)
        raise SourceError(f"{original} does not define {function}", f"It defines: {names or 'none'}")
    if not compared:
        raise SourceError(f"{original} defines no function", "Give a file with the functions to compare")
    passed: list[Verdict] = []
    reasons: list[str] = []
    for each in compared:
        judge, reason = behaviour_of(document, each, replace(setting, cancel=cancel))
        if judge is None:
            reasons.append(f"{each.qualname}: {reason}")
            continue
        verdict = judge.judge(program, cancel=cancel)
        if not verdict.passed:
            return verdict
        passed.append(verdict)
    if not passed:
        return Verdict(Judgement.REFUSED, Evidence("differential", 0, None, "\n".join(reasons)))
    return _joined(passed, reasons)


def judge_by_itself(
    program: str, path: Path, setting: Setting, *, function: str | None = None, cancel: Event | None = None
) -> Verdict:
    """Judge a program by its own docstring examples, and by the tests beside it.

    The whole suite runs once if no test mentions it, to find the tests that reach it.
    """
    document = Document(program, path, program_language(path))
    names = [each for each in functions(document) if function in {None, each.qualname}]
    if function and not names:
        raise SourceError(f"{path} does not define {function}")
    verdicts = []
    for each in names:
        judge = find_judge(
            document,
            each,
            setting.sandbox,
            python=setting.python,
            limits=setting.limits,
            fallback=False,
            vetted=False,
            excluded=setting.excluded,
        )
        if judge is not None:
            verdicts.append(judge.judge(program, cancel=cancel))
            if not verdicts[-1].passed:
                return verdicts[-1]
    by_running = judged(document.language).by_running
    for each in names if not verdicts else ():
        judge = by_running(document, each, setting) if by_running is not None else None
        if judge is not None:
            verdicts.append(judge.judge(program, cancel=cancel))
            if not verdicts[-1].passed:
                return verdicts[-1]
    if verdicts:
        return _joined(verdicts, [])
    lacking = judged(document.language).unreadable(program) or "it has no tests and no examples"
    reason = f"nothing can judge it: {lacking}; give --tests or --against"
    return Verdict(Judgement.REFUSED, Evidence("none", 0, None, reason))


def _joined(passed: list[Verdict], left_out: list[str]) -> Verdict:
    """All verdicts as one, as strong as the weakest."""
    order = list(Strength)
    weakest = max(passed, key=lambda each: order.index(each.evidence.strength or Strength.WEAK)).evidence
    notes = [each.evidence.message for each in passed if each.evidence.message] + left_out
    evidence = replace(
        weakest, tests=sum(each.evidence.tests for each in passed), message=brief("\n".join(notes))
    )
    return Verdict(Judgement.PASSED, evidence, sum(each.seconds for each in passed))
