"""Records as CSV: one line per pair, answer, operator or other listed item, else per function.

A spreadsheet would run a text that begins like a formula, and a model or a file writes these texts, so such a
text is preceded by an apostrophe. Numbers remain as they are. JSON and Parquet have the exact texts.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from counterlens.errors import DataError
from counterlens.probes.record import Record, plain
from counterlens.reports.export.view import Exported, ExportedRecord
from counterlens.text import json_text

_PAIR = ("mutation", "concept", "start_line", "end_line", "original_right", "counterfactual_right")
_COLUMNS = ("position", "model", "problem", "function", "outcome", "reason")
_ANSWER = ("call", "truth", "style", "answer", "outcome", "same_type")
_CHOSEN = {
    "completion": ("pairs", "", _PAIR),
    "repair": ("pairs", "", _PAIR),
    "execution": ("answers", "answer_", _ANSWER),
}
"""For these probes: the item of a line, the first columns, and the others."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also full-width
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?", re.ASCII)
_ENVELOPE = {field.name for field in fields(Record)}


def as_csv(export: Exported) -> str:
    """The lines. A function without listed items has a line with the reason.

    Raises:
        DataError: the records are of several probes, whose lines have different columns.
    """
    if len(export.probes) > 1:
        raise DataError(
            f"the run has several tasks ({', '.join(export.probes)}), which have different rows",
            "Choose one with --task, or write all with counterlens export",
        )
    lines = [line for exported in export.records for line in _lines(exported)]
    text = io.StringIO()
    names = dict.fromkeys(name for line in lines for name in line) or dict.fromkeys(_COLUMNS)
    # Unquoted, a carriage return would begin a line of its own, and with it perhaps a formula.
    returns = any("\r" in value for line in lines for value in line.values())
    writer = csv.DictWriter(
        text,
        list(names),
        restval="",
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
    )
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _lines(exported: ExportedRecord) -> Iterator[dict[str, str]]:
    record, document = exported.record, plain(exported.record)
    values = (
        exported.position,
        exported.model,
        exported.target,
        exported.function,
        str(record.outcome),
        record.reason,
    )
    first = dict(zip(_COLUMNS, map(_flat, values), strict=True))
    kind, prefix, columns = _CHOSEN.get(exported.probe, ("", "", ()))
    parts = [
        {prefix + name: _flat(listed.get(name)) for name in columns} for listed in document.get(kind, ())
    ]
    if kind == "pairs":
        for part, pair in zip(parts, document.get(kind, ()), strict=True):
            part["original_verdict"] = pair["original"]["verdict"]
            part["counterfactual_verdict"] = pair["counterfactual"]["verdict"]
    elif not kind:
        parts = [
            {"list": name, **{key: _flat(value) for key, value in listed.items()}}
            for name, values in document.items()
            if isinstance(values, list)
            for listed in values
            if isinstance(listed, Mapping)
        ]
        if not parts and record.probed:  # it has no items, so the line is about the function itself
            parts = [{name: _flat(value) for name, value in document.items() if name not in _ENVELOPE}]
    yield from (first | part for part in parts or [{}])


def _flat(value: Any) -> str:
    if isinstance(value, list | dict):
        return json_text(value, indent=None)
    if isinstance(value, str) and value.startswith(_FORMULA) and _NUMBER.fullmatch(value) is None:
        return f"'{value}"
    return "" if value is None else str(value)
