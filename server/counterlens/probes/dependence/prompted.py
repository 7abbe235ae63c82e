"""Prompted inference (Nguyen et al. 2024, section 5.1, RQ4): which statements depend on which?

One prompt asks for all pairs, or one per pair asks for yes or no.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from counterlens.models.base import Model
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.parsing import ListedPairs, read_pairs, read_yes_no
from counterlens.probes.dependence.parts import StatementPair
from counterlens.probes.dependence.prompts import all_pairs, one_pair
from counterlens.probes.dependence.yes_no import YesNo, ask
from counterlens.progress import Steps


def ask_all(
    model: Model,
    subject: ExaminedFunction,
    relation: Relation,
    *,
    protocol: str = "",
    cancel: Event | None = None,
) -> ListedPairs:
    """Ask for all pairs of a function, in the words of a protocol if there is one.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: `cancel` was set.
    """
    ids, prompt = range(len(subject.parts)), all_pairs(model.info, subject, relation, protocol=protocol)
    (completion,) = model.complete([prompt], cancel=cancel)
    listed = read_pairs(completion.text, ids, cut_off=completion.finish == "length")
    copied = any(
        listed.pairs and listed.pairs == read_pairs(example, ids).pairs for example in prompt.examples
    )
    return replace(listed, copied=copied)


def ask_pairs(
    model: Model,
    subject: ExaminedFunction,
    relation: Relation,
    pairs: Sequence[StatementPair],
    steps: Steps | None = None,
) -> dict[StatementPair, YesNo]:
    """Ask about some pairs of one function, one at a time.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    prompts = [one_pair(model.info, subject, relation, *pair) for pair in pairs]
    answers = ask(model, prompts, read_yes_no, steps or Steps(), f"asking about {relation}")
    return dict(zip(pairs, answers, strict=True))


def every_pair(subject: ExaminedFunction) -> list[StatementPair]:
    """All ordered pairs of different statements."""
    ids = range(len(subject.parts))
    return [(source, target) for source in ids for target in ids if source != target]
