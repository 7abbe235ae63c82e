"""Execution reasoning: what does this code give for this input? (Liu et al. 2024, definitions 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.models.base import Completion, Prompt
from counterlens.probes.execution.features import Features, features
from counterlens.probes.execution.inputs import MOST_WRITTEN, Input, Origin, inputs_of
from counterlens.probes.execution.prompts import STYLES, prompt
from counterlens.probes.execution.truth import Truth, truth_of
from counterlens.probes.prompts.function_text import shown
from counterlens.probes.prompts.literals import (
    Literal,
    Outcome,
    equal,
    literal,
    outcome,
    same_type,
    why_unread,
)
from counterlens.probes.task import Request, Target
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function


class Form(StrEnum):
    """Which text of a program is asked about."""

    STANDING = "as it stands"
    UNROLLED = "unrolled"  # its loops written out, for this input
    OWN = "own"  # as the model itself wrote it


class LeftOut(Exception):  # noqa: N818 - a target that cannot be asked about is no error
    """Why a target is left out."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about: a program and a call, with what the call gives.

    Attributes:
        target: The id of the function.
        truth: What the call gives.
        input: The call, and where it comes from.
        features: What the function is made of; None where that is not known.
        source: The program as it is shown.
        form: Which text it is.
    """

    target: str
    truth: Truth
    input: Input
    features: Features | None
    source: str
    form: Form = Form.STANDING


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and its answer.

    Attributes:
        question: What was asked.
        style: How it was asked, see `STYLES`.
        text: What the model said.
        finish: `stop` or `length`, as in `Completion`.
        answer: The literal in it, if there is one.
    """

    question: Question
    style: str
    text: str
    finish: str
    answer: Literal | None

    @property
    def unread(self) -> str | None:
        """Why there is no answer; None where there is one."""
        if self.answer is not None:
            return None
        return why_unread(self.text, self.finish, stepwise=STYLES[self.style].stepwise)

    @property
    def outcome(self) -> Outcome:
        """Whether it is right (Liu et al. 2024, equation 1)."""
        return outcome(self.answer, self.question.truth.value, unread=self.unread)

    def plain(self) -> dict[str, Any]:
        """It as plain data. The keys are a contract: added to, never renamed."""
        asked, made = self.question, self.question.features
        right_class = self.answer is not None and same_type(self.answer.value, asked.truth.value)
        return {
            "target": asked.target,
            "call": asked.truth.call,
            "input": str(asked.input.origin),
            "form": str(asked.form),
            "truth": asked.truth.written,
            "type": type(asked.truth.value).__name__,
            "style": self.style,
            "said": self.text,
            "finish": self.finish,
            "answer": self.answer.written if self.answer else None,
            "outcome": str(self.outcome),
            "unread": self.unread,
            "same_type": right_class,
            "tags": list(made.tags) if made else None,
            "uses": list(made.uses) if made else None,
            "apis": list(made.apis) if made else None,
            "complexity": made.complexity if made else None,
            "lines": made.lines if made else None,
            "rounds": asked.truth.rounds,
        }


Row = Mapping[str, Any]
"""An answer as plain data, see `Answered.plain`."""


def question_of(target: Target, request: Request) -> Question:
    """The question about a target's first input that has a truth.

    Raises:
        LeftOut: there is none; says why.
        SourceError: the target does not exist.
        SandboxError, Cancelled: as the sandbox.
    """
    function = reachable(target)
    failed: str | None = None
    for one in inputs_of(target, function, request):
        try:
            found = question_about(target.name, target.document, function.qualname, one, request)
        except SourceError as error:
            failed = failed or error.message
            continue
        if one.origin is not Origin.GENERATED or len(found.truth.written) <= MOST_WRITTEN:
            return found
        failed = "what generated calls of it give is too long to ask for"
    raise LeftOut(failed or "no call of it with literal arguments is known, and none can be generated")


def reachable(target: Target) -> Function:
    """The function of a target, where a call by itself reaches it.

    Raises:
        LeftOut: it is a method or an inner function.
        SourceError: the target does not exist.
    """
    function = find_function(target.document, target.qualname)
    if "." in function.qualname:
        raise LeftOut("it is a method or an inner function, which no call by itself reaches")
    return function


def question_about(
    name: str,
    document: Document,
    qualname: str,
    one: Input,
    request: Request,
    *,
    form: Form = Form.STANDING,
) -> Question:
    """The question what a call of a function gives; the call is run for its truth.

    Raises:
        SourceError: the function does not exist, or the call has no truth to compare with.
        CounterlensError: its truth could not be told from something else.
        SandboxError, Cancelled: as the sandbox.
    """
    function = find_function(document, qualname)
    truth = truth_of(document, one.call, request.sandbox(), limits=Limits(), cancel=request.cancel)
    _check_judged(truth)
    text = document.data[function.header : function.end].decode("utf-8", "replace")
    return Question(name, truth, one, features(text), shown(document, function), form)


def ask(request: Request, question: Question, style: str) -> Answered:
    """Ask one question.

    Raises:
        ModelError, Cancelled: as the model.
    """
    said = _said(request, question, style)
    return Answered(question, style, said.text, said.finish, STYLES[style].read(said.text))


def check_identity(request: Request, first: Answered) -> None:
    """The same question gets the same answer; else figures mean nothing.

    Raises:
        CounterlensError: it does not.
        ModelError, Cancelled: as the model.
    """
    if _said(request, first.question, first.style).text != first.text:
        raise CounterlensError(
            f"{request.model.info.name} does not answer the same question the same way twice",
            "Figures would mean nothing: ask a model at temperature 0",
        )


def _said(request: Request, question: Question, style: str) -> Completion:
    asked: Prompt = prompt(request.model.info, style, question.source, question.truth.call)
    (said,) = request.model.complete([asked], cancel=request.cancel)
    return said


def _check_judged(truth: Truth) -> None:
    """The truth itself is a right answer, and something else is a wrong one; else figures mean nothing."""
    other = "None" if truth.value is not None else "0"
    for style in STYLES.values():
        lead = "Answer: " if style.stepwise else ""
        right, wrong = style.read(f"{lead}{truth.written}"), style.read(f"{lead}{other}")
        seen = (outcome(right, truth.value), outcome(wrong, truth.value))
        if seen != (Outcome.RIGHT, Outcome.WRONG):
            raise CounterlensError(
                f"answers to {truth.call} cannot be judged: {truth.written} counts as {seen[0]}",
                "This is a defect of Counterlens; please report it",
            )


def agrees(written: str, truth: Any) -> bool:
    """Whether a value as it is written is the same as another."""
    found = literal(written)
    return found is not None and equal(found.value, truth)


def step(request: Request, what: str, done: int, total: int) -> None:
    """Say what is being done.

    Raises:
        Cancelled: the user gave up.
    """
    if request.cancel is not None and request.cancel.is_set():
        raise Cancelled
    if request.report:
        request.report(what if len(what) <= 60 else what[:59] + "…", done, total)
