"""Questions about what a whole program prints for an input (Liu et al. 2024, section IV-A)."""

from __future__ import annotations

import re

from counterlens.errors import SourceError
from counterlens.judging.output import first_difference
from counterlens.probes.execution.inputs import MOST_WRITTEN
from counterlens.probes.execution.language import MOST_BYTES
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.literals import Literal, Values

STOPS = {"direct": ("```",), "steps": ("\nProgram", "\n\n\n")}
"""The stop texts of a completion, by the style of the question."""
_ANSWER = re.compile(r"answer\W{0,3}:", re.IGNORECASE)
_FENCES = re.compile(r"^\s*```\w*\n?|\n?```.*\Z", re.DOTALL)


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
