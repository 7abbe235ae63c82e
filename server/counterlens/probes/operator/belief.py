"""The model's belief about one operator, and whether it clearly prefers another: a hint at a bug."""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import Event

from counterlens.confidence.scoring import TOKEN_NATS, distinguishable
from counterlens.errors import UnscorableError
from counterlens.models.base import Capability, Model
from counterlens.probes.operator.scoring import OperatorDistribution, OperatorScorer
from counterlens.probes.operator.tables import PREFERRED
from counterlens.syntax.document import Document
from counterlens.syntax.operators import OperatorSite


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """The model's belief about one operator.

    Attributes:
        distribution: The shares of the candidates.
        noise: Maximum effect of rounding on the margin between two candidates, in 95 % of cases, in nats.
    """

    distribution: OperatorDistribution
    noise: float

    @property
    def preferred(self) -> str | None:
        """The operator that is likelier than the existing one, by more than noise; None if there is none."""
        asked = self.distribution
        sure = distinguishable(asked.margin, 0.0, self.noise)
        return asked.predicted if sure and not asked.correct else None

    @property
    def share(self) -> float:
        """The share of the likeliest candidate."""
        return float(self.distribution.probability.max())

    def doubts(self, threshold: float = PREFERRED) -> bool:
        """Whether it strongly prefers another operator.

        Args:
            threshold: Minimum share of the other operator.
        """
        return self.preferred is not None and self.share >= threshold


def believe(model: Model, document: Document, site: OperatorSite, *, cancel: Event | None = None) -> Belief:
    """Compute a model's belief about one operator.

    The noise of the tokens' log-probabilities adds up like independent errors, so the noise of a margin grows
    with the square root of the number of tokens.

    Raises:
        UnscorableError: the model returns no token probabilities.
        SourceError, ModelError, Cancelled: as `OperatorScorer.score`.
    """
    if not model.offers(Capability.SCORE, cancel=cancel):
        raise UnscorableError(f"{model.info.name} returns no token probabilities")
    scores = OperatorScorer(model, document).score(site, cancel=cancel)
    tokens = max(map(len, scores.scores))
    return Belief(scores.distribution(), TOKEN_NATS * math.sqrt(tokens))
