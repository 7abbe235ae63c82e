"""The tables of coherence: states and outputs of calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from counterlens.metrics.effects import pooled_share, wilson
from counterlens.metrics.table import Cell, Table
from counterlens.probes.execution.record import CoherenceCall
from counterlens.probes.execution.tables import SHOWN, answer_baselines
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table
from counterlens.probes.prompts.literals import short

_NOTE = (
    "a state is the value of a variable right after a given run of a line, traced in the sandbox; an "
    "unreadable answer counts as wrong, and a call with a truncated one is left out. A right output with "
    "wrong states was not reached by following the execution"
)
_OUTPUTS = {True: "right", False: "not right"}


def square(calls: Sequence[CoherenceCall]) -> Counter[tuple[bool, bool]]:
    """The number of calls, by whether the output and all states were right."""
    return Counter((call.right, call.states_right) for call in calls if not call.unended)


def coherence_tables(calls: Sequence[CoherenceCall]) -> tuple[Table, ...]:
    """All tables of some calls with their states."""
    tables = [_square(calls), _shares(calls), baseline_table(baselines(calls)), _unread(calls)]
    if len(calls) <= SHOWN:
        tables.insert(0, _listed(calls))
    return tuple(table for table in tables if table.rows)


def baselines(calls: Sequence[CoherenceCall]) -> list[ChanceComparison]:
    """The outputs and the states, beside answers without a model."""
    return answer_baselines({"output": calls, "state": [state for call in calls for state in call.states]})


def _square(calls: Sequence[CoherenceCall]) -> Table:
    counts = square(calls)
    rows: list[tuple[Cell, ...]] = []
    for output, title in _OUTPUTS.items():
        n = counts[output, True] + counts[output, False]
        rows.append((title, n, counts[output, True], counts[output, False], wilson(counts[output, True], n)))
    columns = ("output", "n", "all states right", "some state not", "share with all states right")
    return Table("coherence", columns, tuple(rows), _NOTE)


def _shares(calls: Sequence[CoherenceCall]) -> Table:
    """Single states, by whether the output was right."""
    rows: list[tuple[Cell, ...]] = []
    for output, title in _OUTPUTS.items():
        chosen = [call.states for call in calls if call.right is output and not call.unended]
        share = pooled_share((i, state.right) for i, states in enumerate(chosen) for state in states)
        rows.append((title, len(chosen), share.n, share))
    return Table("states by themselves", ("output", "calls", "states", "right"), tuple(rows))


def _unread(calls: Sequence[CoherenceCall]) -> Table:
    counts = Counter(("output", call.unread) for call in calls if call.unread)
    counts.update(("state", state.unread) for call in calls for state in call.states if state.unread)
    rows = tuple((asked, why, n) for (asked, why), n in sorted(counts.items()))
    return Table("unreadable answers", ("asked for", "why", "n"), rows)


def _listed(calls: Sequence[CoherenceCall]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for call in calls:
        for state in call.states:
            place = f"{state.variable}, line {state.line}, time {state.times}"
            rows.append((call.call, place, short(state.truth), short(state.answer), str(state.outcome)))
        rows.append((call.call, "output", short(call.truth), short(call.answer), str(call.outcome)))
    return Table("calls", ("call", "asked for", "is", "answer", ""), tuple(rows))
