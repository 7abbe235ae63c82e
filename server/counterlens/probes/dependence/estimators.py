"""Compute scores of edges from reactions: higher if a model's expectations indicate that b depends on a.

Data, from `Intervention.HIDE`: the sum of the positive drops at the tokens of the variables that b reads. All
variables that b reads count, not only those of a, so the score does not know which names recur.

Control, from `NEGATE` and `NEUTRALISE`: the largest change, up or down, among b's first three tokens
(including the line break and indentation), summed over the two, minus the placebo: the mean of the effect of
changing a on the other statements, and of the effect of changing the other branches on b.

`docs/influence.md` has the reasons, and `docs/results/influence.md` alternatives that were tried.

Interventional inference needs no prompt. The model's belief about statement b changes with statement a if it
depends on a. The influences of every statement on every later one form a matrix; entries above a threshold
count as inferred edges. Method, assumptions and limits: `docs/influence.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError, SourceError
from counterlens.models.base import Capability, Model, ModelInfo
from counterlens.probes.dependence.examined import (
    ExaminedFunction,
    Intervention,
    Part,
    Relation,
    StatementPair,
)
from counterlens.probes.dependence.reactions import Reaction, react
from counterlens.progress import Steps

PairScores = dict[StatementPair, float]
Reduce = Callable[[npt.NDArray[np.float64]], float]
FIRST_TOKENS = 3

DATA_KINDS = (Intervention.HIDE,)
CONTROL_KINDS = (Intervention.NEGATE, Intervention.NEUTRALISE)
MOST_STATEMENTS = 120
THRESHOLDS = {Relation.DATA: 0.8, Relation.CONTROL: 0.05}
"""Minimum nats of an influence that counts as an edge: best by F1 on the functions that the method was
developed on, among values above 0 (`benchmarks/influence_thresholds.py`). A change without a reaction, or
with no more than the placebos', is not an edge."""


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


@dataclass(frozen=True, slots=True)
class Influence:
    """The effect of changing each statement on the model's expectation of each later one.

    Attributes:
        data: Nats by (source, target), for the measured pairs: the source binds something, and the target
            follows it.
        control: Likewise, for sources that are an `if`, `for` or `while`.
    """

    subject: ExaminedFunction
    model: ModelInfo
    data: PairScores
    control: PairScores

    def scores(self, relation: Relation) -> PairScores:
        """The influences of one kind."""
        return self.data if relation is Relation.DATA else self.control

    def edges(self, relation: Relation, threshold: float | None = None) -> set[StatementPair]:
        """The pairs whose influence is at least a threshold, and above 0: no reaction is no edge."""
        least = THRESHOLDS[relation] if threshold is None else threshold
        return {pair for pair, value in self.scores(relation).items() if value >= least and value > 0}

    def matrix(self, relation: Relation) -> npt.NDArray[np.float64]:
        """(n, n) float64 nats, source by target; NaN if a pair was not measured."""
        count = len(self.subject.parts)
        matrix = np.full((count, count), np.nan)
        for (source, target), value in self.scores(relation).items():
            matrix[source, target] = value
        return matrix


def infer_influence(model: Model, subject: ExaminedFunction, steps: Steps | None = None) -> Influence:
    """Change each statement of a function, and measure the model's reaction on the rest.

    The model reads the function about as many times as it has statements.

    Raises:
        SourceError: the function has too many statements.
        ModelError: the model cannot answer, or returns no token probabilities.
        Cancelled: it was cancelled.
    """
    steps = steps or Steps()
    if len(subject.parts) > MOST_STATEMENTS:
        raise SourceError(
            f"{subject.dependences.function} has {len(subject.parts)} statements; "
            f"influence is measured for at most {MOST_STATEMENTS}",
            "Choose a smaller function",
        )
    if not model.offers(Capability.SCORE, cancel=steps.cancel):
        raise ModelError(
            f"{model.info.name} returns no token probabilities, so no influence can be measured",
            "Use the prompted method instead",
        )
    reactions = []
    for done, part in enumerate(subject.parts):
        steps.next(f"changing line {part.statement.line}", done, len(subject.parts))
        reactions += react(
            model, subject, part, DATA_KINDS + CONTROL_KINDS, looked_at=looked_at, cancel=steps.cancel
        )
    return Influence(subject, model.info, data_scores(subject, reactions), control_scores(reactions))
