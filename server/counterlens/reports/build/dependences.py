"""The report on the dependences of a function, and on those that a model infers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from counterlens.counting import plural
from counterlens.dependence import Dependences, Kind
from counterlens.metrics.agreement import Agreement
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import EdgeStatus, InferenceMethod, Inferred, InferredEdge
from counterlens.reports.document import Block, CodeBlock, Heading, Paragraph, Report, ReportCell, TableBlock
from counterlens.reports.edges import asked_words, rule_sentences

_COLUMNS = ("line", "statement", "decided by", "values from")
_SIGNS = {EdgeStatus.FOUND: "", EdgeStatus.MISSED: "?", EdgeStatus.INVENTED: "!"}
_SHADES = " ░▒▓█"
_WIDEST_MAP = 60


def dependence_report(graph: Dependences, path: Path) -> Report:
    """One row per statement: the branches that decide whether it runs, and the sources of its values."""
    blocks: list[Block] = [Heading(1, graph.function)]
    if not graph.statements:
        blocks += [Paragraph(str(path), quiet=True), Paragraph("no statements", quiet=True)]
        return Report(graph.function, tuple(blocks))
    last = max(statement.end_line for statement in graph.statements)
    through = any(edge.kind is Kind.HEAP for edge in graph.edges)
    blocks += [
        Paragraph(f"{path}:{graph.statements[0].line}-{last}", quiet=True),
        TableBlock(
            "",
            _COLUMNS,
            tuple(_row(graph, number) for number in range(len(graph.statements))),
            "* through a change of the object, not of the name" if through else "",
        ),
    ]
    lines = sorted({graph.statements[number].line for number in graph.by_name})
    if lines:
        which = f"{'lines' if len(lines) > 1 else 'line'} {', '.join(map(str, lines))}"
        note = f"{which}: variables are looked up by name, so any that reaches it counts as read"
        blocks.append(Paragraph(note, quiet=True))
    return Report(graph.function, tuple(blocks))


def inferred_report(inferred: Inferred, path: Path) -> Report:
    """One row per statement: its edges, found, missed and invented; then the figures and the map."""
    name = inferred.subject.dependences.function
    return Report(name, tuple(_inferred_blocks(inferred, name, path)))


def _row(graph: Dependences, number: int) -> tuple[ReportCell, ...]:
    statement, line = graph.statements[number], {each.id: each.line for each in graph.statements}
    into = [edge for edge in graph.edges if edge.target == statement.id]
    branches = sorted({(line[edge.source], edge.outcome) for edge in into if edge.kind is Kind.CONTROL})
    values = sorted(
        {(line[edge.source], edge.variable, edge.kind) for edge in into if edge.kind is not Kind.CONTROL}
    )
    return (
        statement.line,
        statement.text.partition("\n")[0],
        ", ".join(f"{at} {outcome}".rstrip() for at, outcome in branches),
        ", ".join(f"{variable} {at}{'*' if kind is Kind.HEAP else ''}" for at, variable, kind in values),
    )


def _inferred_blocks(inferred: Inferred, name: str, path: Path) -> Iterator[Block]:
    line = {part.statement.id: part.statement.line for part in inferred.subject.parts}
    yield Heading(1, name)
    yield Paragraph(f"{path}, {inferred.model.name}, {inferred.method}", quiet=True)
    rows: list[tuple[ReportCell, ...]] = []
    for part in inferred.subject.parts:
        into = inferred.into(part.statement.id)
        text = inferred.subject.indentation(part) + part.statement.text.partition("\n")[0]
        cells = (_cell([edge for edge in into if edge.relation is each], line) for each in Relation)
        rows.append((part.statement.line, text, *cells))
    yield TableBlock("", _COLUMNS, tuple(rows), f"found, missed?, invented!{_note_on_unmeasurable(inferred)}")
    for relation in Relation:
        yield Paragraph(_figures(inferred, relation))
    for words in (*rule_sentences(inferred), *asked_words(inferred)):
        yield Paragraph(words, quiet=True)
    if inferred.influence is not None and len(inferred.subject.parts) <= _WIDEST_MAP:
        for relation in Relation:
            if inferred.influence.scores(relation):
                yield from _heat_map(inferred, relation)
    for relation, answer in (inferred.answers or {}).items():
        if not answer.readable:
            unread = len(answer.unreadable) + len(answer.impossible)
            cut = ", cut off at the token limit" if answer.cut_off else ""
            sentence = f"{relation}: {unread} pieces of the answer could not be read{cut}"
            yield Paragraph(sentence, quiet=True)


def _cell(edges: list[InferredEdge], line: dict[int, int]) -> str:
    return ", ".join(
        f"{', '.join(edge.variables)} {line[edge.source]}".strip() + _SIGNS[edge.status] for edge in edges
    )


def _note_on_unmeasurable(inferred: Inferred) -> str:
    beyond = sum(not edge.reached for edge in inferred.edges if edge.status is EdgeStatus.MISSED)
    if not beyond:
        return ""
    if inferred.method is not InferenceMethod.INTERVENTIONAL:
        return f"; {beyond} of the missed edges were not asked about"
    return (
        f"; {beyond} of the missed edges lead backwards or from statements that cannot be changed, and are "
        "not measurable"
    )


def _figures(inferred: Inferred, relation: Relation) -> str:
    direct, transitive = inferred.direct[relation], inferred.transitive[relation]
    if inferred.method.about_chains:
        true = transitive.true_positives + transitive.false_negatives
        return f"{_agreement(relation, transitive)} of {plural(true, 'question')} with the answer yes"
    return (
        f"{_agreement(relation, direct)} of {direct.true_positives + direct.false_negatives} true edges; "
        f"transitive F1 {_figure(transitive.f1)}"
    )


def _agreement(relation: Relation, agreement: Agreement) -> str:
    figures = (("F1", agreement.f1), ("precision", agreement.precision), ("recall", agreement.recall))
    return f"{relation:8} " + "   ".join(f"{name} {_figure(value)}" for name, value in figures) + "  "


def _figure(value: float | None) -> str:
    return "--" if value is None else f"{value:.2f}"


def _heat_map(inferred: Inferred, relation: Relation) -> Iterator[Block]:
    """Source by target; a true edge has a dot on its shade."""
    if inferred.influence is None or inferred.method is not InferenceMethod.INTERVENTIONAL:
        raise ValueError("no influence to show")
    matrix = inferred.influence.matrix(relation)
    most = float(np.nanmax(matrix, initial=0.0)) or 1.0
    true = {
        (edge.source, edge.target)
        for edge in inferred.edges
        if edge.relation is relation and edge.status is not EdgeStatus.INVENTED
    }
    lines = [str(part.statement.line) for part in inferred.subject.parts]
    width = max(len(line) for line in lines)
    rows = [  # line numbers are upright
        " " * (width + 1) + " ".join(line.rjust(width)[at] for line in lines) for at in range(width)
    ]
    for source, values in enumerate(matrix.tolist()):
        if not all(np.isnan(value) for value in values):
            shades = (
                _shade(value, most) + ("·" if (source, target) in true else " ")
                for target, value in enumerate(values)
            )
            rows.append(f"{lines[source].rjust(width)} {''.join(shades)}")
    yield Heading(2, f"influence on later lines, {relation} (█ is {most:.1f} nats; · marks a true edge)")
    yield CodeBlock("\n".join(rows))


def _shade(value: float, most: float) -> str:
    return _SHADES[0 if np.isnan(value) else round(max(0.0, value) / most * (len(_SHADES) - 1))]
