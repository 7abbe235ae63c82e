"""Independent execution reasoning (paper 002, definition 1): what does this code give for this input?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.models.base import Prompt
from counterlens.probes.execution.answers import Literal, Outcome, outcome, same_type
from counterlens.probes.execution.calls import calls_of
from counterlens.probes.execution.features import Features, features
from counterlens.probes.execution.prompts import STYLES, prompt, shown
from counterlens.probes.execution.truth import Truth, truth_of
from counterlens.probes.task import Request, Target
from counterlens.sandbox.base import Sandbox
from counterlens.syntax.functions import find_function


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and its answer.

    Attributes:
        target: The id of the function.
        truth: What the call gives.
        features: What the function is made of; None where that is not known.
        style: How it was asked, see `STYLES`.
        text: What the model said.
        finish: `stop` or `length`, as in `Completion`.
        answer: The literal in it, if there is one.
    """

    target: str
    truth: Truth
    features: Features | None
    style: str
    text: str
    finish: str
    answer: Literal | None

    @property
    def outcome(self) -> Outcome:
        """Whether it is right."""
        return outcome(self.answer, self.truth.value)

    @property
    def same_type(self) -> bool:
        """Whether the answer is of the right class."""
        return self.answer is not None and same_type(self.answer.value, self.truth.value)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What was asked and answered, and how many functions were left out, by reason."""

    answers: tuple[Answered, ...]
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Question:
    target: Target
    truth: Truth
    features: Features | None
    source: str


def reason(request: Request, styles: tuple[str, ...] = tuple(STYLES)) -> Reasoning:
    """Ask what the first call of each target gives.

    Raises:
        CounterlensError: a sanity check failed.
        SourceError: a target does not exist.
        ModelError, SandboxError, Cancelled: as the model and the sandbox.
    """
    sandbox, left_out = request.sandbox(), Counter[str]()
    total = len(request.targets) * (1 + len(styles))
    questions: list[_Question] = []
    for number, target in enumerate(request.targets):
        _step(request, f"running {target.name}", number, total)
        try:
            questions.append(_question(target, sandbox, request))
        except _LeftOut as error:
            left_out[str(error)] += 1
    for question in questions:
        _check_sanity(question.truth)
    answers: list[Answered] = []
    for style in styles:
        for one in questions:
            _step(request, f"asking for {one.truth.call}", len(request.targets) + len(answers), total)
            asked: Prompt = prompt(request.model.info, style, one.source, one.truth.call)
            (said,) = request.model.complete([asked], cancel=request.cancel)
            read = STYLES[style].read(said.text)
            answers.append(
                Answered(one.target.name, one.truth, one.features, style, said.text, said.finish, read)
            )
    return Reasoning(tuple(answers), dict(left_out))


class _LeftOut(Exception):  # noqa: N818 - a target that cannot be asked about is no error
    """Why a target is left out."""


def _question(target: Target, sandbox: Sandbox, request: Request) -> _Question:
    function = find_function(target.document, target.qualname)
    if "." in function.qualname:
        raise _LeftOut("it is a method or an inner function, which no call by itself reaches")
    calls = [target.call] if target.call else calls_of(target.document, function)
    if not calls:
        raise _LeftOut("no call of it with literal arguments is known: add a doctest or a test")
    try:
        truth = truth_of(target.document, calls[0], sandbox, cancel=request.cancel)
    except SourceError as error:
        raise _LeftOut(error.message) from None
    text = target.document.data[function.header : function.end].decode("utf-8", "replace")
    return _Question(target, truth, features(text), shown(target.document, function))


def _check_sanity(truth: Truth) -> None:
    """The truth itself is a right answer, and something else is a wrong one; else figures mean nothing."""
    other = "None" if truth.value is not None else "0"
    for style in STYLES.values():
        lead = "Answer: " if style is STYLES["steps"] else ""
        right, wrong = style.read(f"{lead}{truth.written}"), style.read(f"{lead}{other}")
        seen = (outcome(right, truth.value), outcome(wrong, truth.value))
        if seen != (Outcome.RIGHT, Outcome.WRONG):
            raise CounterlensError(
                f"answers to {truth.call} cannot be judged: {truth.written} counts as {seen[0]}",
                "This is a defect of Counterlens; please report it",
            )


def _step(request: Request, what: str, done: int, total: int) -> None:
    if request.cancel is not None and request.cancel.is_set():
        raise Cancelled
    if request.report:
        request.report(what if len(what) <= 60 else what[:59] + "…", done, total)
