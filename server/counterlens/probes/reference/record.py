"""The record of the usual scores of one problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from counterlens.probes.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAnswer:
    """What a model wrote once, and what it scores.

    Attributes:
        asked: What was asked: `function`, `line 12`, or the form of a question, such as `output`.
        scores: Whether it is right, by the id of each score that counts it.
        said: The model's text.
        finish: `stop` or `length`, as in `Completion`.
        tokens: Number of tokens that it wrote.
        failed: What shows that it is wrong: the first failed test, or the reason why nothing ran; empty if it
            is right by every score.
    """

    asked: str
    scores: Mapping[str, bool]
    said: str
    finish: str
    tokens: int
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRecord(Record):
    """The answers about one problem.

    Attributes:
        named: The model's own name, by which its published scores are found.
        asked_by: How it was asked: `chat`, `completion` or `fill`.
        answers: The answers.
    """

    named: str
    asked_by: str
    answers: tuple[ReferenceAnswer, ...]
