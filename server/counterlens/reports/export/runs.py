"""Runs of many functions: their records for every exporter, and all of their results as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from counterlens.datasets.base import PREFIX
from counterlens.evaluation.choice import choice_in
from counterlens.evaluation.effects import judged_parts, tables_of_runs
from counterlens.evaluation.results import RunResults
from counterlens.probes.record import SCHEMA, plain
from counterlens.reports.build.run_wording import title
from counterlens.reports.export.json import Json, table_json
from counterlens.reports.export.view import Exported, ExportedRecord, in_working_tree


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
        "which": {
            part.settings.task: asdict(choice)
            for part in judged_parts(results)
            if (choice := choice_in(part)) is not None
        },
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
