"""The tables of specification reasoning (Liu et al. 2024, section IV-C)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from counterlens.metrics.effects import wilson
from counterlens.metrics.summary import mcnemar_exact
from counterlens.metrics.table import Cell, Table
from counterlens.probes.execution.record import SpecifiedFunction
from counterlens.probes.execution.tables import SHOWN
from counterlens.probes.prompts.literals import short

SETTINGS = {"none": "no test", "true": "with test", "misleading": "misleading test"}
"""What of a test the specification shows."""
Functions = Sequence[SpecifiedFunction]
_NOTE = (
    "each program is run on the one input: with a misleading test it passes when it gives the wrong output "
    "that was shown"
)
_RSR_NOTE = (
    "R_SR: right with the test and not without, of all functions (Liu et al. 2024, equations 5 and 6); of "
    "those failed: of the functions that it could not write without"
)


def specification_tables(functions: Functions) -> tuple[Table, ...]:
    """All tables."""
    tables = [_settings(functions), _reasoning(functions), _failures(functions)]
    if len(functions) <= SHOWN:
        tables.insert(0, _listed(functions))
    return tuple(table for table in tables if table.rows)


def passed(functions: Functions, setting: str) -> int:
    """How many functions passed in a setting."""
    return sum(function.settings[setting].passed for function in functions)


def _settings(functions: Functions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for setting, title in SETTINGS.items():
        programs = [function.settings[setting] for function in functions]
        nothing = sum(program.gave is None for program in programs)
        cut = sum(program.finish == "length" for program in programs)
        share = wilson(passed(functions, setting), len(functions))
        rows.append((title, len(functions), share, nothing, cut))
    columns = ("specification", "n", "passes", "gives nothing", "cut off")
    return Table("specification reasoning", columns, tuple(rows), _NOTE)


def _reasoning(functions: Functions) -> Table:
    n, score = len(functions), sum(function.s_sr for function in functions)
    failed = n - passed(functions, "none")
    lost = sum(
        function.settings["none"].passed and not function.settings["true"].passed for function in functions
    )
    columns = ("n", "R_SR", "of those failed without", "only without right", "McNemar p")
    row = (n, wilson(score, n), wilson(score, failed), lost, mcnemar_exact(lost, score))
    return Table("what the test changes", columns, (row,), _RSR_NOTE)


def _failures(functions: Functions) -> Table:
    """Why what was written gives nothing."""
    counts = Counter(
        (SETTINGS[setting], program.failed)
        for function in functions
        for setting, program in function.settings.items()
        if program.failed
    )
    rows = tuple((title, reason, count) for (title, reason), count in sorted(counts.items()))
    return Table("programs that give nothing", ("specification", "why", "n"), rows)


def _listed(functions: Functions) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for function in functions:
        programs = (function.settings[setting] for setting in SETTINGS)
        gave = (program.failed if program.gave is None else short(program.gave) for program in programs)
        shown = (short(function.gives), short(function.misleading))
        rows.append((function.call, str(function.input), *shown, *gave))
    columns = ("call", "input from", "right", "misleading", *SETTINGS.values())
    return Table("what its programs give", columns, tuple(rows))
