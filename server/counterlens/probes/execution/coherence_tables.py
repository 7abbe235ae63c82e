"""The tables of coherence, of plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from counterlens.metrics.effects import pooled_share, wilson
from counterlens.probes.execution.tables import SHOWN, short
from counterlens.probes.prompts.literals import Outcome
from counterlens.probes.task import Cell, Table

_NOTE = (
    "a state is what a variable is right after a line has run so many times, traced in the sandbox; an "
    "answer that cannot be read counts as not right. An output that is right although states are not was "
    "not reached by following the execution"
)


def square(calls: Sequence[Mapping[str, Any]]) -> Counter[tuple[bool, bool]]:
    """How many calls there are by whether the output, and all states, were right."""
    return Counter((_right(one), all(map(_right, one["states"]))) for one in calls)


def coherence_tables(calls: Sequence[Mapping[str, Any]]) -> tuple[Table, ...]:
    """All tables of some calls with their states."""
    tables = [_square(calls), _shares(calls), _unread(calls)]
    if len(calls) <= SHOWN:
        tables.insert(0, _listed(calls))
    return tuple(table for table in tables if table.rows)


def _square(calls: Sequence[Mapping[str, Any]]) -> Table:
    counts = square(calls)
    rows: list[tuple[Cell, ...]] = []
    for output, title in ((True, "right"), (False, "not right")):
        n = counts[output, True] + counts[output, False]
        rows.append((title, n, counts[output, True], counts[output, False], wilson(counts[output, True], n)))
    columns = ("output", "n", "all states right", "some state not", "share with all states right")
    return Table("coherence", columns, tuple(rows), _NOTE)


def _shares(calls: Sequence[Mapping[str, Any]]) -> Table:
    """Single states, by whether the output was right."""
    rows: list[tuple[Cell, ...]] = []
    for output, title in ((True, "right"), (False, "not right")):
        chosen = [call["states"] for call in calls if _right(call) is output]
        share = pooled_share((i, _right(state)) for i, states in enumerate(chosen) for state in states)
        rows.append((title, len(chosen), share.n, share))
    return Table("states by themselves", ("output", "calls", "states", "right"), tuple(rows))


def _unread(calls: Sequence[Mapping[str, Any]]) -> Table:
    counts = Counter(("output", one["unread"]) for one in calls if one["unread"])
    counts.update(("state", state["unread"]) for one in calls for state in one["states"] if state["unread"])
    rows = tuple((what, why, n) for (what, why), n in sorted(counts.items()))
    return Table("answers that could not be read", ("asked for", "why", "n"), rows)


def _listed(calls: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in calls:
        for state in one["states"]:
            place = f"{state['variable']}, line {state['line']}, time {state['times']}"
            rows.append((one["call"], place, short(state["truth"]), short(state["answer"]), state["outcome"]))
        rows.append((one["call"], "output", short(one["truth"]), short(one["answer"]), one["outcome"]))
    return Table("calls", ("call", "asked for", "is", "answer", ""), tuple(rows))


def _right(one: Mapping[str, Any]) -> bool:
    return bool(one["outcome"] == Outcome.RIGHT)
