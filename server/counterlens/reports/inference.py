"""What a model takes the dependences of a function to be: as plain data, as text, and as a heat map."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from counterlens.counting import plural
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.traces import TraceFigures
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import EdgeStatus, InferenceMethod, Inferred, InferredEdge
from counterlens.reports.edges import asked_words

_STYLES = {EdgeStatus.FOUND: "green", EdgeStatus.MISSED: "yellow", EdgeStatus.INVENTED: "red"}
_SIGNS = {EdgeStatus.FOUND: "", EdgeStatus.MISSED: "?", EdgeStatus.INVENTED: "!"}
_SHADES = " ░▒▓█"
_WIDEST_MAP = 60


def inferred_json(found: Inferred) -> dict[str, Any]:
    """Everything for `--json` and for editors. The keys are a contract: added to, never renamed."""
    line = {part.statement.id: part.statement.line for part in found.subject.parts}
    document: dict[str, Any] = {
        "function": found.subject.dependences.function,
        "model": {
            "id": found.model.id,
            "name": found.model.name,
            "identity": found.model.identity,
            "where": found.model.where,
        },
        "method": str(found.method),
        "summary": found.summary,
        "statements": [
            {
                "id": part.statement.id,
                "line": part.statement.line,
                "end_line": part.statement.end_line,
                "text": part.statement.text,
                "depends_on": [_edge(edge, line) for edge in found.into(part.statement.id)],
                "beliefs": _beliefs(found, part.statement.id),
            }
            for part in found.subject.parts
        ],
        "edges": [_edge(edge, line) for edge in found.edges],
        "direct": {str(relation): _agreement(one) for relation, one in found.direct.items()},
        "transitive": {str(relation): _agreement(one) for relation, one in found.transitive.items()},
    }
    if found.asked is not None:
        document["asked"] = {
            str(relation): {
                "questions": one.asked,
                "possible": one.possible,
                "true": one.true,
                "unreadable": one.unreadable,
            }
            for relation, one in found.asked.items()
        }
        document["how"] = str(found.how)
    if found.traces is not None:
        document["traces"] = {
            str(relation): {"questions": len(told), **asdict(TraceFigures.of(told))}
            for relation, told in found.traces.items()
        }
    if found.influence is not None:
        document["influence"] = {
            str(relation): [
                [None if np.isnan(value) else round(value, 4) for value in row]
                for row in found.influence.matrix(relation).tolist()
            ]
            for relation in Relation
        }
    if found.answers is not None:
        document["answers"] = {
            str(relation): {
                "text": answer.text,
                "unreadable": list(answer.unreadable),
                "impossible": [list(pair) for pair in answer.impossible],
                "repeated": answer.repeated,
                "cut_off": answer.cut_off,
            }
            for relation, answer in found.answers.items()
        }
    return document


def inferred_report(found: Inferred, path: Path) -> Group:
    """One row for each statement: its edges, found, missed and invented; then the figures and the map."""
    title = Text.assemble(
        (found.subject.dependences.function, "bold"), f"   {path}   {found.model.name}, {found.method}"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("line", justify="right", style="dim")
    table.add_column("statement", no_wrap=True, overflow="ellipsis", max_width=48)
    table.add_column("decided by")
    table.add_column("values from")
    line = {part.statement.id: part.statement.line for part in found.subject.parts}
    for part in found.subject.parts:
        into = found.into(part.statement.id)
        table.add_row(
            str(part.statement.line),
            Text(found.subject.indentation(part) + part.statement.text.partition("\n")[0]),
            *(_cell([edge for edge in into if edge.relation is relation], line) for relation in Relation),
        )
    parts: list[RenderableType] = [title, table, _legend(found)]
    parts += [_figures(found, relation) for relation in Relation]
    parts += [Text(words, style="dim") for words in asked_words(found)]
    if found.influence is not None and len(found.subject.parts) <= _WIDEST_MAP:
        parts += [_heat_map(found, relation) for relation in Relation if found.influence.scores(relation)]
    for relation, answer in (found.answers or {}).items():
        if not answer.readable:
            unread = len(answer.unreadable) + len(answer.impossible)
            cut = ", cut off by the limit of tokens" if answer.cut_off else ""
            parts.append(
                Text(f"{relation}: {unread} pieces of the answer could not be read{cut}", style="dim")
            )
    return Group(*parts, Text())


def _edge(edge: InferredEdge, line: dict[int, int]) -> dict[str, Any]:
    return {
        "relation": str(edge.relation),
        "source": edge.source,
        "target": edge.target,
        "source_line": line[edge.source],
        "target_line": line[edge.target],
        "variables": list(edge.variables),
        "status": str(edge.status),
        "belief": edge.belief,
        "reached": edge.reached,
    }


def _beliefs(found: Inferred, statement: int) -> list[dict[str, Any]]:
    """How strongly the model holds that a statement depends on each other one, strongest first."""
    known = [
        {"relation": str(relation), "source": source, "belief": belief}
        for relation, pairs in found.beliefs.items()
        for (source, target), belief in pairs.items()
        if target == statement
    ]
    return sorted(known, key=lambda one: -one["belief"])


def _agreement(one: Agreement) -> dict[str, Any]:
    return {
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
        "found": one.true_positives,
        "invented": one.false_positives,
        "missed": one.false_negatives,
    }


def _cell(edges: list[InferredEdge], line: dict[int, int]) -> Text:
    cell = Text()
    for edge in edges:
        names = ", ".join(edge.variables)
        text = f"{names} {line[edge.source]}".strip() + _SIGNS[edge.status]
        cell.append(", " if cell else "").append(text, style=_STYLES[edge.status])
    return cell


def _legend(found: Inferred) -> Text:
    legend = Text.assemble(("found", "green"), ("   missed?", "yellow"), ("   invented!", "red"))
    beyond = sum(not edge.reached for edge in found.edges if edge.status is EdgeStatus.MISSED)
    if beyond and found.method is not InferenceMethod.INTERVENTIONAL:
        legend.append(f"   {beyond} of the missed were not asked about", style="dim")
    elif beyond:
        legend.append(
            f"   {beyond} of the missed lead backwards or from what cannot be changed: out of sight",
            style="dim",
        )
    return legend


def _figures(found: Inferred, relation: Relation) -> Text:
    direct, transitive = found.direct[relation], found.transitive[relation]
    if found.method.about_chains:
        true = transitive.true_positives + transitive.false_negatives
        return Text(
            f"{relation:8} F1 {_figure(transitive.f1)}   precision {_figure(transitive.precision)}   recall "
            f"{_figure(transitive.recall)}   of {plural(true, 'question')} to which the answer is yes"
        )
    return Text(
        f"{relation:8} F1 {_figure(direct.f1)}   precision {_figure(direct.precision)}   recall "
        f"{_figure(direct.recall)}   of {direct.true_positives + direct.false_negatives} true edges; "
        f"transitive F1 {_figure(transitive.f1)}"
    )


def _figure(value: float | None) -> str:
    return "--" if value is None else f"{value:.2f}"


def _heat_map(found: Inferred, relation: Relation) -> RenderableType:
    """Source by target; a true edge has a dot behind its shade."""
    if found.influence is None or found.method is not InferenceMethod.INTERVENTIONAL:
        raise ValueError("there is no influence to show")
    matrix = found.influence.matrix(relation)
    most = float(np.nanmax(matrix, initial=0.0)) or 1.0
    true = {
        (e.source, e.target)
        for e in found.edges
        if e.relation is relation and e.status is not EdgeStatus.INVENTED
    }
    rows = [Text(f"\ninfluence on later lines, {relation} (█ is {most:.1f} nats; · marks a true edge)")]
    lines = [str(part.statement.line) for part in found.subject.parts]
    width = max(len(line) for line in lines)
    rows += [  # line numbers stand upright
        Text(" " * (width + 1) + " ".join(line.rjust(width)[at] for line in lines), style="dim")
        for at in range(width)
    ]
    for source, values in enumerate(matrix.tolist()):
        if all(np.isnan(value) for value in values):
            continue
        row = Text(lines[source].rjust(width) + " ", style="dim")
        for target, value in enumerate(values):
            level = 0 if np.isnan(value) else round(max(0.0, value) / most * (len(_SHADES) - 1))
            row.append(_SHADES[level], style="default")
            row.append("·" if (source, target) in true else " ", style="green")
        rows.append(row)
    return Group(*rows)
