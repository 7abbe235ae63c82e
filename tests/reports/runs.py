"""A made-up run of two models for reports, with problematic characters in every text.

As a program, it prints the page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.judging.base import CheatTrial, OriginalComparison, OriginalSays
from counterlens.metrics.effects import Effect, PairOutcome
from counterlens.probes.pairs.record import PairRecord, PairsRecord, Side
from counterlens.probes.record import Outcome, Record

EVIL = (
    "</script><script>alert(1)</script><img src=https://example.org/x onerror=alert(2)> "
    "& \"'`|\\{}$%#_^~ é😀\x00\x1b"
)
MODELS = ("tiny-135M", "large-7B")
MUTATIONS = ("rename-random", "if-else-flip", "operand-swap")
_FUNCTIONS = 24


def hostile_run(mutations: Sequence[str] = MUTATIONS) -> RunResults:
    """A repository's run: verdicts of each kind, a function left out, and texts that need escaping."""
    items = [(model, number) for model in MODELS for number in range(_FUNCTIONS)]
    records = tuple(_record(i, *each, mutations) for i, each in enumerate(items))
    return RunResults(
        RunSettings(("completion",), "repo:/nowhere/at/all", MODELS, options={"completion": {}}),
        len(records),
        {model: _manifest(model) for model in MODELS},
        records,
        {"completion": len(records)},
    )


def _record(position: int, model: str, number: int, mutations: Sequence[str]) -> tuple[Item, StoredRecord]:
    problem, function = f"src/a b/file{number % 5}.py::f{number}", f"f{number}"
    item = Item(position, f"{model}|completion|{problem}", model, problem, function, "00", "completion")
    of = {"probe": "completion", "model": model, "target": problem, "function": function}
    if number == _FUNCTIONS - 1:
        left_out = Record(outcome=Outcome.LEFT_OUT, reason=f"no tests {EVIL}", **of)
        return item, StoredRecord(left_out, manifest=model)
    large = model == MODELS[1]
    pairs = [
        _pair(mutation, number, right=(number % 4 != 3, (number + 2 * large) % (3 + kind) != 0))
        for kind, mutation in enumerate(mutations)
    ]
    if number == 0:
        pairs[0] = _pair(mutations[0], number, right=(None, pairs[0].counterfactual_right))
    record = PairsRecord(
        **of,
        start_line=number + 1,
        end_line=number + 9,
        judged_by="2 tests",
        why_not_judged=None,
        note=None,
        pairs=tuple(pairs),
        refused=(),
        dropped=(),
    )
    return item, StoredRecord(record, manifest=model)


def _pair(mutation: str, number: int, right: tuple[bool | None, bool | None]) -> PairRecord:
    before, after = right
    judged = before is not None and after is not None
    return PairRecord(
        mutation=mutation,
        concept="naming",
        start_line=number + 1,
        end_line=number + 3,
        description=f"renamed `a` to `b` {EVIL}",
        assumptions=(),
        diff=("@@ -1 +1 @@", f"-a {EVIL}", f"+b {EVIL}"),
        edits=(),
        cut=None,
        original=_side(number, before),
        counterfactual=_side(number, after),
        original_right=before,
        counterfactual_right=after,
        outcome=Effect(bool(before), bool(after)).outcome if judged else PairOutcome.NOT_JUDGED,
        copied=False,
        likelihood=None,
    )


def _side(number: int, right: bool | None) -> Side:
    return Side(
        prompt_end=f"    if True:  # {EVIL}",
        completion=f"    return {number}  # {EVIL}",
        finish="stop",
        verdict="refused" if right is None else "passed" if right else "failed",
        attribution="tests",
        tests=2,
        comparison=OriginalComparison(OriginalSays.AGREES, 62) if right else None,
        cheats=CheatTrial(9) if right else None,
        contested=False,
        failed=None if right else f"test_{number} {EVIL}",
        message="" if right else EVIL,
    )


def _manifest(model: str) -> dict[str, Any]:
    return {
        "counterlens": "0",
        "python": "3",
        "platform": "linux",
        "sandbox": "none",
        "model": {
            "asked_as": model,
            "name": f"{model} {EVIL}",
            "identity": "0" * 64,
            "where": "local",
            "details": {},
        },
        "dataset": {"title": f"data {EVIL}", "version": "1", "licence": "MIT", "sha256": "0" * 64},
    }


if __name__ == "__main__":
    from counterlens.reports.run_formats import write_evaluation

    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(write_evaluation("html", hostile_run()))
