"""From reactions to scores of edges: higher where a model's expectations say that b depends on a.

Data, from `Kind.HIDE`: the sum of the positive drops at the tokens of the variables that b reads. All are
looked at, whichever the variables of a are, so the score does not know which names recur.

Control, from `Kind.NEGATE` and `Kind.NEUTRALISE`: the largest change, up or down, among b's first three
tokens (the line break and indentation among them), summed over the two, minus the placebo: the mean of what
changing a does to the other statements, and what changing the other branches does to b.

`docs/influence.md` has the reasons, and what else was tried.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from counterlens.probes.inference.interventions import Kind
from counterlens.probes.inference.reactions import Reaction
from counterlens.probes.inference.subject import Part, Role, Span, Subject

Pair = tuple[int, int]
Scores = dict[Pair, float]
Reduce = Callable[[npt.NDArray[np.float64]], float]
FIRST_TOKENS = 3

DATA_KINDS = (Kind.HIDE,)
CONTROL_KINDS = (Kind.NEGATE, Kind.NEUTRALISE)


def data_scores(subject: Subject, reactions: Iterable[Reaction], kind: Kind = Kind.HIDE) -> Scores:
    """Nats that the reads of b lose when what a binds gets another name."""
    return {
        (one.source, one.target): gain(one.within(reads(subject.parts[one.target])))
        for one in reactions
        if one.kind is kind
    }


def control_scores(reactions: Iterable[Reaction]) -> Scores:
    """Nats by which b's first tokens change when a's condition does, beyond the placebos."""
    raw: Scores = {}
    for one in reactions:
        if one.kind in CONTROL_KINDS:
            pair = one.source, one.target
            raw[pair] = raw.get(pair, 0.0) + largest(known(one.drops[:FIRST_TOKENS]))
    return minus_placebo(raw)


def minus_placebo(raw: Mapping[Pair, float]) -> Scores:
    """Scores minus the mean of two placebos: of the same change elsewhere, and of other changes there.

    Neither knows which pairs are edges. A placebo without any other pair is 0.
    """
    by_source: dict[int, list[float]] = {}
    by_target: dict[int, list[float]] = {}
    for (source, target), value in raw.items():
        by_source.setdefault(source, []).append(value)
        by_target.setdefault(target, []).append(value)
    return {
        (source, target): value - (_others(by_source[source], value) + _others(by_target[target], value)) / 2
        for (source, target), value in raw.items()
    }


def _others(values: list[float], value: float) -> float:
    return (sum(values) - value) / (len(values) - 1) if len(values) > 1 else 0.0


def looked_at(kind: Kind, part: Part) -> bool:
    """Whether the scores of edges into a statement rest on its tokens, when another one is changed so."""
    return kind not in DATA_KINDS or bool(reads(part))


def reads(part: Part) -> list[Span]:
    """Where a statement reads variables, whichever they are."""
    augmented = isinstance(part.node, ast.AugAssign)
    return [one.span for one in part.occurrences if augmented or one.role is not Role.BOUND]


def known(drops: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Without the tokens that the change cut differently."""
    return drops[~np.isnan(drops)]


def gain(drops: npt.NDArray[np.float64]) -> float:
    """The sum of the positive ones."""
    return float(np.maximum(drops, 0.0).sum())


def largest(drops: npt.NDArray[np.float64]) -> float:
    """The largest change, up or down; 0 of none."""
    return float(np.abs(drops).max()) if len(drops) else 0.0


def peak(drops: npt.NDArray[np.float64]) -> float:
    """The largest drop; 0 of none."""
    return float(drops.max()) if len(drops) else 0.0
