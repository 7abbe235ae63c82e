"""The reports on benchmark data: the datasets found, and their problems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from counterlens.datasets import LOADERS, Provenance
from counterlens.datasets.checking import Check
from counterlens.reports.document import Block, Bullets, Heading, Paragraph, Report, TableBlock

_SHOWN = 20


def data_report(
    provenances: Sequence[Provenance], broken: Sequence[tuple[Path, str]], *, everywhere: bool
) -> Report:
    """A table of the datasets found; if there are none, the supported formats."""
    blocks: list[Block] = []
    if provenances:
        rows = tuple(
            (
                provenance.dataset,
                provenance.version,
                provenance.records,
                provenance.licence,
                str(provenance.path),
            )
            for provenance in provenances
        )
        blocks.append(TableBlock("", ("dataset", "version", "records", "licence", "path"), rows))
    else:
        blocks.append(Paragraph("no data found" + ("" if everywhere else " there")))
    blocks += [Paragraph(lead=f"cannot be read: {message}") for _, message in broken]
    missing = [
        loader
        for loader in LOADERS.values()
        if loader.id not in {provenance.dataset for provenance in provenances}
    ]
    if everywhere and missing:
        rest = tuple((loader.id, loader.title, loader.source, loader.licence) for loader in missing)
        title = "not on this machine; give a path to --data, or set COUNTERLENS_DATA"
        blocks.append(TableBlock(title, ("dataset", "title", "source", "licence"), rest))
    return Report("Data", tuple(blocks))


def checks_report(checks: Sequence[Check]) -> Report:
    """Counts of each dataset, and the first problems with faults."""
    blocks: list[Block] = []
    for check in checks:
        origin, faults = check.provenance, check.faults
        counts = ", ".join(f"{count} {finding}" for finding, count in check.counts.items())
        total = f"{len(check.problems)} of {origin.records} checked"
        items = [f"{total}: {counts or 'nothing'}   sha256 {origin.sha256[:12]}"]
        items += [f"{fault.id}: {fault.finding}: {fault.message}" for fault in faults[:_SHOWN]]
        if len(faults) > _SHOWN:
            items.append(f"… and {len(faults) - _SHOWN} more (--json lists all)")
        about = Paragraph(f"{origin.version}   {origin.licence}   {origin.path}", quiet=True)
        blocks += [Heading(1, origin.title), about, Bullets(tuple(items))]
    return Report("Data", tuple(blocks))
