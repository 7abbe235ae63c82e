"""Prompted inference (Nguyen et al. 2024, section 5.1, RQ4): which statements depend on which, it is asked.

All pairs are asked for at once, or one pair at a time, to be answered by yes or no.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

from counterlens.models.base import Model, Progress
from counterlens.probes.inference.parsing import Answer, read_pairs, read_yes_no
from counterlens.probes.inference.prompts import Relation, all_pairs, one_pair
from counterlens.probes.inference.subject import Subject
from counterlens.probes.inference.yes_no import ask


@dataclass(frozen=True, slots=True)
class Vote:
    """What a model says of one pair.

    Attributes:
        source: The statement that may be depended on.
        target: The statement that may depend on it.
        yes: Whether it says so; None where its answer cannot be read.
        probability: p(yes) / (p(yes) + p(no)); None where the model gives no probabilities.
    """

    source: int
    target: int
    yes: bool | None
    probability: float | None = None


def ask_all(
    model: Model,
    subjects: Sequence[Subject],
    relation: Relation,
    *,
    cancel: Event | None = None,
    progress: Progress | None = None,
) -> list[Answer]:
    """Ask for all pairs of each function.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `cancel` was set.
    """
    prompts = [all_pairs(model.info, subject, relation) for subject in subjects]
    completions = model.complete(prompts, cancel=cancel, progress=progress)
    return [
        read_pairs(completion.text, range(len(subject.parts)), cut_off=completion.finish == "length")
        for subject, completion in zip(subjects, completions, strict=True)
    ]


def ask_pairs(
    model: Model,
    subject: Subject,
    relation: Relation,
    pairs: Sequence[tuple[int, int]],
    *,
    cancel: Event | None = None,
    progress: Progress | None = None,
) -> list[Vote]:
    """Ask about some pairs of one function, one at a time.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `cancel` was set.
    """
    prompts = [one_pair(model.info, subject, relation, *pair) for pair in pairs]
    answers = ask(model, prompts, read_yes_no, cancel=cancel, progress=progress)
    return [Vote(*pair, one.yes, one.probability) for pair, one in zip(pairs, answers, strict=True)]


def every_pair(subject: Subject) -> list[tuple[int, int]]:
    """All ordered pairs of different statements."""
    ids = range(len(subject.parts))
    return [(source, target) for source in ids for target in ids if source != target]
