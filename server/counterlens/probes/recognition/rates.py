"""How often each method is right for a model: measured by `benchmarks/recognition.py`, kept in `rates.json`.

A score says nothing by itself. For each model the benchmark scores code that it can have seen and code that
was published after its training, and computes the area under the ROC curve: the probability that the seen
function has the higher score. If the interval contains 0.5, the method tells nothing for this model.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


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
    known = _rates().get(identity)
    return known if known is not None and known.language == language else None


def distinguishing_rates(identity: str, language: str) -> dict[str, Rate]:
    """The methods that tell something for a model, the best first."""
    known = rates_of(identity, language)
    usable = {name: rate for name, rate in known.methods.items() if rate.distinguishes} if known else {}
    return dict(sorted(usable.items(), key=lambda each: -each[1].auc))
