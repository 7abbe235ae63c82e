"""Find the judge of a function: the attribution functions of its language, in the order tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

from counterlens.counting import plural
from counterlens.judging.base import (
    CASES,
    Attribution,
    Evidence,
    HoleReach,
    Judge,
    Judgement,
    Setting,
    StandingByTests,
    Verdict,
)
from counterlens.judging.comparing import ID as DIFFERENTIAL
from counterlens.judging.comparing import ComparingJudge
from counterlens.judging.languages import judging_of
from counterlens.judging.witnesses import NOT_RUN, WitnessedJudge, is_run
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


def find_judge(
    document: Document,
    function: Function,
    setting: Setting,
    *,
    fallback: bool = True,
    witnessed: bool = True,
) -> Judge | None:
    """The judge of a function: by all attribution functions that find tests of it, or by its behaviour.

    Args:
        document: The original file; its docstrings and its place are used, not those of a judged program.
        setting: The sandbox, the interpreter and the limits of programs, and which tests count.
        fallback: Whether to do more for a function that no test mentions: the project's tests run once, to
            find out whether any of them reaches it; then the function itself runs a few hundred times, to
            record its behaviour.
        witnessed: Whether the original and cheats are heard about programs that pass; see `WitnessedJudge`.

    Returns:
        None if nothing can judge the function; `why_no_judge` says why. If the function fails all its tests,
        the judge by all of them, whose verdict on the document is then the result. Tests that do not run it
        do not judge it.

    Raises:
        SourceError: programs in the document's language are not judged.
        SandboxError: the interpreter does not work.
        Cancelled: `setting.cancel` was set.
    """
    language = judging_of(document.language)
    first = language.surveyed if setting.surveyed else language.tests
    judges, unusable = _usable(first, document, function, setting)
    judges = judges or [judge for judge in unusable if _fails_its_tests(judge, document, setting.cancel)]
    judge = _as_one(judges)
    if judge is not None and not is_run(judge, document, function, setting.cancel):
        judge = None
    for name, find in language.fallbacks.items() if judge is None and fallback else ():
        judges, _ = _usable({name: find}, document, function, setting)
        judge = _as_one(judges)
        if judge is not None:
            break
    if judge is None or not witnessed or isinstance(judge, ComparingJudge):
        return judge
    return WitnessedJudge(judge, document, function, replace(setting, report=None))


def _as_one(judges: Sequence[Judge]) -> Judge | None:
    return JointJudge(judges) if len(judges) > 1 else next(iter(judges), None)


def _usable(
    attributions: Mapping[str, Attribution],
    document: Document,
    function: Function,
    setting: Setting,
) -> tuple[list[Judge], dict[Judge, str]]:
    """The judges by the usable tests, and the reasons why others are unusable."""
    judges: list[Judge] = []
    reasons: dict[Judge, str] = {}
    for find in attributions.values():
        judge = find(document, function, setting)
        if setting.vetted and judge is not None:
            usable = judge.vetted(document.text, setting.cancel)
            if isinstance(usable, str):
                cases = plural(judge.tests, CASES[judge.attribution])
                reasons[judge] = f"its {cases} cannot be used: {usable}"
            else:
                judges.append(usable)
        elif judge is not None:
            judges.append(judge)
    return judges, reasons


def _fails_its_tests(judge: Judge, document: Document, cancel: Event | None) -> bool:
    """Whether the document fails its tests, as opposed to tests that cannot run."""
    return judge.judge(document.text, cancel=cancel).judgement in {Judgement.FAILED, Judgement.TIMED_OUT}


def why_no_judge(
    document: Document,
    function: Function,
    setting: Setting,
    *,
    fallback: bool = True,
) -> str:
    """Why `find_judge` found nothing, one reason for each attribution function; it has the same arguments.

    Tests that were found but are unusable run once more.
    """
    setting = replace(setting, report=None, vetted=True, surveyed=False)
    language = judging_of(document.language)
    usable, unusable = _usable(language.tests, document, function, setting)
    judge = _as_one(usable)
    reasons = [*unusable.values()] or [language.untested]
    if judge is not None and not is_run(judge, document, function, setting.cancel):
        reasons = [NOT_RUN.format(names="it")]
    if not unusable and _all_excluded(document, function, setting):
        reasons = ["the settings exclude every test that mentions it"]
    for name in language.fallbacks if fallback else ():
        shown = language.why_not[name](document, function, setting) or ""
        is_differential = name == DIFFERENTIAL and shown
        reasons.append(f"its behaviour cannot be judged: {shown}" if is_differential else shown)
    return "; ".join(filter(None, reasons))


def _all_excluded(document: Document, function: Function, setting: Setting) -> bool:
    """Whether there would be tests of a function if none were excluded."""
    anyway = replace(setting, excluded=())
    judges = (find(document, function, anyway) for find in judging_of(document.language).tests.values())
    return bool(setting.excluded) and any(judge is not None for judge in judges)


class JointJudge(Judge):
    """Several judges as one: a program passes if it passes with every judge that could judge it."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = judges

    @property
    def attribution(self) -> str:
        """The ids of the attribution functions, joined by `+`."""
        return "+".join(dict.fromkeys(judge.attribution for judge in self.judges))

    @property
    def tests(self) -> int:
        """The total number of their cases."""
        return sum(judge.tests for judge in self.judges)

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the judges in order until the program fails with one; see `Judge.judge`."""
        heard: list[Verdict] = []
        for judge in self.judges:
            heard.append(judge.judge(program, cancel=cancel))
            if heard[-1].judgement not in {Judgement.PASSED, Judgement.REFUSED}:
                break
        able = [verdict for verdict in heard if verdict.judgement is not Judgement.REFUSED] or heard
        last, tests = able[-1], sum(verdict.evidence.tests for verdict in able)
        names = "+".join(dict.fromkeys(verdict.evidence.attribution for verdict in able))
        notes = [v.evidence.message for v in heard if v.evidence.message and v is not last]
        message = "\n".join([last.evidence.message, *notes] if last.evidence.message else notes)
        shown = message if last.passed else last.evidence.message
        evidence = Evidence(names, tests, last.evidence.failed, shown)
        used = [verdict.seconds if verdict.cpu_seconds is None else verdict.cpu_seconds for verdict in heard]
        return Verdict(last.judgement, evidence, sum(verdict.seconds for verdict in heard), max(used))

    def standing(self, program: str, *, cancel: Event | None = None) -> StandingByTests | None:
        """The tests of all of them that a program fails."""
        parts = [judge.standing(program, cancel=cancel) for judge in self.judges]
        results = [part for part in parts if part is not None]
        if not results:
            return None
        return StandingByTests(
            JointJudge([part.judge for part in results]) if len(results) > 1 else results[0].judge,
            tuple(failure for part in results for failure in part.failures),
            any(part.failed for part in results),
            next((part.message for part in results if part.message), ""),
            max(part.seconds for part in results),
        )

    def recorded_calls(self, target: str, cancel: Event | None) -> Sequence[Any]:
        """The calls that the tests of all of them make."""
        return [call for judge in self.judges for call in judge.recorded_calls(target, cancel)]

    def reach(self, lines: range) -> HoleReach | None:
        """The coverage by the first of them that knows it."""
        return next(filter(None, (judge.reach(lines) for judge in self.judges)), None)

    @property
    def described(self) -> str:
        """Their descriptions, such as `1 test and 2 doctests`."""
        return " and ".join(judge.described for judge in self.judges)
