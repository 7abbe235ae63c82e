"""A run as Markdown, JSON or CSV. The same records give the same bytes: nothing of the clock is in them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from counterlens.evaluation.comparison import Comparison
from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import PROBED
from counterlens.probes.task import Table
from counterlens.reports.evaluation import wording
from counterlens.reports.tables import cell_text, plain_cell

_PAIR = ("mutation", "concept", "start_line", "end_line", "original_right", "counterfactual_right")
_COLUMNS = ("position", "model", "problem", "function", "outcome", "reason")
_ANSWER = ("call", "truth", "style", "answer", "outcome", "same_type")
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
    """One line a pair (or an answer); a function without any has a line that says why."""
    execution = found.settings.task == "execution"
    details, kind = (_ANSWER, "answers") if execution else (_PAIR, "pairs")
    sides = () if execution else ("original_verdict", "counterfactual_verdict")
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow((*_COLUMNS, *(f"answer_{one}" if execution else one for one in details), *sides))
    for item, record in found.records:
        first = (item.position, item.model, item.problem, item.function, record.outcome, record.reason)
        parts = record.body.get(kind) or [None]
        for part in parts:
            if part is None:
                lines.writerow((*first, *[""] * (len(details) + len(sides))))
                continue
            verdicts = () if execution else (part["original"]["verdict"], part["counterfactual"]["verdict"])
            lines.writerow((*first, *(_flat(part[name]) for name in details), *verdicts))
    return text.getvalue()


def run_markdown(found: Found) -> str:
    """The tables, what was left out, and every pair whose verdict changed."""
    parts = [f"# {_escaped(wording.title(found))}", wording.state(found)]
    parts.append("\n".join(f"- {_escaped(line)}" for line in wording.circumstances(found)))
    for table in found.tables():
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
                "--" if measure.p is None else f"{measure.p:.3g}",
            )
            for measure in one.measures
        ]
        columns = ("functions with", "n", "first", "second", "first only", "second only", "McNemar p")
        parts.append(markdown_table(columns, rows) if rows else "No function was probed on both sides.")
        for measure in one.measures:
            for which, names in (("first", measure.lost), ("second", measure.gained)):
                if names:
                    listed = ", ".join(map(_escaped, names))
                    parts.append(f"{_escaped(measure.name)}, {which} only: {listed}")
        if one.changed:
            listed = ", ".join(map(_escaped, one.changed))
            parts.append(f"Not compared, because their source differs: {listed}")
        if one.only:
            parts.append(f"{one.only} functions were probed on one side only.")
        parts += [_escaped(note) for note in one.notes]
    return "\n\n".join(parts) + "\n"


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
        for number, pair in enumerate(record.body.get("pairs", ())):
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
    return "" if value is None else str(value)
