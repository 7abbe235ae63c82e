"""Describes the reason for an empty result of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from counterlens.counting import plural
from counterlens.evaluation.effects import observed
from counterlens.evaluation.results import RunResults
from counterlens.probes.pairs.counterfactuals import ELSEWHERE
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Need
from counterlens.probes.record import Record
from counterlens.probes.registry import PROBES

_SHOWN = 3


def why_nothing(results: RunResults) -> Iterator[str]:
    """A line per model of a pair task without judged pairs: the reasons, most frequent first."""
    for part in results.parts:
        probe = PROBES[part.settings.task]
        if not issubclass(probe.record, PairsRecord) or Need.COMPLETE not in probe.needs:
            continue
        for model, pairs in observed(part).items():
            records = [stored.record for _, stored in part.of(model)]
            # If a model gets none right, the report says that it is, or may be, too weak.
            if records and not any(pair.effect for pair in pairs):
                yield f"no result for {model}: {_reason(records)}"


def _reason(records: Sequence[Record]) -> str:
    reasons = Counter[str]()
    for record in records:
        if not isinstance(record, PairsRecord):
            reasons[record.reason] += 1
        elif record.why_not_judged:
            reasons[record.why_not_judged] += 1
        else:
            reasons.update(_without_pairs(record))
    ordered = sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0]))
    listed = "; ".join(f"{reason} ({count})" for reason, count in ordered[:_SHOWN])
    return f"no pair of {plural(len(records), 'function')} could be judged: {listed}"


def _without_pairs(record: PairsRecord) -> set[str]:
    """Why a function that can be judged has no pair.

    The report says so if it can be mutated, but not on the requested lines.
    """
    found = {one.reason for one in record.refused}
    if ELSEWHERE in found:
        return {ELSEWHERE}
    found |= {f"{one.mutation} is judged differently from the original" for one in record.dropped}
    return found or {"nothing to change"}
