"""The versions of a function, and whether each keeps or breaks the meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Event

from counterlens.attribution.base import Judge, Judgement, Setting
from counterlens.attribution.languages import judged
from counterlens.attribution.layout import interpreter_for
from counterlens.attribution.pace import paced
from counterlens.attribution.registry import find_judge
from counterlens.mutations import Counterfactual, Survey, survey
from counterlens.mutations.assumptions import WHOLE_PROGRAM
from counterlens.mutations.languages import mutated
from counterlens.probes.probe import Context, Target
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function


class Standing(StrEnum):
    """The kind of a version: preserving, breaking or possibly equivalent."""

    PRESERVING = "preserving"
    BREAKING = "breaking"
    POSSIBLY_EQUIVALENT = "possibly equivalent"  # it should differ, and nothing tells it from the original
    UNSETTLED = "unsettled"  # it should differ, and nothing could be run to see that


@dataclass(frozen=True, slots=True)
class Version:
    """A counterfactual of a function.

    Attributes:
        counterfactual: The change.
        document: The source with it.
        standing: Its content.
    """

    counterfactual: Counterfactual
    document: Document
    standing: Standing


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a function.

    Attributes:
        correct: Whether the function passes its tests; None if there are none.
        versions: Its counterfactuals.
        left_out: How many counterfactuals there could be and are not, by reason.
    """

    correct: bool | None
    versions: tuple[Version, ...]
    left_out: Counter[str]


def planned(target: Target, mutations: Sequence[str], *, seed: int, without: Sequence[str] = ()) -> Survey:
    """The counterfactuals of a function, before anything is run to see what they are.

    Args:
        target: The function.
        mutations: Ids of mutations; none means all that need nothing to be run first.
        seed: Random seed of new names.
        without: Assumptions that no counterfactual may rest on.

    Raises:
        SourceError: there is no such function, or it does not parse.
    """
    function, language = find_function(target.document, target.qualname), target.document.language
    known = mutated(language)
    chosen = mutations or [
        name for name, mutation in known.mutations.items() if not mutation.needs_observation
    ]
    return survey(
        target.document.text,
        mutations=[known.shown.get(name, name) for name in chosen],
        function=function.qualname,
        seed=seed,
        without=without,
        language=language,
    )


def settled(
    context: Context,
    target: Target,
    surveyed: Survey,
    limits: Limits,
    map_timeout: float,
    excluded: Sequence[str] = (),
) -> Versions:
    """The versions of a function, each run to see what it is.

    Args:
        context: The sandbox, and the event that cancels.
        target: The function.
        surveyed: Its counterfactuals.
        limits: Limits of a program together with its tests.
        map_timeout: Seconds for running the whole test suite of a repository once.
        excluded: Patterns of tests that never judge.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    document, cancel = target.document, context.cancel
    function = find_function(document, target.qualname)
    left_out = Counter(f"{refusal.mutation}: {refusal.reason}" for refusal in surveyed.refusals)
    setting = Setting(context.sandbox(), interpreter_for(document.path), limits, cancel)
    tests = target.judge or find_judge(
        document,
        function,
        setting.sandbox,
        python=setting.python,
        limits=limits,
        fallback=False,
        vetted=context.vetted,
        surveyed=context.surveyed,
        map_timeout=map_timeout,
        excluded=excluded,
        cancel=cancel,
    )
    correct, verdict = None, None
    if tests is not None:
        verdict = tests.judge(document.text, cancel=cancel)
        correct = None if verdict.judgement is Judgement.REFUSED else verdict.passed
    judge = tests if correct else judged(document.language).behaviour(document, function, setting)
    versions = []
    for number, made in enumerate(surveyed.counterfactuals):
        context.steps.next(f"rewriting {target.name}", number, len(surveyed.counterfactuals))
        with paced(verdict) if verdict is not None and correct else nullcontext():
            standing = _standing(made, judge, cancel)
        if standing is None:
            left_out[f"{made.mutation}: it should keep the meaning, but fails the tests"] += 1
        else:
            versions.append(Version(made, replace(document, text=made.source), standing))
    return Versions(correct, tuple(versions), left_out)


def _standing(made: Counterfactual, judge: Judge | None, cancel: Event | None) -> Standing | None:
    """The kind of a counterfactual; None for one that should keep the meaning and does not."""
    unsettled = Standing.PRESERVING if made.preserving else Standing.UNSETTLED
    if judge is None or WHOLE_PROGRAM in made.assumptions:  # tests call it as it was
        return unsettled
    verdict = judge.judge(made.source, cancel=cancel)
    if verdict.judgement is Judgement.REFUSED:
        return unsettled
    if made.preserving:
        return Standing.PRESERVING if verdict.passed else None
    return Standing.POSSIBLY_EQUIVALENT if verdict.passed else Standing.BREAKING
