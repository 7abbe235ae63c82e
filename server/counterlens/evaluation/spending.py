"""Usage and cost of the models of a run: stored in its folder, and limited by a maximum."""

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


def check_max_cost(settings: RunSettings) -> None:
    """Check that a maximum cost can be enforced: all remote models have a price, in one currency.

    Raises:
        OptionError: one has no price, or their currencies differ.
    """
    if settings.max_cost is None:
        return
    elsewhere = [spec for spec in settings.models if is_elsewhere(settings, spec)]
    prices = {model: price_of(settings, model) for model in elsewhere}
    unknown = [model for model, price in prices.items() if price is None]
    if unknown or not prices:
        who = unknown[0] if unknown else settings.models[0]
        raise OptionError(
            f"--max-cost needs a price: the cost of {who} is not known",
            "Give it a price in [models.NAME]: price = { input = 0.15, output = 0.6 }, per million tokens"
            if unknown
            else "Models on this machine cost nothing: omit it, or use --minutes",
        )
    currencies = sorted({price.currency for price in prices.values() if price})
    if len(currencies) > 1:
        raise OptionError(
            f"--max-cost needs one currency, but the prices are in {' and '.join(currencies)}",
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
        self._open: dict[str, tuple[Model, Usage]] = {}
        self._before = self.cost

    def begin(self, spec: str, model: Model) -> None:
        """Start following an open model."""
        self._open[spec] = model, self._spent.get(spec, Usage())

    def end(self) -> None:
        """Stop following models, which are about to be closed."""
        self.record_usage()
        self._open.clear()

    def record_usage(self) -> None:
        """Store the usage of the open models so far, in this part of the run and in earlier ones."""
        for spec, (model, before) in self._open.items():
            now = before + model.usage
            if now != self._spent.get(spec, Usage()):
                self._spent[spec] = now
                self._store.keep_spent(spec, now)

    def within(self) -> bool:
        """Whether the maximum cost allows more requests."""
        self.record_usage()
        return self._settings.max_cost is None or self.cost < self._settings.max_cost

    def affordable(self, done: int, most: int) -> int:
        """Number of items that may be in progress within the maximum cost, at the cost of those done.

        Args:
            done: Number of items of this part of the run.
            most: Maximum number.
        """
        if self._settings.max_cost is None:
            return most
        cost, left = self.cost - self._before, self._settings.max_cost - self.cost
        return max(1, min(most, int(left * done / cost) if cost else done))

    @property
    def cost(self) -> float:
        """The cost of all models."""
        return sum(map(self._cost_of, self._spent))

    @property
    def over(self) -> str:
        """A message that the maximum cost is reached; empty if it is not."""
        if self._settings.max_cost is None or self.cost < self._settings.max_cost:
            return ""
        currency = next(price.currency for spec in self._spent if (price := price_of(self._settings, spec)))
        most = amount(self._settings.max_cost, currency)
        return f"the maximum cost of {most} is reached: {amount(self.cost, currency)}"

    def usage_text(self, spec: str) -> str:
        """The usage of a model, in words; empty if it is not counted."""
        usage = self._spent.get(spec, Usage())
        if not usage.requests:
            return ""
        price = price_of(self._settings, spec)
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
