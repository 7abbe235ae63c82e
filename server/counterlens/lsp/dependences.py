"""The command `counterlens.dependences`: true and inferred dependences of a function's statements.

Argument `{uri, function? | position?, method?}`; a place outside all functions means the module's own
statements, as `<module>`. Method `none` asks no model and answers at once. Without a method, the model's
reactions are measured if it gives probabilities; else it is asked. Known dependences are also in the hover of
their statements, and those that the model misses are marked if the settings say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lsprotocol import types

from counterlens.dependence import ANALYSED, MODULE, Dependences, Statement, dependences
from counterlens.dependence.analysing import first_decision, scope_at, scopes
from counterlens.errors import CounterlensError, SourceError
from counterlens.lsp.actions import function_action
from counterlens.lsp.analysis import Analysis, Examined
from counterlens.lsp.base import CodeMark, CounterlensServer, HoverPart
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import Announcements, ask_first, refusing, show_markdown
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import plain, scope_named
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import (
    EdgeStatus,
    InferenceMethod,
    Inferred,
    infer,
    require_inferred,
)
from counterlens.probes.dependence.probe import DependenceOptions
from counterlens.progress import Steps
from counterlens.reports.dependence_views import dependence_fragment, dependence_markdown, into_markdown
from counterlens.reports.edges import ShownEdge, phrase, shown_edges
from counterlens.reports.expected import code
from counterlens.reports.export.dependences import dependences_json, inferred_json
from counterlens.reports.render.markdown import escape
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

COMMAND = "counterlens.dependences"
SHOW_COMMAND = "counterlens.showDependences"
"""A command of the client: show the true dependences at once, then those that the model infers."""

NONE = "none"
CODE = "missed-dependence"


def register(server: CounterlensServer) -> None:
    server.command(COMMAND)(_dependences)
    server.code_actions.append(_code_actions)
    server.hovers.append(_hover)
    server.marks.append(_marks)


@dataclass(frozen=True, slots=True)
class DependenceAnswer:
    """The answer of `counterlens.dependences`."""

    ok: bool
    function: str = ""
    version: int = 0
    method: str = NONE
    summary: str = ""
    markdown: str = ""
    html: str = ""
    dependences: dict[str, Any] | None = None
    inferred: dict[str, Any] | None = None
    error: str | None = None


@refusing(partial(DependenceAnswer, ok=False), "The inference was cancelled.")
async def _dependences(ls: CounterlensServer, argument: Any = None) -> DependenceAnswer:
    """Find the true dependences of a function, and those that the model infers."""
    settings = ls.settings
    analysis, function = scope_named(ls, argument)
    method = _method(plain(argument).get("method"))
    document = analysis.document
    if method != NONE:
        require_inferred(document)
    graph = await ls.offload(_analyse, document, function)
    source, examined = analysis.source_of(function), Examined(function.start_line, graph)
    if method != NONE:
        announcements = Announcements(
            f"Inferring dependences of {function.name}",
            f"inferring the dependences of {function.name}",
            f"the dependences of {function.name} were inferred",
            "the inference was cancelled",
        )
        infer_them = partial(_infer, ls.host, settings, graph, method)
        examined = replace(
            examined, inferred=await ask_first(ls, settings, analysis, announcements, infer_them)
        )
    if ls.asks(settings):
        _note(ls, analysis, function.qualname, source, examined)
    answer = await ls.offload(_answer, document, examined, ls.client_shows_results)
    if not ls.client_shows_results:
        summary = f"{function.name}: {answer.summary}"
        await show_markdown(ls, f"dependences {function.name}", summary, answer.markdown)
    return answer


def _method(wanted: Any) -> str | None:
    """The requested method; None for the one that fits the model.

    Raises:
        CounterlensError: unknown method.
    """
    if wanted is None or wanted == NONE or wanted in list(InferenceMethod):
        return wanted if wanted is None else str(wanted)
    raise CounterlensError(f"there is no method {wanted}", f"There is {NONE}, {', '.join(InferenceMethod)}")


def _analyse(document: Document, function: Function) -> Dependences:
    """The true dependences; takes up to a second on a long file.

    Raises:
        SourceError: the source does not parse, or the function is redefined further down.
    """
    graph = dependences(document.text, function.qualname, language=document.language)
    if not graph.statements:
        raise SourceError("there are no statements here, so there are no dependences")
    line = graph.statements[0].line
    if not function.start_line <= line <= function.end_line:
        raise SourceError(
            f"{function.qualname} is defined again in line {line}, and only the last definition counts",
            "Put the cursor there",
        )
    return graph


def _infer(
    host: ModelHost, settings: EditorSettings, graph: Dependences, method: str | None, steps: Steps
) -> Inferred:
    """Infer dependences with the model; takes seconds, or a minute for a long function."""
    options = DependenceOptions(method=InferenceMethod(method) if method else None)
    steps.next("opening the model")
    with host.use_model(settings) as model:
        chosen = options.method_for(model, steps.cancel)
        return infer(model, graph, chosen, limit=options.most, steps=steps)


def _note(
    ls: CounterlensServer, analysis: Analysis, qualname: str, source: bytes, examined: Examined
) -> None:
    """Store the dependences until the function changes; keep what a model inferred before."""
    scope = {scope.qualname: scope for scope in scopes(analysis.document)}.get(qualname)
    before = analysis.known_function(qualname).examined
    if scope is None or analysis.source_of(scope) != source:
        return
    if examined.inferred or not (before and before.inferred):
        analysis.note(scope, examined=examined)
    if examined.inferred:
        ls.changed(analysis)


def _answer(document: Document, examined: Examined, html: bool) -> DependenceAnswer:
    """The answer, with the lines of the document that was examined."""
    graph, inferred = examined.found, examined.inferred
    true = dependences_json(graph)
    return DependenceAnswer(
        ok=True,
        function=graph.function,
        version=document.version,
        method=str(inferred.method) if inferred else NONE,
        summary=agreement_summary(inferred)
        if inferred
        else f"{len(true['control'])} control, {len(true['data'])} data",
        markdown=dependence_markdown(graph, inferred),
        html=dependence_fragment(graph, inferred) if html else "",
        dependences=true,
        inferred=inferred_json(inferred) if inferred else None,
    )


def agreement_summary(inferred: Inferred) -> str:
    """Summarise in one line which true dependences the model finds."""
    named = {Relation.CONTROL: "control", Relation.DATA: "data"}
    return "; ".join(
        f"{named[relation]}: {counts.true_positives} of {counts.true_positives + counts.false_negatives} "
        f"found, {counts.false_positives} invented"
        for relation, counts in inferred.agreement.of(inferred.method).items()
    )


def _code_actions(
    ls: CounterlensServer, analysis: Analysis, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """The code action for the function at a place, or for the module's own statements."""
    if analysis.document.language not in ANALYSED:
        return []
    scope = scope_at(analysis.document, ls.places(analysis).offset(params.range.start))
    whole = scope.qualname == MODULE
    if whole and first_decision(analysis.document) is None:
        return []
    title = "Show dependences of the module" if whole else "Show dependences"
    return [function_action(ls, analysis, scope.qualname, title, SHOW_COMMAND, COMMAND)]


