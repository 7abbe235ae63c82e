"""What answers without a model would score: the best constant one, and a random one.

The constant answer is the one that is right for the most questions. The random answer is the true answer to
another question, drawn with equal chances; its score is the expected one. Both know what was asked, so a
model that scores no more has shown nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from counterlens.metrics.table import Table

FEWEST = 10
"""Minimum number of questions of which it is said that a model does no better: among few, the best constant
answer is right by construction."""


@dataclass(frozen=True, slots=True)
class ChanceComparison:
    """The score of a model beside those of answers without a model, all between -1 and 1.

    Attributes:
        asked: What was asked.
        n: Number of questions.
        score: The model's score.
        constant: The score of the best constant answer.
        random: The expected score of a random answer.
        copied: Number of the model's answers that repeat a worked example of the prompt, and are not right.
    """

    asked: str
    n: int
    score: float
    constant: float
    random: float
    copied: int

    @property
    def no_better(self) -> bool:
        """Whether the model does no better, on enough questions to say so."""
        return self.n >= FEWEST and self.score <= max(self.constant, self.random)


def share_right(asked: str, truths: Sequence[Hashable], right: int, copied: int) -> ChanceComparison | None:
    """The share of right answers; None without a question.

    Args:
        asked: What was asked.
        truths: The true answer to each question.
        right: Number of the model's right answers.
        copied: Number of its answers that repeat a worked example.
    """
    n, counts = len(truths), Counter(truths)
    if not n:
        return None
    pairs = sum(count * (count - 1) for count in counts.values())
    return ChanceComparison(
        asked, n, right / n, max(counts.values()) / n, pairs / (n * (n - 1)) if n > 1 else 0.0, copied
    )


def first_words(baselines: Sequence[ChanceComparison]) -> str:
    """What a report says first: where the model does no better, and copies; empty, or ends with a blank."""
    said = [
        f"The model does no better than an answer without a model ({baseline.asked}): {baseline.score:.2f}, "
        f"a constant answer {baseline.constant:.2f}, a random one {baseline.random:.2f}. "
        for baseline in baselines
        if baseline.no_better
    ]
    copied, n = sum(baseline.copied for baseline in baselines), sum(baseline.n for baseline in baselines)
    if copied:
        said.append(f"{copied} of {n} answers repeat a worked example of the prompt. ")
    return "".join(said)


def baseline_table(baselines: Sequence[ChanceComparison]) -> Table:
    """The scores side by side; without rows if only one question was asked of each kind."""
    rows = tuple(
        (each.asked, each.n, each.score, each.constant, each.random, each.copied)
        for each in baselines
        if each.n > 1
    )
    note = (
        "constant: the one answer that is right most often; random: the true answer to another question, as "
        "expected; copies: answers that repeat a worked example of the prompt and are not right"
    )
    return Table(
        "beside answers without a model", ("asked", "n", "model", "constant", "random", "copies"), rows, note
    )
