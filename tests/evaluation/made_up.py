"""Made-up records, for tables that are computed by hand."""

from __future__ import annotations

from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.metrics.effects import Effect, PairOutcome
from counterlens.probes.pairs.record import PairRecord, PairsRecord, Side
from counterlens.probes.record import Outcome, Record

NAMES = ("one", "two", "three", "four")


def pair(original: bool | None, counterfactual: bool | None) -> PairRecord:
    """A pair with these verdicts; None for a side without a verdict."""

    def side(right: bool | None) -> Side:
        verdict = "refused" if right is None else "passed" if right else "failed"
        return Side(
            "    if x:", "        return 1\n", "stop", verdict, "tests", 1, None, None, False, None, ""
        )

    judged = original is not None and counterfactual is not None
    return PairRecord(
        mutation="if-else-flip",
        concept="control flow",
        start_line=1,
        end_line=2,
        description="changed | something",
        assumptions=(),
        diff=("@@ -1 +1 @@", "-```", "+b"),
        edits=(),
        cut=None,
        original=side(original),
        counterfactual=side(counterfactual),
        original_right=original,
        counterfactual_right=counterfactual,
        outcome=Effect(bool(original), bool(counterfactual)).outcome if judged else PairOutcome.NOT_JUDGED,
        copied=False,
        likelihood=None,
    )


def pairs_record(target: str, *pairs: PairRecord, judged_by: str | None = None) -> PairsRecord:
    """The record of a function with these pairs."""
    return PairsRecord(
        target=target,
        function="f",
        start_line=1,
        end_line=9,
        judged_by=judged_by,
        why_not_judged=None,
        note=None,
        pairs=pairs,
        refused=(),
        dropped=(),
    )


def left_out(reason: str = "no tests") -> Record:
    """The record of a function that could not be probed."""
    return Record(outcome=Outcome.LEFT_OUT, reason=reason)


def records(
    *verdicts: tuple[bool | None, bool | None] | None, task: str = "completion"
) -> list[tuple[Item, StoredRecord]]:
    """A function for each pair of verdicts; None for a function that was left out."""
    return [
        (
            Item(i, f"m|{task}|{name}", "m", name, "f", "00", task),
            StoredRecord(left_out() if both is None else pairs_record(name, pair(*both))),
        )
        for i, (name, both) in enumerate(zip(NAMES, verdicts, strict=False))
    ]


def results(*verdicts: tuple[bool | None, bool | None] | None, task: str = "completion") -> RunResults:
    """A run of one model with these verdicts."""
    settings = RunSettings((task,), "data", ("m",))
    return RunResults(settings, len(verdicts), {}, tuple(records(*verdicts, task=task)))
