"""A run as Parquet files, which DuckDB, Polars, pandas and others read.

records.parquet       a row per item: model, task, function, outcome, reason, seconds, manifest
manifests.parquet     digest, and the document as JSON
TASK.parquet          a row per record of a task, with the figures that are not lists
TASK-LIST.parquet     a row per member of a list in the records of a task, such as the pairs of
                      `completion-pairs.parquet`, with the position, model and problem of its record
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from counterlens.atomic_file import make_folder
from counterlens.errors import CounterlensError
from counterlens.evaluation.results import RunResults
from counterlens.probes.record import Record, plain

Row = Mapping[str, Any]
_OF_EVERY_RECORD = frozenset(field.name for field in fields(Record))


def export(run: RunResults, folder: Path) -> list[Path]:
    """Write a run as Parquet.

    Args:
        run: The run, finished or not.
        folder: The folder, created if missing. Files with the same names are overwritten.

    Returns:
        The written files.

    Raises:
        CounterlensError: pyarrow is not installed, or the folder cannot be written.
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise CounterlensError(
            "Parquet needs pyarrow, which is not installed", "pip install 'counterlens[export]'"
        ) from error
    written = []
    try:
        make_folder(folder)
        for name, rows in _tables(run):
            path = folder / f"{name}.parquet"
            parquet.write_table(_table(rows), path, compression="zstd")
            written.append(path)
    except OSError as error:
        raise CounterlensError(
            f"{folder} cannot be written: {error.strerror or error}", "Choose another folder with --output"
        ) from None
    return written


def _tables(run: RunResults) -> Iterator[tuple[str, list[Row]]]:
    records: list[Row] = []
    parts: dict[str, list[Row]] = {}
    for item, stored in run.records:
        record = stored.record
        key = {"position": item.position, "model": item.model, "problem": item.problem}
        records.append(
            {
                **key,
                "id": item.id,
                "task": item.task,
                "function": item.function,
                "source_sha256": item.source,
                "outcome": str(record.outcome),
                "reason": record.reason,
                "seconds": stored.seconds,
                "manifest": stored.manifest,
            }
        )
        figures: dict[str, Any] = {}
        for name, value in plain(record).items():
            if isinstance(value, list) and all(isinstance(member, Mapping) for member in value):
                parts.setdefault(f"{item.task}-{name}", []).extend(key | dict(member) for member in value)
            elif name not in _OF_EVERY_RECORD:
                figures[name] = value
        if record.probed and figures:
            parts.setdefault(item.task, []).append(key | figures)
    yield "records", records
    yield (
        "manifests",
        [
            {"digest": digest, "document": json.dumps(document, ensure_ascii=False)}
            for digest, document in run.manifests.items()
        ],
    )
    yield from ((name, rows) for name, rows in sorted(parts.items()) if rows)


def _table(rows: Sequence[Row]) -> Any:
    """Rows as an Arrow table; a column with values of several types is JSON text."""
    import pyarrow as arrow

    columns = {}
    for name in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(name) for row in rows]
        try:
            columns[name] = arrow.array(values)
        except (arrow.ArrowInvalid, arrow.ArrowTypeError, arrow.ArrowNotImplementedError):
            columns[name] = arrow.array([json.dumps(value, ensure_ascii=False) for value in values])
        if arrow.types.is_struct(columns[name].type) and not columns[name].type.num_fields:
            columns[name] = arrow.array(
                [json.dumps(value) for value in values]
            )  # Parquet has no empty struct
    return arrow.table(columns)
