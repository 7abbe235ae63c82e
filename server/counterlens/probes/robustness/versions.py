"""The programs of a probe (Nguyen et al. 2024, RQ3), their versions, and whether each keeps the meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Event
from typing import Annotated

from counterlens.errors import SourceError
from counterlens.judging.base import Judge, Judgement
from counterlens.judging.languages import behaviour_of
from counterlens.judging.pace import pace
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.models.base import ModelInfo
from counterlens.mutations import Counterfactual, Survey, survey
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.mutations.languages import mutated, parse_document
from counterlens.probes.options import option
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

WRITTEN_TOKENS = 384
"""Maximum number of tokens of the model's own implementation."""


class Standing(StrEnum):
    """The kind of a version: preserving, breaking or possibly equivalent."""

    PRESERVING = "preserving"
    BREAKING = "breaking"
    POSSIBLY_EQUIVALENT = "possibly equivalent"  # it should differ, but the judge finds no difference
    UNSETTLED = "unsettled"  # it should differ, but could not be judged


@dataclass(frozen=True, slots=True)
class Version:
    """A counterfactual of a function."""

    counterfactual: Counterfactual
    document: Document
    standing: Standing


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a function.

    Attributes:
        correct: Whether the function passes its tests; None if there are none.
        left_out: Number of excluded counterfactuals, by reason.
    """

    correct: bool | None
    versions: tuple[Version, ...]
    left_out: Counter[str]


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """A version of a function that is asked about.

    Attributes:
        info: Describes the model.
        call: The call in the question, if any.
        max_tokens: Maximum number of tokens of the answer.
    """

    info: ModelInfo
    document: Document
    qualname: str
    call: str | None
    max_tokens: int


def plan(target: Target, mutations: Sequence[str], *, seed: int, without: Sequence[str] = ()) -> Survey:
    """The counterfactuals of a function, before any is run to determine its kind.

    Args:
        mutations: Ids of mutations; if empty, all that need no observed run.
        seed: Random seed of new names.
        without: Assumptions that no counterfactual may depend on.

    Raises:
        SourceError: the function does not exist, or does not parse.
    """
    function, language = find_function(target.document, target.qualname), target.document.language
    mutated_language = mutated(language)
    chosen = mutations or [
        name for name, mutation in mutated_language.mutations.items() if not mutation.needs_observation
    ]
    return survey(
        target.document.text,
        mutations=[mutated_language.shown.get(name, name) for name in chosen],
        function=function.qualname,
        seed=seed,
        without=without,
        language=language,
    )


def settle(
    context: Context,
    target: Target,
    surveyed: Survey,
    limits: Limits,
    map_timeout: float,
    excluded: Sequence[str] = (),
) -> Versions:
    """The versions of a function, each run to determine its kind.

    Args:
        context: The sandbox, and cancellation.
        limits: Limits of a program together with its tests.
        map_timeout: Maximum seconds for one run of the project's whole suite; 0 to skip it.
        excluded: Patterns of tests that never judge.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    document, cancel = target.document, context.cancel
    function = find_function(document, target.qualname)
    left_out = Counter(f"{refusal.mutation}: {refusal.reason}" for refusal in surveyed.refusals)
    setting = context.setting(limits, interpreter_for(document.path))
    tests = target.judge or find_judge(
        document,
        function,
        replace(
            setting,
            vetted=context.vetted,
            surveyed=context.surveyed,
            map_timeout=map_timeout,
            excluded=tuple(excluded),
        ),
        fallback=False,
        witnessed=False,
    )
    correct, verdict = None, None
    if tests is not None:
        verdict = tests.judge(document.text, cancel=cancel)
        correct = None if verdict.judgement is Judgement.REFUSED else verdict.passed
    behaviour = None if correct else behaviour_of(document, function, setting)
    judge = None if isinstance(behaviour, str) else tests if correct else behaviour
    versions = []
    for number, made in enumerate(surveyed.counterfactuals):
        context.steps.next(f"rewriting {target.name}", number, len(surveyed.counterfactuals))
        with pace(verdict) if verdict is not None and correct else nullcontext():
            standing = _standing(made, judge, cancel)
        if standing is None:
            left_out[f"{made.mutation}: it should keep the meaning, but fails the tests"] += 1
        else:
            versions.append(Version(made, replace(document, text=made.source), standing))
    return Versions(correct, tuple(versions), left_out)


def _standing(made: Counterfactual, judge: Judge | None, cancel: Event | None) -> Standing | None:
    """The kind of a counterfactual; None if it should keep the meaning, but does not."""
    unsettled = Standing.PRESERVING if made.preserving else Standing.UNSETTLED
    if judge is None or WHOLE_PROGRAM in made.assumptions:  # tests use the old order of parameters
        return unsettled
    verdict = judge.judge(made.source, cancel=cancel)
    if verdict.judgement is Judgement.REFUSED:
        return unsettled
    if made.preserving:
        return Standing.PRESERVING if verdict.passed else None
    return Standing.POSSIBLY_EQUIVALENT if verdict.passed else Standing.BREAKING


class Code(StrEnum):
    """The origin of the programs."""

    GIVEN = "given"  # the unchanged functions
    BUGGY = "buggy"  # the functions with a known bug: each with and without the bug
    WRITTEN = "written"  # the model's implementation from the header and docstring


CodeOption = Annotated[
    Code,
    option(
        "Programs to ask about. given: the reference; buggy: also the dataset's buggy variant; written: "
        "the model's own implementation.",
        setting="probe.code",
    ),
]


def programs(context: Context, target: Target, code: Code) -> list[Target]:
    """The programs of a function to ask about.

    Raises:
        SourceError: the function does not exist, or has no such program.
        ModelError, Cancelled: as `Model.complete`.
    """
    return [_write(context, target)] if code is Code.WRITTEN else expected_targets(target, code)


def expected_targets(target: Target, code: Code) -> list[Target]:
    """Predict the result of `programs` before any request; the function stands in for the model's own code.

    Raises:
        SourceError: there is no such program.
    """
    if code is not Code.BUGGY:
        return [target]
    if target.buggy is None:
        raise _no_program("no buggy variant of it is known; humanevalpack, for example, has some")
    bug = replace(target.document, text=target.buggy)
    return [target, replace(target, document=bug, id=f"{target.name} (with its bug)")]


def _write(context: Context, target: Target) -> Target:
    context.steps.next(f"asking the model to write {target.name}")
    function = find_function(target.document, target.qualname)
    gap = Gap.body_of(target.document, function)
    completion = context.complete(gap.prompt(WRITTEN_TOKENS))
    document = replace(target.document, text=gap.fill(completion.text))
    try:
        parse_document(document)
        there = find_function(document, function.qualname)
    except (SourceError, SyntaxError, ValueError, MemoryError, RecursionError):
        raise _no_program("the model's implementation does not parse") from None
    if completion.finish == "length":
        raise _no_program("the model did not finish it")
    if not document.data[there.body : there.end].strip():
        raise _no_program("the model wrote nothing")
    return replace(target, document=document, id=f"{target.name} (as the model writes it)")


def _no_program(reason: str) -> SourceError:
    return SourceError(f"there are no such programs to probe: {reason}")
