"""Usage and cost of the models of a run: stored in its folder, and limited by a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterlens.errors import ModelError, OptionError
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Store
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model
from counterlens.models.entries import entry_named
from counterlens.models.registry import runs_here
from counterlens.models.usage import Price, Usage

_NOTE = (
    "over all answered requests, including those of interrupted parts; cached answers cost nothing; tokens "
    "written include reasoning; prices from the model's entry"
)
_ESTIMATED = "estimated: requests for which the endpoint gave no token count"


def price_of(settings: RunSettings, model: str) -> Price | None:
    """The price of the tokens of a model of a run; None if unknown."""
    entry = entry_named(model, settings.entries)
    return None if entry is None else entry.price


def is_elsewhere(settings: RunSettings, model: str) -> bool:
    """Whether a model of a run is behind an endpoint, judging by its name."""
    try:
        return not runs_here(model, settings.entries)
    except ModelError:  # it will be refused when it is opened
        return False


def amount(cost: float, currency: str) -> str:
    """A sum of money in words, with enough digits for small ones: `0.0042 USD`, `12.34 USD`."""
    return f"{cost:,.2f} {currency}" if cost >= 1 or not cost else f"{cost:.2g} {currency}"


def check_budget(settings: RunSettings) -> None:
    """Check that a budget can be enforced: all remote models have a price, in one currency.

    Raises:
        OptionError: one has no price, or their currencies differ.
    """
    if settings.budget is None:
        return
    elsewhere = [spec for spec in settings.models if is_elsewhere(settings, spec)]
    prices = {model: price_of(settings, model) for model in elsewhere}
    unknown = [model for model, price in prices.items() if price is None]
    if unknown or not prices:
        who = unknown[0] if unknown else settings.models[0]
        raise OptionError(
            f"--budget needs a price: the cost of {who} is not known",
            "Give it a price in [models.NAME]: price = { input = 0.15, output = 0.6 }, per million tokens"
            if unknown
            else "Models on this machine cost nothing: omit it, or use --minutes",
        )
    currencies = sorted({price.currency for price in prices.values() if price})
    if len(currencies) > 1:
        raise OptionError(
            f"--budget needs one currency, but the prices are in {' and '.join(currencies)}",
            "Convert the prices",
        )


class Spending:
    """Follows the usage of a run, from one thread.

    Args:
        settings: The run's settings.
    """

    def __init__(self, store: Store, settings: RunSettings) -> None:
        self._store, self._settings = store, settings
        self._spent = dict(store.spent)
        self._limits: dict[str, float] = {}
        self._model: Model | None = None
        self._spec, self._before = "", Usage()

    def begin(self, spec: str, model: Model) -> None:
        """Start following a model, which shares the remaining budget equally with those after it."""
        models = self._settings.models
        later = [name for name in models[models.index(spec) :] if price_of(self._settings, name)]
        if self._settings.budget is not None and spec in later:
            left = max(0.0, self._settings.budget - self.cost)
            self._limits[spec] = self._cost_of(spec) + left / len(later)
        self._model, self._spec, self._before = model, spec, self._spent.get(spec, Usage())

    def record_usage(self) -> None:
        """Store the model's usage so far, in this part of the run and in earlier ones."""
        if self._model is None or self._model.usage == Usage():
            return
        now = self._before + self._model.usage
        if now != self._spent.get(self._spec):
            self._spent[self._spec] = now
            self._store.keep_spent(self._spec, now)

    def within(self) -> bool:
        """Whether the budget allows more requests to the model."""
        self.record_usage()
        return self._is_within(self._spec)

    def affordable(self, done: int, most: int) -> int:
        """Number of items that may be in progress without exceeding the budget, at the cost of those done.

        Args:
            done: Number of items that this part of the run has asked the model about.
            most: Maximum number.
        """
        limit = self._limits.get(self._spec)
        if limit is None:
            return most
        price = price_of(self._settings, self._spec)
        cost = self._cost_of(self._spec) - (price.of(self._before) if price else 0.0)
        left = limit - self._cost_of(self._spec)
        return max(1, min(most, int(left * done / cost) if cost else done))

    def _is_within(self, spec: str) -> bool:
        limit = self._limits.get(spec)
        return limit is None or self._cost_of(spec) < limit

    @property
    def cost(self) -> float:
        """The cost of all models."""
        return sum(map(self._cost_of, self._spent))

    @property
    def over(self) -> str:
        """A message that the budget is spent; empty if it is not."""
        if all(map(self._is_within, self._limits)):
            return ""
        currency = next(price.currency for spec in self._limits if (price := price_of(self._settings, spec)))
        budget = amount(self._settings.budget or 0.0, currency)
        return f"the budget of {budget} is spent: {amount(self.cost, currency)}"

    @property
    def usage_text(self) -> str:
        """The model's usage, in words; empty if it is not counted."""
        usage = self._spent.get(self._spec, Usage())
        if not usage.requests:
            return ""
        price = price_of(self._settings, self._spec)
        cost = f", {amount(price.of(usage), price.currency)}" if price else ""
        return f"{usage.tokens:,} tokens{cost}"

    def _cost_of(self, spec: str) -> float:
        price = price_of(self._settings, spec)
        return price.of(self._spent.get(spec, Usage())) if price else 0.0


def spending_table(settings: RunSettings, spent: Mapping[str, Usage]) -> Sequence[Table]:
    """Usage and cost of the models of a run; none if nothing was counted."""
    rows: list[tuple[Cell, ...]] = []
    for model in settings.models:
        usage, price = spent.get(model, Usage()), price_of(settings, model)
        if usage.requests:
            cost = amount(price.of(usage), price.currency) if price else None
            counts = (usage.requests, usage.read, usage.cached, usage.written, usage.thought)
            rows.append((model, *counts, usage.estimated, cost))
    if not rows:
        return ()
    columns = ("model", "requests", "tokens read", "of them cached", "written", "of them reasoning")
    return (
        Table("tokens and price", (*columns, "estimated", "price"), tuple(rows), f"{_NOTE}; {_ESTIMATED}"),
    )
