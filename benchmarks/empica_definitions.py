"""Compares robustness and sensitivity by two definitions on the same answers: Nguyen et al. 2024 and our own.

    counterlens bench --data humaneval --task name --protocol empica --api chat --out RUN
    python benchmarks/empica_definitions.py RUN

In the paper, all operators have equal weight, and the operator decides whether a version breaks or keeps the
meaning. In ours, all answers are pooled, and the kind of a version is determined by running it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

from counterlens.evaluation.results import RunResults
from counterlens.metrics.table import Table
from counterlens.probes.registry import PROBES
from counterlens.probes.robustness import tables
from counterlens.probes.robustness.base import RobustnessProbe
from counterlens.probes.robustness.questions import RobustnessRecord
from counterlens.reports.document import cell_text


def drawn(table: Table) -> str:
    """A table in Markdown."""
    lines = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    return "\n".join("| " + " | ".join(cell_text(cell) for cell in line) + " |" for line in lines)


def main() -> None:
    """Print both for each task and model of a run."""
    for part in RunResults.read(Path(sys.argv[1])).parts:
        probe, seed = cast("RobustnessProbe", PROBES[part.settings.task]), part.settings.seed  # type: ignore[type-arg]
        for model in part.models:
            records = cast("list[RobustnessRecord]", part.probed(model))
            print(f"\n{model}, as published\n")
            print("\n\n".join(drawn(table) for table in probe.tables(records, seed=seed)[:4]))
            asked = [record for record in records if record.pairs]
            print(f"\n{model}, by Counterlens's own definition\n")
            print(drawn(tables.overall(asked, probe.heading, seed)))


if __name__ == "__main__":
    main()
