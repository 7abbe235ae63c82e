"""The tables of specification reasoning (Liu et al. 2024, section IV-C)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from counterlens.metrics.effects import wilson
from counterlens.metrics.significance import paired_shares
from counterlens.metrics.table import Cell, Table
from counterlens.probes.execution.record import SpecifiedFunction
from counterlens.probes.execution.tables import SHOWN
from counterlens.probes.prompts.literals import short

SETTINGS = {"none": "no test", "true": "with test", "misleading": "misleading test"}
"""The settings by id, with their titles: the test in the specification."""
Functions = Sequence[SpecifiedFunction]
_NOTE = (
    "each program runs on one input: with a misleading test it passes if it gives the wrong output that was "
    "shown. A program truncated at the token limit before it could pass is neither right nor wrong"
)
_RSR_NOTE = (
    "R_SR: right with the test and not without, of all functions (Liu et al. 2024, equations 5 and 6); of "
    "those failed: of the functions that it could not write without it"
)


def specification_tables(functions: Functions) -> tuple[Table, ...]:
    """All tables of the probe."""
    tables = [_settings(functions), _differences(functions), _reasoning(functions), _failures(functions)]
    if len(functions) <= SHOWN:
        tables.insert(0, _result_table(functions))
    return tuple(table for table in tables if table.rows)


def count_passed(functions: Functions, setting: str) -> int:
    """The number of functions that passed in a setting."""
    return sum(function.settings[setting].passed for function in functions)


def verdicts_in(functions: Functions, setting: str) -> dict[str, bool]:
    """Whether each function passed in a setting, without truncated programs."""
    return {
        function.target: function.settings[setting].passed
        for function in functions
        if not function.settings[setting].truncated
    }


def _settings(functions: Functions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for setting, title in SETTINGS.items():
        programs = [function.settings[setting] for function in functions]
        cut = sum(program.truncated for program in programs)
        nothing = sum(program.gave is None and not program.truncated for program in programs)
        n = len(functions) - cut
        rows.append((title, n, wilson(count_passed(functions, setting), n), nothing, cut))
    columns = ("specification", "n", "passes", "gives nothing", "truncated")
    return Table("specification reasoning", columns, tuple(rows), _NOTE)


def _differences(functions: Functions) -> Table:
    """The effect of showing a test, paired by function."""
    rows: list[tuple[Cell, ...]] = []
    for first, second in (("none", "true"), ("none", "misleading"), ("true", "misleading")):
        shares = paired_shares(verdicts_in(functions, first), verdicts_in(functions, second))
        names = (SETTINGS[first], SETTINGS[second])
        rows.append((*names, shares.n, shares.difference, shares.gained, shares.lost, shares.p))
    columns = ("first", "second", "n", "difference", "only second passes", "only first passes", "McNemar p")
    note = "second minus first, on the functions whose answer is finished in both"
    return Table("differences between the specifications", columns, tuple(rows), note)


def _reasoning(functions: Functions) -> Table:
    without, shown = (verdicts_in(functions, setting) for setting in ("none", "true"))
    shares = paired_shares(without, shown)
    failed = sum(not without[target] for target in without.keys() & shown.keys())
    columns = ("n", "R_SR", "of those failed without", "only without right", "McNemar p")
    row = (shares.n, wilson(shares.gained, shares.n), wilson(shares.gained, failed), shares.lost, shares.p)
    return Table("effect of the test", columns, (row,), _RSR_NOTE)


def _failures(functions: Functions) -> Table:
    """The reasons why programs have no result."""
    counts = Counter(
        (SETTINGS[setting], program.failed)
        for function in functions
        for setting, program in function.settings.items()
        if program.failed
    )
    rows = tuple((title, reason, count) for (title, reason), count in sorted(counts.items()))
    return Table("programs without a result", ("specification", "why", "n"), rows)


def _result_table(functions: Functions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for function in functions:
        programs = (function.settings[setting] for setting in SETTINGS)
        gave = (program.failed if program.gave is None else short(program.gave) for program in programs)
        shown = (short(function.gives), short(function.misleading))
        rows.append((function.call, str(function.input), *shown, *gave))
    columns = ("call", "input from", "right", "misleading", *SETTINGS.values())
    return Table("results of its programs", columns, tuple(rows))
