"""Benchmark data: what was found, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from counterlens.datasets import LOADERS, Provenance
from counterlens.datasets.checking import Check

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


def listing(
    found: Sequence[Provenance], broken: Sequence[tuple[Path, str]], *, everywhere: bool
) -> RenderableType:
    """A table of what was found; where nothing was, what there could be."""
    parts: list[RenderableType] = []
    if found:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("dataset", "version", "records", "licence", "path"):
            table.add_column(name, justify="right" if name == "records" else "left", overflow="fold")
        for one in found:
            table.add_row(one.dataset, one.version, str(one.records), one.licence, str(one.path))
        parts.append(table)
    else:
        parts.append(Text("no data found" + ("" if everywhere else " there")))
    parts += [Text(f"cannot be read: {message}", style="bold") for _, message in broken]
    missing = [loader for loader in LOADERS.values() if loader.id not in {one.dataset for one in found}]
    if everywhere and missing:
        parts.append(Text("\nnot on this machine; give a path to --data, or set COUNTERLENS_DATA:"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
        for loader in missing:
            table.add_row(loader.id, loader.title, loader.source, loader.licence)
        parts.append(table)
    return Group(*parts)


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


def checks(found: Sequence[Check]) -> RenderableType:
    """Counts of each dataset, and the first of the problems that are at fault."""
    parts: list[RenderableType] = []
    for one in found:
        origin = one.provenance
        parts.append(
            Text.assemble((origin.title, "bold"), f"   {origin.version}   {origin.licence}   {origin.path}")
        )
        counts = ", ".join(f"{count} {finding}" for finding, count in one.counts.items())
        total = f"{len(one.problems)} of {origin.records} checked"
        parts.append(Text(f"  {total}: {counts or 'nothing'}   sha256 {origin.sha256[:12]}"))
        faults = one.faults
        parts += [Text(f"  {fault.id}: {fault.finding}: {fault.message}") for fault in faults[:_SHOWN]]
        if len(faults) > _SHOWN:
            parts.append(Text(f"  … and {len(faults) - _SHOWN} more (--json lists all)"))
    return Group(*parts)
