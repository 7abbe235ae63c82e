"""Show known dependences at the statements: in the hover, and as diagnostics if enabled."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from counterlens.dependence import Statement
from counterlens.dependence.analysing import scope_at, scopes
from counterlens.lsp.analysis import Analysis, Examined
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.hovering import HoverPart
from counterlens.lsp.language import t, translator
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import EdgeStatus
from counterlens.reports.dependence_markdown import into_markdown
from counterlens.reports.edges import ShownEdge, phrase, shown_edges
from counterlens.reports.expected import code
from counterlens.reports.render.markdown import escape
from counterlens.syntax.functions import Function

CODE = "missed-dependence"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.hovers.append(_hover)
    server.diagnostics.append(_diagnostics)


def _hover(ls: CounterlensServer, analysis: Analysis, offset: int) -> HoverPart:
    """Describe the dependences of the statement at a place, in an examined function."""
    function = scope_at(analysis.document, offset) if analysis.known else None
    known = analysis.known_function(function.qualname).examined if function else None
    if function is None or known is None:
        return HoverPart()
    shift = function.start_line - known.start_line
    line = ls.places(analysis).position(offset).line + 1 - shift
    here = [statement for statement in known.found.statements if statement.line <= line <= statement.end_line]
    if not here:
        return HoverPart()
    statement = here[-1]
    method = known.inferred.method if known.inferred else None
    into = [edge for edge in shown_edges(known.found, known.inferred) if edge.target == statement]
    t = translator()
    first = code(statement.text.partition("\n")[0], t)
    if not into:
        return HoverPart(detail=t("{code} depends on nothing in this function.", code=first))
    model = known.inferred.model.name if known.inferred else ""
    head = (
        t("{code} depends on (with the inference of {model}):", code=first, model=escape(model))
        if model
        else t("{code} depends on:", code=first)
    )
    return HoverPart(detail="\n".join([head, "", *into_markdown(into, method, shift, t)]))


def _diagnostics(ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
    """The statements with dependences that the model misses."""
    if not (analysis.known and ls.settings.dependences_diagnostics):
        return []
    return [
        mark
        for function in scopes(analysis.document)
        if (known := analysis.known_function(function.qualname).examined) is not None
        for mark in _missed_edges(ls, analysis, function, known)
    ]


def _missed_edges(
    ls: CounterlensServer, analysis: Analysis, function: Function, known: Examined
) -> Iterator[types.Diagnostic]:
    if known.inferred is None:
        return
    shift = function.start_line - known.start_line
    missed: dict[Statement, list[ShownEdge]] = {}
    for edge in shown_edges(known.found, known.inferred):
        if edge.status is EdgeStatus.MISSED and edge.reached:
            missed.setdefault(edge.target, []).append(edge)
    for statement, edges in missed.items():
        said = "; ".join(_plain(edge, shift) for edge in edges)
        message = t("{model} does not show that this {said}.", model=known.inferred.model.name, said=said)
        ruled = sum(edge.ruled for edge in edges)
        message += " " + t("Baselines without a model find {shown} of {all}.", shown=ruled, all=len(edges))
        yield types.Diagnostic(
            range=_place(ls, analysis, statement, shift),
            message=message,
            severity=types.DiagnosticSeverity.Information,
            source="counterlens",
            code=CODE,
        )


def _plain(edge: ShownEdge, shift: int) -> str:
    said = phrase(edge, shift, translator()).replace("`", "")
    return (
        t("is {decided}", decided=said)
        if edge.relation is Relation.CONTROL
        else t("takes {names}", names=said)
    )


def _place(ls: CounterlensServer, analysis: Analysis, statement: Statement, shift: int) -> types.Range:
    """The first line of a statement, without its indentation."""
    places, row = ls.places(analysis), statement.line - 1 + shift
    start, end = (places.offset(types.Position(line, 0)) for line in (row, row + 1))
    text = analysis.document.data[start:end].rstrip()
    return places.range(start + len(text) - len(text.lstrip()), start + len(text))
