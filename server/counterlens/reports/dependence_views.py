"""The dependences of a function as Markdown, and as HTML: arcs beside its lines, and a table of words.

The HTML is a fragment without style or script. The class of an arc shows the model's view (`found`,
`missed`, `invented`; `true` if no model was asked; `beyond` if the method could not find it), so that the
host can style each with its own colour and line; a line of code is a button that names its lines.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

from counterlens.dependence import MODULE, Dependences
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import EdgeStatus, InferenceMethod, Inferred
from counterlens.reports.edges import ShownEdge, edge_status, headline, overview, phrase, shown_edges
from counterlens.reports.expected import code
from counterlens.reports.render.markdown import prose, table
from counterlens.text import escape

_COLUMNS = ("line", "statement", "control", "data")
ROW = 20
"""Pixels from one line to the next; the host's style must use the same."""
_NARROWEST, _WIDEST = 20, 140
_LEGEND = {
    "true": "an existing dependence",
    "found": "found: it exists, and the model shows it",
    "missed": "missed: it exists, and the model does not show it",
    "invented": "invented: the model shows it, but it does not exist",
    "beyond": "not measurable: the method cannot measure it, or did not ask about it",
}


def dependence_markdown(graph: Dependences, inferred: Inferred | None = None) -> str:
    """One row per statement: the branches that decide whether it runs, and the sources of its values.

    Raises:
        SourceError: the function is empty.
    """
    edges, method = shown_edges(graph, inferred), inferred.method if inferred else None
    rows = []
    for statement in graph.statements:
        into = [edge for edge in edges if edge.target == statement]
        cells = (_cell([edge for edge in into if edge.relation is each], method) for each in Relation)
        rows.append((str(statement.line), code(statement.text.partition("\n")[0]), *cells))
    head = f"# Dependences of {code(graph.function)}"
    return "\n\n".join([head, prose(overview(graph, inferred)), table(_COLUMNS, rows, {0})]) + "\n"


def into_markdown(edges: list[ShownEdge], method: InferenceMethod | None, shift: int = 0) -> list[str]:
    """Edges as list items, each with the model's view."""
    return [f"- {_edge_text(edge, method, shift)}" for edge in edges]


def _cell(edges: list[ShownEdge], method: InferenceMethod | None) -> str:
    return "; ".join(_edge_text(edge, method) for edge in edges)


def _edge_text(edge: ShownEdge, method: InferenceMethod | None, shift: int = 0) -> str:
    status = edge_status(edge, method)
    return prose(phrase(edge, shift)) + (f": *{status}*" if status else "")


def dependence_fragment(graph: Dependences, inferred: Inferred | None = None) -> str:
    """The arcs and the table.

    Raises:
        SourceError: the function is empty.
    """
    edges = shown_edges(graph, inferred)
    used = {_style(edge) for edge in edges}
    items = (
        f'<li><svg class="sample" width="36" height="12" aria-hidden="true">'
        f'<path class="{name}" d="M 1 6 H 35"/></svg>{words}</li>'
        for name, words in _LEGEND.items()
        if name in used
    )
    parts = [
        f"<h1>Dependences of {escape(graph.function)}</h1>",
        _figure(graph, edges),
        f"<p>{escape(headline(graph, inferred))}</p>",
        f'<ul class="legend">{"".join(items)}</ul>',
        _table(graph, edges, inferred.method if inferred else None),
        f"<p>{escape(overview(graph, inferred))}</p>" if inferred else "",
    ]
    return "\n".join(parts)


def _figure(graph: Dependences, edges: list[ShownEdge]) -> str:
    first, lines = _lines(graph)
    drawn = "".join(
        f'<div class="column"><p class="relation">{relation}</p>'
        f"{_arcs([edge for edge in edges if edge.relation is relation], first, len(lines))}</div>"
        for relation in Relation
        if any(edge.relation is relation for edge in edges)
    )
    rows = "".join(_row(graph, number, text) for number, text in enumerate(lines, first))
    return (
        f'<div class="figure">{drawn}<div class="column code"><p class="relation">code</p>'
        f'<ol class="listing">{rows}</ol></div></div>'
    )


