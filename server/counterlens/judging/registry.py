"""Find the judge of a function: the attribution functions of its language, in the order tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Event

from counterlens.counting import plural
from counterlens.judging.base import CASES, Attribution, Judge, Judgement, Setting
from counterlens.judging.comparing import ID as DIFFERENTIAL
from counterlens.judging.comparing import ComparingJudge
from counterlens.judging.joint import JointJudge
from counterlens.judging.languages import judging_of
from counterlens.judging.witnesses import WitnessedJudge
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
        the judge by all of them, whose verdict on the document is then the result.

    Raises:
        SourceError: programs in the document's language are not judged.
        SandboxError: the interpreter does not work.
        Cancelled: `setting.cancel` was set.
    """
    language = judging_of(document.language)
    first = language.surveyed if setting.surveyed else language.tests
    judges, unusable = _usable(first, document, function, setting)
    judges = judges or [judge for judge in unusable if _fails_its_tests(judge, document, setting.cancel)]
    if judges or not fallback:
        if not judges:
            return None
        judge = JointJudge(judges) if len(judges) > 1 else judges[0]
        return _with_witnesses(judge, document, function, setting) if witnessed else judge
    for name, find in language.fallbacks.items():
        others, _ = _usable({name: find}, document, function, setting)
        if others:
            return _with_witnesses(others[0], document, function, setting) if witnessed else others[0]
    return None


def _with_witnesses(judge: Judge, document: Document, function: Function, setting: Setting) -> Judge:
    """A judge with the other witnesses, if it judges by tests."""
    if isinstance(judge, ComparingJudge):
        return judge
    return WitnessedJudge(judge, document, function, replace(setting, report=None))


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
    _, unusable = _usable(language.tests, document, function, setting)
    reasons = [*unusable.values()] or [language.untested]
    if not unusable and _all_excluded(document, function, setting):
        reasons = ["the settings exclude every test that mentions it"]
    for name in language.fallbacks if fallback else ():
        shown = language.why_not[name](document, function, setting) or ""
        known = name == DIFFERENTIAL and shown
        reasons.append(f"its behaviour cannot be judged: {shown}" if known else shown)
    return "; ".join(filter(None, reasons))


def _all_excluded(document: Document, function: Function, setting: Setting) -> bool:
    """Whether there would be tests of a function if none were excluded."""
    anyway = replace(setting, excluded=())
    judges = (find(document, function, anyway) for find in judging_of(document.language).tests.values())
    return bool(setting.excluded) and any(judge is not None for judge in judges)
