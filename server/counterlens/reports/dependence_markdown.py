"""The dependences of a function as Markdown: for a file, or an editor that shows no more than that."""

from __future__ import annotations

from counterlens.dependence import Dependences
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import InferenceMethod, Inferred
from counterlens.reports.edges import ShownEdge, overview, phrase, shown_edges, standing
from counterlens.reports.expected import code
from counterlens.translating import ENGLISH, Translator


def dependence_markdown(found: Dependences, inferred: Inferred | None = None) -> str:
    """One row for each statement: what decides whether it runs, and where its values come from.

    Raises:
        SourceError: there is nothing in the function.
    """
    edges, method = shown_edges(found, inferred), inferred.method if inferred else None
    rows = ["| line | statement | control | data |", "|--:|:--|:--|:--|"]
    for statement in found.statements:
        into = [edge for edge in edges if edge.target == statement]
        cells = (_cell([edge for edge in into if edge.relation is each], method) for each in Relation)
        first = code(statement.text.partition("\n")[0])
        rows.append(f"| {statement.line} | {_barred(first)} | {' | '.join(cells)} |")
    head = f"# Dependences of {code(found.function)}"
    return "\n\n".join([head, overview(found, inferred), "\n".join(rows)]) + "\n"


def into_markdown(
    edges: list[ShownEdge], method: InferenceMethod | None, shift: int = 0, t: Translator = ENGLISH
) -> list[str]:
    """Edges as items, each with what the model makes of it."""
    return [f"- {_said(edge, method, shift, t)}" for edge in edges]


def _cell(edges: list[ShownEdge], method: InferenceMethod | None) -> str:
    return _barred("; ".join(_said(edge, method) for edge in edges))


def _said(edge: ShownEdge, method: InferenceMethod | None, shift: int = 0, t: Translator = ENGLISH) -> str:
    stands = standing(edge, method, t)
    return phrase(edge, shift, t) + (f": *{stands}*" if stands else "")


def _barred(text: str) -> str:
    """Text in a cell of a table, where a bar would begin the next one."""
    return text.replace("|", "\\|")
