"""The dependences of a function as Markdown: for a file, or an editor that shows only Markdown."""

from __future__ import annotations

from counterlens.dependence import Dependences
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import InferenceMethod, Inferred
from counterlens.reports.edges import ShownEdge, edge_status, overview, phrase, shown_edges
from counterlens.reports.expected import code
from counterlens.reports.render.markdown import prose, table
from counterlens.translating import ENGLISH, Translator

_COLUMNS = ("line", "statement", "control", "data")


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


def into_markdown(
    edges: list[ShownEdge], method: InferenceMethod | None, shift: int = 0, t: Translator = ENGLISH
) -> list[str]:
    """Edges as list items, each with the model's view."""
    return [f"- {_edge_text(edge, method, shift, t)}" for edge in edges]


def _cell(edges: list[ShownEdge], method: InferenceMethod | None) -> str:
    return "; ".join(_edge_text(edge, method) for edge in edges)


def _edge_text(
    edge: ShownEdge, method: InferenceMethod | None, shift: int = 0, t: Translator = ENGLISH
) -> str:
    status = edge_status(edge, method, t)
    return prose(phrase(edge, shift, t)) + (f": *{status}*" if status else "")
