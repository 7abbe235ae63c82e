"""Compute scores of edges from reactions: higher if a model's expectations indicate that b depends on a.

Data, from `Intervention.HIDE`: the sum of the positive drops at the tokens of the variables that b reads. All
variables that b reads count, not only those of a, so the score does not know which names recur.

Control, from `NEGATE` and `NEUTRALISE`: the largest change, up or down, among b's first three tokens
(including the line break and indentation), summed over the two, minus the placebo: the mean of the effect of
changing a on the other statements, and of the effect of changing the other branches on b.

`docs/influence.md` has the reasons, and `docs/results/influence.md` alternatives that were tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.intervention import Intervention
from counterlens.probes.dependence.parts import Part, StatementPair
from counterlens.probes.dependence.reactions import Reaction

PairScores = dict[StatementPair, float]
Reduce = Callable[[npt.NDArray[np.float64]], float]
FIRST_TOKENS = 3

DATA_KINDS = (Intervention.HIDE,)
CONTROL_KINDS = (Intervention.NEGATE, Intervention.NEUTRALISE)


def data_scores(
    subject: ExaminedFunction, reactions: Iterable[Reaction], kind: Intervention = Intervention.HIDE
) -> PairScores:
    """Nats that the reads of b lose if the names that a binds are renamed."""
    return {
        (reaction.source, reaction.target): gain(
            reaction.within([read.span for read in subject.parts[reaction.target].reads])
        )
        for reaction in reactions
        if reaction.kind is kind
    }


def control_scores(reactions: Iterable[Reaction]) -> PairScores:
    """Nats by which b's first tokens change if a's condition changes, beyond the placebos."""
    raw: PairScores = {}
    for reaction in reactions:
        if reaction.kind in CONTROL_KINDS:
            pair = reaction.source, reaction.target
            raw[pair] = raw.get(pair, 0.0) + largest(known_drops(reaction.drops[:FIRST_TOKENS]))
    return minus_placebo(raw)


def minus_placebo(raw: Mapping[StatementPair, float]) -> PairScores:
    """Scores minus the mean of two placebos: the change's effect elsewhere, and other changes' effect here.

    Neither knows which pairs are edges. A placebo without other pairs is 0.
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


def looked_at(kind: Intervention, part: Part) -> bool:
    """Whether the scores of edges into a statement use its tokens for this kind of change."""
    return kind not in DATA_KINDS or bool(part.reads)


def known_drops(drops: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The drops without those of tokens that the change split differently."""
    return drops[~np.isnan(drops)]


def gain(drops: npt.NDArray[np.float64]) -> float:
    """The sum of the positive drops."""
    return float(np.maximum(drops, 0.0).sum())


def largest(drops: npt.NDArray[np.float64]) -> float:
    """The largest change, up or down; 0 if there is none."""
    return float(np.abs(drops).max()) if len(drops) else 0.0


def peak(drops: npt.NDArray[np.float64]) -> float:
    """The largest drop; 0 if there is none."""
    return float(drops.max()) if len(drops) else 0.0
