"""What a model that answers one question at a time does where several are asked."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from counterlens.models.base import Model, Progress, TokenScores


def score_continuations(
    model: Model,
    context: str,
    continuations: Sequence[str],
    *,
    alternatives: int = 5,
    cancel: Event | None = None,
    progress: Progress | None = None,
) -> list[TokenScores]:
    """As `Model.score_continuations`, through `Model.score`; progress counts continuations."""
    answers: list[TokenScores] = []
    for text in continuations:
        answers.append(model.score(text, context=context, alternatives=alternatives, cancel=cancel))
        if progress:
            progress(len(answers), len(continuations))
    return answers