def _hover(ls: CounterlensServer, analysis: Analysis, offset: int) -> HoverPart:
    """Describe the dependences of the statement at a place, in an examined function."""
    function = scope_at(analysis.document, offset) if analysis.results else None
    examined = analysis.known_function(function.qualname).examined if function else None
    if function is None or examined is None:
        return HoverPart()
    shift = function.start_line - examined.start_line
    line = ls.places(analysis).position(offset).line + 1 - shift
    here = [
        statement for statement in examined.found.statements if statement.line <= line <= statement.end_line
    ]
    if not here:
        return HoverPart()
    statement = here[-1]
    method = examined.inferred.method if examined.inferred else None
    into = [edge for edge in shown_edges(examined.found, examined.inferred) if edge.target == statement]
    first = code(statement.text.partition("\n")[0])
    if not into:
        return HoverPart(detail=f"{first} depends on nothing in this function.")
    model = examined.inferred.model.name if examined.inferred else ""
    head = f"{first} depends on (with the inference of {escape(model)}):" if model else f"{first} depends on:"
    return HoverPart(detail="\n".join([head, "", *into_markdown(into, method, shift)]))


def _marks(ls: CounterlensServer, analysis: Analysis) -> Iterator[CodeMark]:
    """Mark the statements with dependences that the model misses, if the settings say so."""
    if not (analysis.results and ls.settings.dependences_diagnostics):
        return
    for function in scopes(analysis.document):
        examined = analysis.known_function(function.qualname).examined
        if examined is not None and examined.inferred is not None:
            yield from _missed_edges(ls, analysis, function, examined, examined.inferred)


def _missed_edges(
    ls: CounterlensServer, analysis: Analysis, function: Function, examined: Examined, inferred: Inferred
) -> Iterator[CodeMark]:
    shift = function.start_line - examined.start_line
    places, missed = ls.places(analysis), dict[Statement, list[ShownEdge]]()
    for edge in shown_edges(examined.found, inferred):
        if edge.status is EdgeStatus.MISSED and edge.reached:
            missed.setdefault(edge.target, []).append(edge)
    for statement, edges in missed.items():
        said = "; ".join(_plain(edge, shift) for edge in edges)
        message = f"{inferred.model.name} does not show that this {said}."
        ruled = sum(edge.ruled for edge in edges)
        message += f" Baselines without a model find {ruled} of {len(edges)}."
        # the first line of the statement, without its indentation
        row = statement.line - 1 + shift
        start, end = (places.offset(types.Position(line, 0)) for line in (row, row + 1))
        text = analysis.document.data[start:end].rstrip()
        yield CodeMark(CODE, start + len(text) - len(text.lstrip()), start + len(text), message)


def _plain(edge: ShownEdge, shift: int) -> str:
    said = phrase(edge, shift).replace("`", "")
    return f"is {said}" if edge.relation is Relation.CONTROL else f"takes {said}"
