"""Sampling of questions: by seed, half of them with the answer yes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")

MOST_QUESTIONS = 60
"""Default number of questions per relation and function."""


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """The numbers of questions.

    Attributes:
        true: Number of asked questions whose true answer is yes.
        unreadable: Number of unreadable answers; they count as no.
    """

    asked: int
    possible: int
    true: int
    unreadable: int = 0

    @property
    def complete(self) -> bool:
        """Whether all possible questions were asked."""
        return self.asked == self.possible


def balance(
    questions: Sequence[Item], true: Callable[[Item], bool], limit: int | None, seed: int = 0
) -> list[Item]:
    """At most `limit` questions, in their order: half of them true, if possible.

    Args:
        true: Returns whether the true answer to a question is yes.
        limit: Maximum number; None for all.
        seed: Random seed of the sample.
    """
    if limit is None or len(questions) <= limit:
        return list(questions)
    draw = random.Random(seed)  # noqa: S311 - a sample, no secret
    yes = [i for i, question in enumerate(questions) if true(question)]
    no = [i for i, question in enumerate(questions) if not true(question)]
    half = limit // 2
    some = min(len(yes), max(half, limit - len(no)))
    chosen = draw.sample(yes, some) + draw.sample(no, min(len(no), limit - some))
    return [questions[i] for i in sorted(chosen)]
