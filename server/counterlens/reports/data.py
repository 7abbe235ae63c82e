"""Benchmark data: what was found, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterlens.datasets import LOADERS, Provenance
from counterlens.datasets.checking import Check
from counterlens.reports.document import Block, Bullets, Heading, Paragraph, Report, TableBlock

_SHOWN = 20


def provenance_json(one: Provenance) -> dict[str, Any]:
    """Where data comes from, for `--json` and for manifests. The keys are added to, never renamed."""
    return {
        "dataset": one.dataset,
        "title": one.title,
        "source": one.source,
        "licence": one.licence,
        "version": one.version,
        "sha256": one.sha256,
        "records": one.records,
        "path": str(one.path),
    }


def listing_json(found: Sequence[Provenance], broken: Sequence[tuple[Path, str]]) -> dict[str, Any]:
    """What was found, what could not be read, and which formats there are."""
    return {
        "datasets": [provenance_json(one) for one in found],
        "unreadable": [{"path": str(path), "message": message} for path, message in broken],
        "formats": [
            {"dataset": one.id, "title": one.title, "source": one.source, "licence": one.licence}
            for one in LOADERS.values()
        ],
    }


def listing(found: Sequence[Provenance], broken: Sequence[tuple[Path, str]], *, everywhere: bool) -> Report:
    """A table of what was found; where nothing was, what there could be."""
    blocks: list[Block] = []
    if found:
        rows = tuple((one.dataset, one.version, one.records, one.licence, str(one.path)) for one in found)
        blocks.append(TableBlock("", ("dataset", "version", "records", "licence", "path"), rows))
    else:
        blocks.append(Paragraph("no data found" + ("" if everywhere else " there")))
    blocks += [Paragraph(lead=f"cannot be read: {message}") for _, message in broken]
    missing = [loader for loader in LOADERS.values() if loader.id not in {one.dataset for one in found}]
    if everywhere and missing:
        rest = tuple((loader.id, loader.title, loader.source, loader.licence) for loader in missing)
        title = "not on this machine; give a path to --data, or set COUNTERLENS_DATA"
        blocks.append(TableBlock(title, ("dataset", "title", "source", "licence"), rest))
    return Report("Data", tuple(blocks))


def check_json(one: Check) -> dict[str, Any]:
    """One dataset that was checked."""
    return {
        **provenance_json(one.provenance),
        "checked": len(one.problems),
        "counts": {str(finding): count for finding, count in one.counts.items()},
        "problems": [
            {"id": problem.id, "finding": str(problem.finding), "message": problem.message}
            for problem in one.problems
            if problem.finding.bad
        ],
    }


def checks(found: Sequence[Check]) -> Report:
    """Counts of each dataset, and the first of the problems that are at fault."""
    blocks: list[Block] = []
    for one in found:
        origin, faults = one.provenance, one.faults
        counts = ", ".join(f"{count} {finding}" for finding, count in one.counts.items())
        total = f"{len(one.problems)} of {origin.records} checked"
        items = [f"{total}: {counts or 'nothing'}   sha256 {origin.sha256[:12]}"]
        items += [f"{fault.id}: {fault.finding}: {fault.message}" for fault in faults[:_SHOWN]]
        if len(faults) > _SHOWN:
            items.append(f"… and {len(faults) - _SHOWN} more (--json lists all)")
        about = Paragraph(f"{origin.version}   {origin.licence}   {origin.path}", quiet=True)
        blocks += [Heading(1, origin.title), about, Bullets(tuple(items))]
    return Report("Data", tuple(blocks))
