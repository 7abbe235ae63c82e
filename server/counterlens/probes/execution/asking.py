"""Asking all questions of a run, after the checks that come before figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterlens.errors import SourceError
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.reasoning import Answered, Question, ask, check_identity, step
from counterlens.probes.prompts.literals import ABSOLUTE, RELATIVE
from counterlens.probes.task import Request

TOLERANCE = {"relative": RELATIVE, "absolute": ABSOLUTE}


def ask_all(request: Request, questions: Sequence[Question]) -> list[Answered]:
    """Ask every question in every way; before that, that the same question gets the same answer.

    Raises:
        CounterlensError: it does not.
        ModelError, Cancelled: as the model.
    """
    answers: list[Answered] = []
    total = len(questions) * len(STYLES)
    for style in STYLES:
        for question in questions:
            step(request, f"asking for {question.truth.call}", len(answers), total)
            answers.append(ask(request, question, style))
            if len(answers) == 1:
                check_identity(request, answers[0])
    return answers


def nothing_to_ask(left_out: Mapping[str, int]) -> SourceError:
    """What is wrong where no target could be asked about."""
    reasons = "; ".join(f"{count} {text}" for text, count in left_out.items())
    return SourceError("there is no call to ask about", reasons)
