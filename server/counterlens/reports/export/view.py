"""Records of probes and of runs with their origin, the input of every exporter; and runs as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from counterlens.datasets.repository import PREFIX
from counterlens.evaluation.effects import tables_of_runs
from counterlens.evaluation.results import RunResults
from counterlens.probes.pairs.phrases import noisy_verdict
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.record import SCHEMA, Record, plain
from counterlens.probes.runner import ProbeRun
from counterlens.reports.build.run_wording import title
from counterlens.reports.export.json import Json, table_json


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """The result of one probe on one function.

    Attributes:
        position: Its position among all records, from 0.
        model: The model, as the user named it.
        probe: The id of the probe.
        target: The function's name in the dataset, or `FILE::QUALNAME`.
        function: Its qualified name.
        file: Its path; for a dataset, the name of the problem.
    """

    position: int
    model: str
    probe: str
    target: str
    function: str
    file: str
    record: Record

    @property
    def noise(self) -> str:
        """Why its pairs show nothing: placebos change the verdict, too; empty if they do not."""
        return noisy_verdict(self.record) if isinstance(self.record, PairsRecord) else ""


@dataclass(frozen=True, slots=True)
class Exported:
    """Records in order.

    Attributes:
        title: The probed functions.
        before: The prefix that makes a file's path relative to the root of the working tree; None if the
            records are not of files.
        finished: Whether the records are complete.
        probes: The ids of the probes, in order.
    """

    title: str
    records: tuple[ExportedRecord, ...]
    before: str | None = None
    finished: bool = True
    probes: tuple[str, ...] = field(default=())


def export_runs(runs: Sequence[ProbeRun], title: str) -> Exported:
    """The records of some probes of one model.

    Args:
        title: The probed functions.
    """
    records = [(run, record) for run in runs for record in run.records]
    return Exported(
        title,
        tuple(
            ExportedRecord(
                position=position,
                model=record.model,
                probe=run.probe.id,
                target=record.target,
                function=record.function,
                file=record.target.partition("::")[0],
                record=record,
            )
            for position, (run, record) in enumerate(records)
        ),
        before=in_working_tree(Path()) if any("::" in record.target for _, record in records) else None,
        probes=tuple(run.probe.id for run in runs),
    )


def in_working_tree(folder: Path) -> str:
    """The prefix that makes a path below a folder relative to the root of the working tree."""
    whole = folder.resolve()
    for root in (whole, *whole.parents):
        if (root / ".git").exists():
            inside = whole.relative_to(root).as_posix()
            return "" if inside == "." else f"{inside}/"
    return ""


def exported_run(results: RunResults) -> Exported:
    """The records of a run, for every exporter."""
    data = results.settings.data
    return Exported(
        title(results),
        tuple(
            ExportedRecord(
                position=item.position,
                model=item.model,
                probe=item.task,
                target=item.problem,
                function=item.function,
                file=item.problem.partition("::")[0],
                record=stored.record,
            )
            for item, stored in results.records
        ),
        before=in_working_tree(Path(data.removeprefix(PREFIX))) if data.startswith(PREFIX) else None,
        finished=len(results.records) == results.total,
        probes=results.settings.tasks,
    )


def runs_document(runs: Mapping[str, RunResults], sizes: Mapping[str, int] | None = None) -> Json:
    """The tables of several runs, by name."""
    tables = tables_of_runs(runs, sizes)
    return {"schema": SCHEMA, "runs": list(runs), "tables": [table_json(table) for table in tables]}


def run_document(results: RunResults) -> Json:
    """All results of a run: settings, manifests, tables and records."""
    return {
        "schema": SCHEMA,
        "settings": json.loads(results.settings.to_json()),
        "done": len(results.records),
        "total": results.total,
        "manifests": results.manifests,
        "tables": [table_json(table) for table in results.tables()],
        "left_out": results.left_out,
        "lost": list(results.lost),
        "unverified": results.unverified,
        "records": [
            {
                **plain(stored.record),
                "position": item.position,
                "id": item.id,
                "model": item.model,
                "task": item.task,
                "problem": item.problem,
                "source_sha256": item.source,
                "manifest": stored.manifest,
            }
            for item, stored in results.records
        ],
    }