def _lines(graph: Dependences) -> tuple[int, list[str]]:
    """The function's source, without common indentation, and the number of its first line."""
    lines = graph.source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if graph.function == MODULE:
        return 1, lines
    first, last = graph.statements[0].line, graph.last_line
    return first, textwrap.dedent("\n".join(lines[first - 1 : last]).expandtabs(4)).split("\n")


def _row(graph: Dependences, number: int, text: str) -> str:
    here = [statement.id for statement in graph.statements if statement.line == number]
    shown = f'<span class="number">{number}</span><code>{escape(text)}</code>'
    if not here:
        return f'<li data-line="{number}">{shown}</li>'
    described = " ".join(f"into-{statement}" for statement in here)
    return (
        f'<li data-line="{number}"><button type="button" data-action="reveal" data-line="{number}" '
        f'aria-describedby="{described}">{shown}</button></li>'
    )


def _arcs(edges: list[ShownEdge], first: int, count: int) -> str:
    spans = [abs(edge.target.line - edge.source.line) for edge in edges]
    bulges = [_NARROWEST + (_WIDEST - _NARROWEST) * (span / max(8, *spans)) ** 0.8 for span in spans]
    width = math.ceil(0.75 * max(bulges)) + 6
    drawn = "".join(_arc(edge, bulge, first, width) for edge, bulge in zip(edges, bulges, strict=True))
    return (
        f'<svg class="arcs" width="{width}" height="{count * ROW}" '
        f'viewBox="0 0 {width} {count * ROW}" aria-hidden="true">{drawn}</svg>'
    )


def _arc(edge: ShownEdge, bulge: float, first: int, width: int) -> str:
    """An arc from right to right: it leaves below the middle of its line and arrives above it with a head."""
    start = (edge.source.line - first) * ROW + ROW / 2 + 3
    end = (edge.target.line - first) * ROW + ROW / 2 - 3
    left, right = f"{width - 2 - bulge:.1f}", width - 2
    head = f"M {right - 6} {end - 3:g} L {right} {end:g} L {right - 6} {end + 3:g} Z"
    title = f"{phrase(edge).replace('`', '')}: {_style(edge)}, to line {edge.target.line}"
    return (
        f'<g class="{_style(edge)}" data-from="{edge.source.line}" data-to="{edge.target.line}">'
        f"<title>{escape(title)}</title>"
        f'<path d="M {right} {start:g} C {left} {start:g} {left} {end:g} {right} {end:g}"/>'
        f'<path class="head" d="{head}"/></g>'
    )


def _style(edge: ShownEdge) -> str:
    if edge.status is None:
        return "true"
    return "beyond" if edge.status is EdgeStatus.MISSED and not edge.reached else str(edge.status)


def _table(graph: Dependences, edges: list[ShownEdge], method: InferenceMethod | None) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in ("line", "statement", "depends on"))
    rows = "".join(
        f'<tr><th scope="row">{statement.line}</th>'
        f"<td><code>{escape(statement.text.partition(chr(10))[0])}</code></td>"
        f'<td id="into-{statement.id}">'
        f"{_sources([edge for edge in edges if edge.target == statement], method)}</td></tr>"
        for statement in graph.statements
    )
    return f"<table><caption>In words</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _sources(edges: list[ShownEdge], method: InferenceMethod | None) -> str:
    return "<br>".join(_edge_phrases(edges, method)) or "nothing in this function"


def _edge_phrases(edges: list[ShownEdge], method: InferenceMethod | None) -> Iterator[str]:
    for edge in edges:
        pieces = escape(phrase(edge)).split("`")
        said = "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
        status = edge_status(edge, method)
        yield said + (f': <span class="{_style(edge)}">{escape(status)}</span>' if status else "")
