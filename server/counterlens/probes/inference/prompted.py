"""Prompted inference (paper 004, section 5.1, RQ4): the model is asked which statements depend on which.

All pairs are asked for at once, or one pair at a time as CoRe does; there, yes and no are compared by their
probabilities where the model gives them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

from counterlens.models.base import Capability, Model, Progress
from counterlens.probes.inference.parsing import Answer, read_pairs, read_yes_no
from counterlens.probes.inference.prompts import Relation, all_pairs, chats, one_pair
from counterlens.probes.inference.subject import Subject


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
    if not pairs:
        return []
    if chats(model.info) or not model.offers(Capability.SCORE, cancel=cancel):
        completions = model.complete(prompts, cancel=cancel, progress=progress)
        return [
            Vote(*pair, read_yes_no(completion.text))
            for pair, completion in zip(pairs, completions, strict=True)
        ]
    texts = [prompt.text for prompt in prompts]
    shared = _beginning(texts).rpartition("\n")[0]  # read once; it ends where a line does
    asked = [text[len(shared) :] for text in texts]
    answered = [text + word for text in asked for word in (" yes", " no")]
    scores = model.score_continuations(shared, answered, alternatives=0, cancel=cancel, progress=progress)
    said = [
        float(one.logprob[one.end > len(text.encode())].sum())
        for one, text in zip(scores, (text for text in asked for _ in range(2)), strict=True)
    ]
    return [
        Vote(*pair, yes > no, 1 / (1 + math.exp(min(no - yes, 700))))
        for pair, yes, no in zip(pairs, said[::2], said[1::2], strict=True)
    ]


def _beginning(texts: Sequence[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    same = (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(same, len(first))]


def every_pair(subject: Subject) -> list[tuple[int, int]]:
    """All ordered pairs of different statements."""
    ids = range(len(subject.parts))
    return [(source, target) for source in ids for target in ids if source != target]
