"""A question on all versions of functions: how alike are the answers? (Nguyen et al. 2024, equation 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.models.base import Prompt
from counterlens.probes.execution.calls import calls_of
from counterlens.probes.observe.run import output_of
from counterlens.probes.prompts.literals import Literal
from counterlens.probes.task import Request, Target
from counterlens.probes.understanding.asking import Measure, Question
from counterlens.probes.understanding.programs import expected, programs
from counterlens.probes.understanding.versions import Standing, Subject, Version, planned, subject
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

MOST_CALLS = 2
"""Of each function so many calls are asked about."""
NO_ANSWER = "there was no answer in what the model said"


@dataclass(frozen=True, slots=True)
class Compared:
    """The answers to a function and to one version of it.

    Attributes:
        target: The id of the function.
        correct: Whether the function passes its tests; None where that is not known.
        mutation: What was changed.
        line: Where.
        preserving: Whether the mutation should keep the meaning.
        standing: What the version is; for a call, what it is for this call.
        call: The call that was asked about, if any.
        original: The answer about the function as it stands.
        answer: The answer about the version.
        similarity: How alike they are, 0 to 1, by the name of the measure.
    """

    target: str
    correct: bool | None
    mutation: str
    line: int
    preserving: bool
    standing: Standing
    call: str
    original: str
    answer: str
    similarity: dict[str, float]


@dataclass(frozen=True, slots=True)
class Study:
    """What was asked and answered.

    Attributes:
        targets: The ids of the functions that were asked about.
        compared: The answers, pair by pair.
        left_out: What does not count, by reason.
        note: What a reader needs to know of the similarities.
    """

    targets: tuple[str, ...]
    compared: tuple[Compared, ...]
    left_out: dict[str, int]
    note: str


@dataclass(frozen=True, slots=True)
class _Pair:
    subject: Subject
    version: Version
    standing: Standing
    call: str
    first: Prompt
    second: Prompt


def prompts(request: Request, question: Question) -> int:
    """About how many prompts `study` asks, from what mutations promise; nothing is run for it."""
    total = 0
    chosen, asked_before = expected(request)
    for target in chosen:
        versions = len(planned(target, request.seed).counterfactuals)
        asked = len(_calls(target, target.qualname)) if question.calls else 1
        total += asked * (1 + versions) if versions else 0
    twice = 1 if total else 0  # the first one, see `_check_sanity`
    return asked_before + total + twice


def study(request: Request, question: Question) -> Study:
    """Ask about all targets.

    Raises:
        SourceError: a target does not exist.
        CounterlensError: a sanity check failed, so that figures would mean nothing; or the library that
            compares the answers is not installed.
        ModelError, SandboxError, Cancelled: as the model and the sandbox.
    """
    question.measures(
        [question.other], request.encoder
    )  # a library that is missing is said before anything is asked
    left_out, pairs, targets = Counter[str](), list[_Pair](), []
    chosen = programs(request, left_out)
    for number, target in enumerate(chosen):
        _step(request, f"rewriting {target.name}", number, len(chosen))
        found = subject(target, request)
        left_out.update(found.left_out)
        planned = list(_pairs(found, question, request, left_out))
        pairs += planned
        if planned:
            targets.append(target.name)
    prompts = list(dict.fromkeys(prompt for pair in pairs for prompt in (pair.first, pair.second)))
    answers: dict[Prompt, str | None] = {}
    for number, prompt in enumerate(prompts):
        _step(request, "asking", number, len(prompts))
        answers[prompt] = _answer(request, question, prompt)
    known = [answer for answer in answers.values() if answer is not None]
    measures, note = question.measures([*known, question.other], request.encoder)
    _check_sanity(request, question, answers, measures)
    compared = []
    for pair in pairs:
        first, second = answers[pair.first], answers[pair.second]
        if first is None or second is None:
            left_out[NO_ANSWER] += 1
            continue
        change = pair.version.counterfactual
        alike = {name: measure(first, second) for name, measure in measures.items()}
        compared.append(
            Compared(
                pair.subject.target.name,
                pair.subject.correct,
                change.mutation,
                change.start_line,
                change.preserving,
                pair.standing,
                pair.call,
                first,
                second,
                alike,
            )
        )
    return Study(tuple(targets), tuple(compared), dict(left_out), note)


def _pairs(found: Subject, question: Question, request: Request, left_out: Counter[str]) -> Sequence[_Pair]:
    """What to ask about a function and each of its versions."""
    pairs: list[_Pair] = []
    info, target = request.model.info, found.target
    calls = _calls(target, found.qualname) if question.calls else [""]
    if not calls:
        left_out["no call of it with literal arguments is known: add a doctest or a test"] += 1
    for call in calls:
        try:
            truth = _output(target.document, call, request) if call else None
        except SourceError as error:
            left_out[error.message] += 1
            continue
        first = question.prompt(info, target.document, found.qualname, call)
        for version in found.versions:
            standing = version.standing
            if truth is not None:
                told, why_not = _standing(version, call, truth.written, request)
                if told is None:
                    left_out[why_not] += 1
                    continue
                standing = told
            second = question.prompt(info, version.document, found.qualname, call)
            pairs.append(_Pair(found, version, standing, call, first, second))
    return pairs


def _calls(target: Target, qualname: str) -> list[str]:
    if "." in qualname:
        return []
    if target.call:
        return [target.call]
    return calls_of(target.document, find_function(target.document, qualname))[:MOST_CALLS]


def _standing(version: Version, call: str, truth: str, request: Request) -> tuple[Standing | None, str]:
    """What a version is for one call, which is seen by running it; or why it does not count."""
    one = version.counterfactual
    try:
        there = _output(version.document, call, request).written
    except SourceError as error:
        return None, f"{one.mutation}: {error.message}"
    if not one.preserving:
        return Standing.POSSIBLY_EQUIVALENT if there == truth else Standing.BREAKING, ""
    if there == truth:
        return Standing.PRESERVING, ""
    return None, f"{one.mutation}: the call gives something else there"


def _output(document: Document, call: str, request: Request) -> Literal:
    return output_of(document, call, request.sandbox(), limits=Limits(), cancel=request.cancel)


def _answer(request: Request, question: Question, prompt: Prompt) -> str | None:
    (said,) = request.model.complete([prompt], cancel=request.cancel)
    return question.read(said.text)


def _check_sanity(
    request: Request,
    question: Question,
    answers: dict[Prompt, str | None],
    measures: dict[str, Measure],
) -> None:
    """The identity has no effect, and a forced difference is seen; tried on the first answer there is."""
    for prompt, answer in answers.items():
        if answer is None:
            continue
        again = _answer(request, question, prompt)
        if again != answer:
            raise CounterlensError(
                f"{request.model.info.name} does not answer the same question the same way twice",
                "Figures would mean nothing: ask a model at temperature 0",
            )
        for name, measure in measures.items():
            if measure(answer, answer) < 0.999 or measure(answer, question.other) > 0.9:
                raise CounterlensError(
                    f"the similarity {name} does not tell answers apart", "Figures would mean nothing"
                )
        return


def _step(request: Request, what: str, done: int, total: int) -> None:
    if request.cancel is not None and request.cancel.is_set():
        raise Cancelled
    if request.report:
        request.report(what if len(what) <= 60 else what[:59] + "…", done, total)
