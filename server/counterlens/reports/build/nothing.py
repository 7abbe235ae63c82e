"""Why a run has nothing to say of a model, in words: an empty result is not a good one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from counterlens.counting import plural
from counterlens.evaluation.effects import observed
from counterlens.evaluation.results import RunResults
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.record import Record

_SHOWN = 3


def why_nothing(results: RunResults) -> Iterator[str]:
    """A line for each model of a task of pairs of which no pair was judged: why, most frequent first."""
    for part in results.parts:
        for model, pairs in observed(part).items():
            effects = [pair.effect for pair in pairs if pair.effect is not None]
            records = [stored.record for _, stored in part.of(model)]
            if not records or effects:  # of one that gets none right, the report says that it is too weak
                continue
            if not any(isinstance(record, PairsRecord) or not record.probed for record in records):
                continue
            yield f"nothing to say of {model}: {_reason(records)}"


def _reason(records: Sequence[Record]) -> str:
    reasons = Counter[str]()
    for record in records:
        if not isinstance(record, PairsRecord):
            reasons[record.reason] += 1
        elif record.why_not_judged:
            reasons[record.why_not_judged] += 1
        else:
            reasons.update(
                {one.reason for one in (*record.refused, *record.dropped)} or {"nothing to change"}
            )
    listed = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(_SHOWN))
    return f"no pair of {plural(len(records), 'function')} could be judged: {listed}"
