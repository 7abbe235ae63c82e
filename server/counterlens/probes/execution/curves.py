"""Accuracy over sources of difficulty (Liu et al. 2024, Figures 4 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from counterlens.probes.execution.record import ExecutionAnswer

Answers = Sequence[ExecutionAnswer]


@dataclass(frozen=True, slots=True)
class AnswerBin:
    """The answers about functions whose measure is in a range.

    Attributes:
        low: The minimum.
        high: The maximum.
    """

    low: int
    high: int
    answers: tuple[ExecutionAnswer, ...]

    @property
    def title(self) -> str:
        """The range, such as `3 to 4`."""
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def rounds_of(answer: ExecutionAnswer) -> int | None:
    """The number of rounds of the loops; None if there is no loop."""
    return answer.rounds if {"for", "while"} & set(answer.tags or ()) else None


MEASURES: Mapping[str, Callable[[ExecutionAnswer], int | None]] = {
    "cyclomatic complexity": lambda answer: answer.complexity,
    "lines": lambda answer: answer.lines,
    "rounds": rounds_of,
}
"""The counted quantities, by name."""


def doubling(value: int) -> tuple[int, int]:
    """The bin of a value: 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, and so on."""
    if value < 2:
        return value, value
    high = 1 << (value - 1).bit_length()
    return high // 2 + 1, high


def alone(value: int) -> tuple[int, int]:
    """A bin for each value."""
    return value, value


def bins_of(
    answers: Answers,
    measure: Callable[[ExecutionAnswer], int | None],
    edges: Callable[[int], tuple[int, int]] = doubling,
) -> tuple[AnswerBin, ...]:
    """The answers by the bin of their function, in the order of the bins.

    Args:
        answers: The answers; those whose function lacks the measure are in no bin.
        edges: Returns the minimum and maximum of a value's bin.
    """
    bins: dict[tuple[int, int], list[ExecutionAnswer]] = {}
    for answer in answers:
        value = measure(answer)
        if value is not None:
            bins.setdefault(edges(value), []).append(answer)
    return tuple(AnswerBin(*at, tuple(bins[at])) for at in sorted(bins))
