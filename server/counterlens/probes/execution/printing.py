"""Inputs of calls, and of whole programs that print something for them (Liu et al. 2024, section IV-A)."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from counterlens.errors import SourceError
from counterlens.judging.comparison import first_difference
from counterlens.judging.projects import interpreter_for
from counterlens.probes.execution.language import MOST_BYTES, execution_of
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.literals import Literal, Values
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import Function

MOST_TRIED = 5
"""Maximum number of inputs to try per function until one has a truth to compare with."""
MOST_WRITTEN = 100
"""Maximum length of the result of a generated call: beyond it, writing the result down would be the task."""
_MOST_BYTES = 80  # maximum bytes of a generated call
STOPS = {"direct": ("```",), "steps": ("\nProgram", "\n\n\n")}
"""The stop texts of a completion, by the style of the question."""
_ANSWER = re.compile(r"answer\W{0,3}:", re.IGNORECASE)
_FENCES = re.compile(r"^\s*```\w*\n?|\n?```.*\Z", re.DOTALL)


class Origin(StrEnum):
    """The origin of an input."""

    DATASET = "the dataset"
    EXAMPLE = "the docstring's examples"
    TEST = "the tests"
    GENERATED = "generated"


class Inputs(StrEnum):
    """The kinds of inputs to use."""

    ANY = "any"
    """Handwritten inputs, else generated ones."""
    WRITTEN = "written down"
    """Only handwritten inputs."""
    DRAWN = "drawn"
    """Only handwritten inputs, in random order."""


@dataclass(frozen=True, slots=True)
class Input:
    """One call of a function, and its origin."""

    call: str
    origin: Origin


def inputs_of(
    context: Context,
    target: Target,
    function: Function,
    *,
    seed: int,
    limits: Limits,
    inputs: Inputs = Inputs.ANY,
) -> Iterator[Input]:
    """The inputs of a function, the preferred ones first; at most `MOST_TRIED`.

    Handwritten inputs come first. Only if there are none, inputs are generated from type hints, literals and
    shapes, as for differential execution, which runs the function a few hundred times.

    Args:
        context: The sandbox, and cancellation.
        target: The function, with its data in a dataset.
        function: The same function in its document.
        seed: Random seed of generated or drawn inputs.
        limits: Limits of each run of the function.
        inputs: The kind of inputs.

    Raises:
        SandboxError, Cancelled: as the sandbox.
    """
    known_inputs = list(_known_inputs(target, function))
    if inputs is Inputs.DRAWN:
        random.Random(f"{seed} {function.qualname}").shuffle(known_inputs)  # noqa: S311 - no secret
    yield from known_inputs[:MOST_TRIED]
    if not known_inputs and inputs is Inputs.ANY:
        generated = generated_inputs(context, target, function, seed=seed, limits=limits)
        yield from generated[:MOST_TRIED]


def _known_inputs(target: Target, function: Function) -> Iterator[Input]:
    if target.call:
        yield Input(target.call, Origin.DATASET)
        return
    language = execution_of(target.document.language)
    examples = language.in_examples(target.document, function)
    yield from (Input(call, Origin.EXAMPLE) for call in examples)
    tests = language.in_tests(target.document, function)
    yield from (Input(call, Origin.TEST) for call in tests if call not in examples)


def generated_inputs(
    context: Context, target: Target, function: Function, *, seed: int, limits: Limits
) -> list[Input]:
    """Calls on which the function returned, in random order; arguments and errors as for `inputs_of`."""
    document = target.document
    setting = context.setting(limits, interpreter_for(document.path))
    calls = execution_of(document.language).generated(document, function, setting)
    plain = [call for call in calls if len(call) <= _MOST_BYTES and call.isascii() and "\\" not in call]
    random.Random(f"{seed} {function.qualname}").shuffle(plain)  # noqa: S311 - no secret
    return [Input(call, Origin.GENERATED) for call in plain]


def _text(text: str) -> Literal | None:
    plain = text.strip()
    return Literal(plain, plain) if plain else None


PRINTED = Values(
    comment="#",
    null="",
    zero="0",
    literal=_text,
    written=str,
    equal=lambda value, other: not first_difference(value, other),
    same_numbers=lambda value, other: True,  # noqa: ARG005 - printed numbers are text
    same_type=lambda value, other: True,  # noqa: ARG005
    type_name=lambda _: "text",
    same_text=lambda answer, text, truth: (
        (answer.written if answer else text).split() == truth.written.split()
    ),
    why_unreadable=lambda _: "nothing was said",
    misled=lambda value: f"{value}#",
    asserted=lambda _: None,
)
"""Compares printed texts as judges do: word by word, rounded numbers within a tolerance."""


def printed_answer(text: str, *, stepwise: bool, cut_off: bool = False) -> Literal | None:
    """The text that a model says a program prints; None if the token limit cut it off, or there is none."""
    announced = list(_ANSWER.finditer(text)) if stepwise else []
    if stepwise and not announced:
        return None
    said = text[announced[-1].end() :] if announced else text
    return None if cut_off else _text(_FENCES.sub("", said.strip().strip("`") if stepwise else said))


def shown_run(context: Context, target: Target) -> tuple[str, str]:
    """The first input of a program that is short enough to ask about, with what the program prints.

    Raises:
        SourceError: there is none, or the program does not print what the dataset expects.
        SandboxError, Cancelled: as the judge.
    """
    short = [
        case
        for case in target.runs
        if len(case.input.encode()) <= MOST_BYTES and 0 < len(case.output.strip()) <= MOST_WRITTEN
    ]
    if not short:
        raise SourceError("its inputs or outputs are too long to ask for")
    if target.judge is not None:
        verdict = target.judge.judge(target.document.text, cancel=context.cancel)
        if not verdict.passed:
            raise SourceError(f"the program fails its own tests ({verdict.judgement})")
    return short[0].input.strip(), short[0].output.strip()
