"""The report on several runs together: their tables, and the plots of each dataset."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.evaluation.merged import MergedRuns
from counterlens.reports.build import plots
from counterlens.reports.document import Block, Bullets, Heading, Report, TableBlock


def merged_report(merged: MergedRuns) -> Report:
    """The report on runs of one task, finished or not."""
    title = f"{merged.task} on {', '.join(merged.datasets)}"
    blocks: tuple[Block, ...] = (
        Heading(1, title),
        Bullets(merged.sources),
        Heading(2, "Tables", "tables"),
        *(TableBlock.of(table) for table in merged.tables()),
    )
    drawn = tuple(_plots(merged))
    if drawn:
        blocks += (Heading(2, "Plots", "plots"), *drawn)
    return Report(title, blocks)


def _plots(merged: MergedRuns) -> Iterator[Block]:
    for dataset, effects in merged.effects().items():
        yield from plots.plots(effects, prefix=f"{dataset}: ")
