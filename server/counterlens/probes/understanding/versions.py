"""The versions of a function that are asked about, and whether each keeps or breaks the meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum

from counterlens.attribution import differential
from counterlens.attribution.base import Judge, Judgement, Setting
from counterlens.attribution.layout import interpreter_for
from counterlens.attribution.pace import paced
from counterlens.attribution.registry import find_judge
from counterlens.mutations import MUTATIONS, survey
from counterlens.mutations.base import Counterfactual
from counterlens.mutations.engine import Survey
from counterlens.probes.task import Request, Target
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function


class Standing(StrEnum):
    """What a version is, next to the original."""

    PRESERVING = "preserving"
    BREAKING = "breaking"
    POSSIBLY_EQUIVALENT = "possibly equivalent"  # it should differ, and nothing tells it from the original
    UNSETTLED = "unsettled"  # it should differ, and nothing could be run to see that


@dataclass(frozen=True, slots=True)
class Version:
    """A counterfactual of a function.

    Attributes:
        counterfactual: What was changed.
        document: The source with it.
        standing: What it is.
    """

    counterfactual: Counterfactual
    document: Document
    standing: Standing


@dataclass(frozen=True, slots=True)
class Subject:
    """A function and its versions.

    Attributes:
        target: The function.
        qualname: Its qualified name.
        correct: Whether it passes its tests; None where there are none.
        versions: Its counterfactuals.
        left_out: How many counterfactuals there could be and are not, by reason.
    """

    target: Target
    qualname: str
    correct: bool | None
    versions: tuple[Version, ...]
    left_out: Counter[str]


def subject(target: Target, request: Request, *, mutations: Sequence[str] | None = None) -> Subject:
    """All versions of a function, or those by some mutations.

    Raises:
        SourceError: there is no such function, or it does not parse.
        SandboxError, Cancelled: as `Judge.judge`.
    """
    document, left_out = target.document, Counter[str]()
    function = find_function(document, target.qualname)
    surveyed = planned(target, request.seed, mutations=mutations)
    left_out.update(f"{one.mutation}: {one.reason}" for one in surveyed.refusals)
    setting = Setting(request.sandbox(), interpreter_for(document.path), request.limits, request.cancel)
    tests = target.judge or find_judge(
        document,
        function,
        setting.sandbox,
        python=setting.python,
        limits=setting.limits,
        fallback=False,
        cancel=request.cancel,
    )
    correct, verdict = None, None
    if tests is not None:
        verdict = tests.judge(document.text, cancel=request.cancel)
        correct = None if verdict.judgement is Judgement.REFUSED else verdict.passed
    judge = tests if correct else differential.find(document, function, setting)
    versions = []
    for one in surveyed.counterfactuals:
        with paced(verdict) if verdict is not None and correct else nullcontext():
            standing = _standing(one, judge, request)
        if standing is None:
            left_out[f"{one.mutation}: it should keep the meaning, and the tests say it does not"] += 1
        else:
            versions.append(Version(one, replace(document, text=one.source), standing))
    return Subject(target, function.qualname, correct, tuple(versions), left_out)


def planned(target: Target, seed: int, *, mutations: Sequence[str] | None = None) -> Survey:
    """The counterfactuals of a function, before anything is run to see what they are.

    Raises:
        SourceError: there is no such function, or it does not parse.
    """
    function = find_function(target.document, target.qualname)
    chosen = mutations or [name for name, mutation in MUTATIONS.items() if not mutation.needs_observation]
    return survey(target.document.text, mutations=list(chosen), function=function.qualname, seed=seed)


def _standing(one: Counterfactual, judge: Judge | None, request: Request) -> Standing | None:
    """What a counterfactual is; None for one that should keep the meaning and does not."""
    unsettled = Standing.PRESERVING if one.preserving else Standing.UNSETTLED
    if judge is None:
        return unsettled
    verdict = judge.judge(one.source, cancel=request.cancel)
    if verdict.judgement is Judgement.REFUSED:
        return unsettled
    if one.preserving:
        return Standing.PRESERVING if verdict.passed else None
    return Standing.POSSIBLY_EQUIVALENT if verdict.passed else Standing.BREAKING
