"""Interventional inference: the dependences that a model's expectations show, without a prompt.

The model's belief about statement b changes with statement a if it depends on a. The influences of every
statement on every later one form a matrix; entries above a threshold count as inferred edges. Method,
assumptions and limits: `docs/influence.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError, SourceError
from counterlens.models.base import Capability, Model, ModelInfo
from counterlens.probes.dependence.estimators import (
    CONTROL_KINDS,
    DATA_KINDS,
    PairScores,
    control_scores,
    data_scores,
    looked_at,
)
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.parts import StatementPair
from counterlens.probes.dependence.reactions import react
from counterlens.progress import Steps

MOST_STATEMENTS = 120
THRESHOLDS = {Relation.DATA: 0.8, Relation.CONTROL: 0.05}
"""Minimum nats of an influence that counts as an edge: best by F1 on the functions that the method was
developed on, among values above 0 (`benchmarks/influence_thresholds.py`). A change without a reaction, or
with no more than the placebos', is not an edge."""


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
