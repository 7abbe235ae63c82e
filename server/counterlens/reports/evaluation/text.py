"""A run as Markdown, JSON or CSV. The same records give the same bytes: nothing of the clock is in them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from counterlens.counting import plural
from counterlens.errors import DataError
from counterlens.evaluation.comparison import Comparison, Score
from counterlens.evaluation.effects import all_tables
from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import PROBED, Item, Record
from counterlens.metrics.significance import p_text
from counterlens.probes.task import Table
from counterlens.reports.evaluation import wording
from counterlens.reports.tables import cell_text, plain_cell

_PAIR = ("mutation", "concept", "start_line", "end_line", "original_right", "counterfactual_right")
_COLUMNS = ("position", "model", "problem", "function", "outcome", "reason")
_ANSWER = ("call", "truth", "style", "answer", "outcome", "same_type")
_CHOSEN = {
    "completion": ("pairs", "", _PAIR),
    "repair": ("pairs", "", _PAIR),
    "execution": ("answers", "answer_", _ANSWER),
}
"""Of these tasks: what a line is of, how its columns begin, and which there are."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def run_json(found: Found) -> str:
    """Everything: settings, manifests, tables and records. The keys are added to, never renamed."""
    document = {
        "settings": asdict(found.settings),
        "done": len(found.records),
        "total": found.total,
        "manifests": found.manifests,
        "tables": [table_json(table) for table in found.tables()],
        "left_out": found.left_out,
        "records": [
            {
                "position": item.position,
                "id": item.id,
                "model": item.model,
                "task": item.task,
                "problem": item.problem,
                "function": item.function,
                "source_sha256": item.source,
                "manifest": record.manifest,
                "outcome": record.outcome,
                "reason": record.reason,
                **record.body,
            }
            for item, record in found.records
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def table_json(table: Table) -> dict[str, Any]:
    """A table as plain data."""
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[plain_cell(cell) for cell in row] for row in table.rows],
        "note": table.note,
    }


def run_csv(found: Found) -> str:
    """One line a pair (or an answer, an operator, a function: what the records list).

    A function without any has a line that says why. What a line holds depends on the task.

    Raises:
        DataError: the run is of several tasks, whose lines have different columns.
    """
    if len(found.settings.tasks) > 1:
        raise DataError(
            f"the run is of several tasks ({found.settings.task}), whose lines have different columns",
            "Choose one with --task, or write them all with counterlens export",
        )
    lines = [line for item, record in found.records for line in _lines(item, record)]
    text = io.StringIO()
    names = dict.fromkeys(name for line in lines for name in line) or dict.fromkeys(_COLUMNS)
    writer = csv.DictWriter(text, list(names), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _lines(item: Item, record: Record) -> Iterator[dict[str, str]]:
    values = (item.position, item.model, item.problem, item.function, record.outcome, record.reason)
    first = dict(zip(_COLUMNS, map(_flat, values), strict=True))
    if item.task in _CHOSEN:
        kind, prefix, details = _CHOSEN[item.task]
        parts = [{prefix + name: _flat(one[name]) for name in details} for one in record.body.get(kind, ())]
        if kind == "pairs":
            for part, one in zip(parts, record.judged_pairs, strict=True):
                part["original_verdict"] = _flat(one["original"]["verdict"])
                part["counterfactual_verdict"] = _flat(one["counterfactual"]["verdict"])
    else:
        parts = [
            {"list": name, **{key: _flat(value) for key, value in one.items()}}
            for name, listed in record.body.items()
            if isinstance(listed, list)
            for one in listed
            if isinstance(one, dict)
        ]
    yield from (first | part for part in parts or [{}])


def run_markdown(found: Found) -> str:
    """The tables, what was left out, and every pair whose verdict changed."""
    parts = [f"# {_escaped(wording.title(found))}", wording.state(found)]
    parts.append("\n".join(f"- {_escaped(line)}" for line in wording.circumstances(found)))
    for table in all_tables(found):
        parts += [f"## {_escaped(table.title)}", markdown_table(table.columns, _cells(table))]
        if table.note:
            parts.append(_escaped(table.note))
    if found.left_out:
        rows = [(str(count), reason) for reason, count in found.left_out.items()]
        parts += ["## left out", markdown_table(("functions", "reason"), rows)]
    changed = list(_changed(found))
    if changed:
        parts += ["## pairs whose verdict changed", *changed]
    return "\n\n".join(part for part in parts if part) + "\n"


def comparison_json(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Comparisons as plain data."""
    return [asdict(one) for one in found]


def comparison_markdown(found: Sequence[Comparison]) -> str:
    """What changed from one side to the other, function by function."""
    parts = []
    for one in found:
        parts.append(f"# {_escaped(one.first)} and {_escaped(one.second)}")
        rows = [
            (
                measure.name,
                str(measure.n),
                str(measure.first),
                str(measure.second),
                str(len(measure.lost)),
                str(len(measure.gained)),
                p_text(measure.p) or "--",
                p_text(measure.holm) or "--",
            )
            for measure in one.measures
        ]
        counted = ("functions with", "n", "first", "second", "first only", "second only")
        columns = (*counted, "McNemar p", "Holm p")
        if rows:
            parts.append(markdown_table(columns, rows))
        elif not one.scores:
            parts.append("No function was measured on both sides.")
        if one.scores:
            scores = ("mean over functions", "n", "first", "second", "difference", "Wilcoxon p", "Holm p")
            parts.append(markdown_table(scores, [_score_row(score) for score in one.scores]))
        for measure in one.measures:
            for which, names in (("first", measure.lost), ("second", measure.gained)):
                if names:
                    listed = ", ".join(map(_escaped, names))
                    parts.append(f"{_escaped(measure.name)}, {which} only: {listed}")
        if one.changed:
            listed = ", ".join(map(_escaped, one.changed))
            parts.append(f"Not compared, because their source differs: {listed}")
        if one.only:
            were = "was" if one.only == 1 else "were"
            parts.append(f"{plural(one.only, 'function')} {were} probed on one side only.")
        parts += [_escaped(note) for note in one.notes]
    return "\n\n".join(parts) + "\n"


def _score_row(score: Score) -> tuple[str, ...]:
    first, second = score.first, score.second
    means = ("--",) * 3
    if first is not None and second is not None:
        means = (f"{first:.2f}", f"{second:.2f}", f"{second - first:+.2f}")
    return score.name, str(score.n), *means, p_text(score.p) or "--", p_text(score.holm) or "--"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        f"| {' | '.join(cell if i == 1 else _escaped(cell) for cell in line)} |"
        for i, line in enumerate(lines)
    )


def _cells(table: Table) -> list[list[str]]:
    return [[cell_text(cell) for cell in row] for row in table.rows]


def _changed(found: Found) -> Iterator[str]:
    for item, record in found.records:
        if record.outcome != PROBED:
            continue
        for number, pair in enumerate(record.judged_pairs):
            before, after = pair["original_right"], pair["counterfactual_right"]
            if before is None or after is None or before == after:
                continue
            heading = f"{item.position}.{number} {item.problem}: {pair['mutation']} ({item.model})"
            verdicts = f"original {pair['original']['verdict']}, {pair['counterfactual']['verdict']} after"
            diff = "\n".join(pair["diff"])
            ticks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", diff))])
            yield "\n\n".join(
                (
                    f"### {_escaped(heading)}",
                    _escaped(f"{verdicts}: {pair['description']}"),
                    f"{ticks}diff\n{diff}\n{ticks}",
                )
            )


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))


def _flat(value: Any) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)
