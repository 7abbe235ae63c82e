"""The beginning of a report on a run: the answer in words and one picture, and the worst functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from counterlens.evaluation.effects import observed
from counterlens.evaluation.results import RunResults
from counterlens.metrics.model_comparison import Adequacy, adequacy
from counterlens.metrics.summary import EffectSummary
from counterlens.probes.pairs.floor_wording import noisy_verdict
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.stability_wording import unstable
from counterlens.probes.record import Record
from counterlens.reports.build.places import place_tables
from counterlens.reports.document import Block, Figure, Paragraph, TableBlock
from counterlens.reports.intervals import drawn

_MEANING = (
    "Held is the share of the pairs with a right verdict whose verdict stays right after the change: higher "
    "is better. The average mutation effect in the tables is its complement: lower is better."
)


def verdicts_held(models: Mapping[str, EffectSummary]) -> Iterator[Block]:
    """The share that each model holds, with its interval, best first, and a note for readers.

    Args:
        models: The pooled pairs of each model.
    """
    held = {model: summary.average.complement for model, summary in models.items()}
    if not any(one.n for one in held.values()):
        return
    yield Paragraph(_MEANING, quiet=True)
    ordered = sorted(held.items(), key=lambda one: -(one[1].value or 0.0))
    weak = {
        model: f"{found} to compare"
        for model, summary in models.items()
        if (found := adequacy(summary)) is not Adequacy.ADEQUATE
    }
    rows = tuple((model, one, weak.get(model, "")) for model, one in ordered)
    yield Figure(
        "Verdicts held by each model",
        "Share of pairs with a right verdict that keep it, per model, as a point on a scale from 0 to 100 "
        "percent, with its 95 percent interval as a line; higher is better.",
        TableBlock("verdicts held by each model", ("model", "held", "note"), rows),
        svg=drawn([(model, one, model not in weak) for model, one in ordered]),
    )


def places(results: RunResults, *, brief: bool = False) -> Iterator[TableBlock]:
    """The places where the models of a run of one task hold and fail.

    Args:
        results: The run.
        brief: Whether to shorten the tables.
    """
    headings = {(item.model, item.problem): f"record-{item.position}" for item, _ in results.records}
    pairs = observed(results)
    for model, some in pairs.items():
        targets = {} if brief else {name: at for (who, name), at in headings.items() if who == model}
        noise = {item.problem: why for item, stored in results.of(model) if (why := _noise_in(stored.record))}
        yield from place_tables(some, model if len(pairs) > 1 else "", targets, noise, brief=brief)


def _noise_in(record: Record) -> str:
    """What may explain the lost verdicts of a function, besides the mutations; empty if nothing does."""
    if not isinstance(record, PairsRecord):
        return ""
    return "a placebo changes it, too" if noisy_verdict(record) else "unstable" if unstable(record) else ""
