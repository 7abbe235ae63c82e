"""The result of the recognition probe on one function, and the scores that follow from it.

How often each method is right for a model: measured by `benchmarks/recognition.py`, kept in `rates.json`.

A score says nothing by itself. For each model the benchmark scores code that it can have seen and code that
was published after its training, and computes the area under the ROC curve: the probability that the seen
function has the higher score. If the interval contains 0.5, the method tells nothing for this model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import fmean

import msgspec

from counterlens.mutations import Concept
from counterlens.probes.record import Record

STRUCTURE = frozenset({Concept.CONTROL_FLOW, Concept.DATA_FLOW})
"""The concepts whose counterfactuals keep all names: new names alone make any code less likely."""
MARGIN, SUMMED, RANK = "margin over neighbours", "summed margin", "share of neighbours beaten"
MIN_K, VERBATIM, BEYOND = "Min-K%++", "written word for word", "word for word beyond the counterfactual"
LIKELIHOOD = "likelihood alone"
METHODS = (MARGIN, SUMMED, RANK, MIN_K, VERBATIM, BEYOND, LIKELIHOOD)
"""The names of the methods, as in `RecognitionRecord.scores`."""


class Rate(msgspec.Struct, frozen=True):
    """The measured error rates of one method for one model.

    Attributes:
        auc: Area under the ROC curve.
        low: Lower end of its 95 % interval; None if it is unknown.
        high: Upper end.
        seen: Number of functions that the model can have seen.
        fresh: Number of functions that it cannot have seen.
        threshold: The score that 5 % of the fresh functions exceed.
        above: Share of the seen functions that exceed it.
    """

    auc: float
    low: float | None
    high: float | None
    seen: int
    fresh: int
    threshold: float
    above: float

    @property
    def distinguishes(self) -> bool:
        """Whether the method distinguishes seen from fresh code at all."""
        return self.low is not None and self.low > 0.5


class ModelRates(msgspec.Struct, frozen=True):
    """The error rates for one model.

    Attributes:
        name: The model's name.
        language: The language of the functions.
        blind: The area under the ROC curve of a score that no model gives: how well the functions compress.
    """

    name: str
    language: str
    blind: float
    methods: dict[str, Rate]


@cache
def _rates() -> dict[str, ModelRates]:
    data = (files(__package__) / "rates.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, ModelRates])


def rates_of(identity: str, language: str) -> ModelRates | None:
    """The rates for a model; None if they were not measured, or for another language."""
    rates = _rates().get(identity)
    return rates if rates is not None and rates.language == language else None


def distinguishing_rates(identity: str, language: str) -> dict[str, Rate]:
    """The methods that tell something for a model, the best first."""
    rates = rates_of(identity, language)
    usable = {name: rate for name, rate in rates.methods.items() if rate.distinguishes} if rates else {}
    return dict(sorted(usable.items(), key=lambda each: -each[1].auc))


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
