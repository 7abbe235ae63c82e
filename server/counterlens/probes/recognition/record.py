"""The result of the recognition probe on one function, and the scores that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from counterlens.mutations import Concept
from counterlens.probes.record import Record

STRUCTURE = frozenset({Concept.CONTROL_FLOW, Concept.DATA_FLOW})
"""The concepts whose counterfactuals keep all names: new names alone make any code less likely."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A preserving counterfactual of a function, and how likely it is, in nats.

    Attributes:
        mutation: The id of its mutation.
        concept: The concept that the mutation perturbs.
        line: Its line in the original, 1-based.
        tokens: Number of its scored tokens.
        total: The log-probability of all of them.
    """

    mutation: str
    concept: Concept
    line: int
    tokens: int
    total: float

    @property
    def mean(self) -> float:
        """The log-probability per token."""
        return self.total / self.tokens


@dataclass(frozen=True, slots=True)
class Verbatim:
    """What a model writes of the second half of a program, given the first.

    Attributes:
        mutation: The mutation of the program; empty for the original.
        words: Number of words of the true second half.
        written: Number of them that the model writes word for word, from the first on.
    """

    mutation: str
    words: int
    written: int

    @property
    def share(self) -> float:
        """The share that it writes word for word."""
        return self.written / self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionRecord(Record):
    """The scores of a function, of its neighbours, and of the most unlikely tokens.

    Attributes:
        identity: The identity of the model, by which its error rates are known.
        tokens: Number of scored tokens of the function.
        total: Their log-probability, in nats.
        neighbours: Its preserving counterfactuals.
        min_k: Min-K%++ (Zhang et al. 2024, equation 3) over the lowest fifth of the tokens; None if the model
            does not give whole distributions.
        verbatim: What the model writes of the second half: of the original, then of a counterfactual.
    """

    identity: str
    language: str
    tokens: int
    total: float
    neighbours: tuple[Neighbour, ...]
    min_k: float | None
    verbatim: tuple[Verbatim, ...] = ()

    @property
    def mean(self) -> float:
        """The log-probability of the function per token."""
        return self.total / self.tokens

    def margins(self, *concepts: Concept) -> list[float]:
        """How much likelier the original is than each neighbour of some concepts, in nats per token."""
        return [self.mean - each.mean for each in self.neighbours if each.concept in concepts]

    @property
    def scores(self) -> Mapping[str, float | None]:
        """What each method says: the higher, the more it suggests that the model has seen the function."""
        structural = [each for each in self.neighbours if each.concept in STRUCTURE]
        margins = self.margins(*STRUCTURE)
        shares = [each.share for each in self.verbatim]
        return {
            MARGIN: fmean(margins) if margins else None,
            SUMMED: fmean(self.total - each.total for each in structural) if structural else None,
            RANK: sum(margin > 0 for margin in margins) / len(margins) if margins else None,
            MIN_K: self.min_k,
            VERBATIM: shares[0] if shares else None,
            BEYOND: shares[0] - shares[1] if len(shares) > 1 else None,
            LIKELIHOOD: self.mean,
        }


MARGIN, SUMMED, RANK = "margin over neighbours", "summed margin", "share of neighbours beaten"
MIN_K, VERBATIM, BEYOND = "Min-K%++", "written word for word", "word for word beyond the counterfactual"
LIKELIHOOD = "likelihood alone"
METHODS = (MARGIN, SUMMED, RANK, MIN_K, VERBATIM, BEYOND, LIKELIHOOD)
"""The names of the methods, as in `RecognitionRecord.scores`."""
