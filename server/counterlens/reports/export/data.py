"""Benchmark data, for programs: the datasets found, and their problems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from counterlens.datasets import LOADERS, Provenance
from counterlens.datasets.checking import Check
from counterlens.reports.export.json import Json


def provenance_json(one: Provenance) -> Json:
    """The origin of data, for `--json` and for manifests. Keys may be added, but never renamed."""
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


def listing_json(found: Sequence[Provenance], broken: Sequence[tuple[Path, str]]) -> Json:
    """The datasets found, the unreadable ones, and the known formats."""
    return {
        "datasets": [provenance_json(one) for one in found],
        "unreadable": [{"path": str(path), "message": message} for path, message in broken],
        "formats": [
            {"dataset": one.id, "title": one.title, "source": one.source, "licence": one.licence}
            for one in LOADERS.values()
        ],
    }


def check_json(one: Check) -> Json:
    """The check of one dataset."""
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
