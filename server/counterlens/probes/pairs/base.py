"""The common parts of the three pair probes: their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from counterlens.metrics.summary import summarize
from counterlens.metrics.table import Table
from counterlens.probes.options import ProbeOptions
from counterlens.probes.pairs.counterfactuals import preserving
from counterlens.probes.pairs.methods import METHODS, forms_of
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.wording import figures, meaning
from counterlens.probes.probe import Probe, Target

OptionsT = TypeVar("OptionsT", bound=ProbeOptions)
Pairs = Mapping[str, Sequence[tuple[str, PairRecord]]]
"""For each model its pairs, each with its target."""


class PairsProbe(Probe[OptionsT, PairsRecord]):
    """A probe of a function beside its counterfactuals."""

    record = PairsRecord

    def check_target(self, target: Target, options: OptionsT) -> None:
        """Like `Probe.check_target`: the language needs the mutations, in the chosen form."""
        language, protocol = target.document.language, options.chosen_protocol
        only, added = (getattr(options, name, ()) for name in ("mutations", "added_mutations"))
        mutations = preserving(only, protocol, language, added)
        forms_of(protocol, mutations, getattr(options, "reach", 1), language)

    def tables(self, records: Sequence[PairsRecord], *, seed: int) -> tuple[Table, ...]:
        return tuple(
            replace(table, columns=table.columns[1:], rows=tuple(row[1:] for row in table.rows))
            for table in self.side_by_side({"": records}, seed=seed)
        )

    def side_by_side(self, models: Mapping[str, Sequence[PairsRecord]], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        """Like `Probe.side_by_side`; the tests of a table are one family over all models."""
        protocol = next((record.protocol for records in models.values() for record in records), "")
        return METHODS[protocol].tables(models)

    def summary(self, records: Sequence[PairsRecord]) -> str:
        if len(records) == 1:
            return meaning(records[0])
        from counterlens.probes.pairs.floor_tables import overall_floor  # one function has no tables

        together = summarize([seen for record in records for seen in record.observations])
        floor = overall_floor(records)
        return f"{len(records)} functions: {figures(together, floor)}."

    def measures(self, record: PairsRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`: are all originals right, are all counterfactuals?"""
        sides = {
            "originals": [pair.original_right for pair in record.pairs],
            "counterfactuals": [pair.counterfactual_right for pair in record.pairs],
        }
        judged = {name: [right for right in side if right is not None] for name, side in sides.items()}
        return {f"all {name} right": all(side) for name, side in judged.items() if side}
