"""Views of an editor: the syntax tree of a document, and the known results for the function at a place.

Custom requests `counterlens/tree` and `counterlens/function`, see docs/protocol.md. They ask no model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.aggregate import NodeConfidence
from counterlens.confidence.granularity import LABELS, level_of
from counterlens.confidence.tree import TreeNode, TreeView, tree, within
from counterlens.lsp.analysis import Analysis, KnownFunction, ScoringState
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.dependences import agreement_summary
from counterlens.lsp.places import Places
from counterlens.lsp.targets import document_of, plain, position
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.wording import meaning
from counterlens.syntax.definitions import FINDERS
from counterlens.syntax.functions import Function, function_at
from counterlens.syntax.statements import definition_at

TREE_REQUEST = "counterlens/tree"
MOST_ROWS = 20_000
"""Maximum number of rows in one answer."""
FUNCTION_REQUEST = "counterlens/function"
_WIDEST = 40


def register(server: CounterlensServer) -> None:
    server.feature(TREE_REQUEST)(_tree)
    server.feature(FUNCTION_REQUEST)(_function)


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One node or token."""

    parent: int
    kind: str
    category: str
    text: str
    range: types.Range
    confidence: float | None
    level: int | None
    minimum: float | None
    bits: float | None
    leaf: bool


@dataclass(frozen=True, slots=True)
class TreeScope:
    """The function or type of the rows."""

    name: str
    range: types.Range


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """The rows of one version of a document."""

    version: int
    state: str
    reason: str | None
    view: str
    levels: int
    labels: tuple[str, ...]
    rows: tuple[TreeRow, ...]
    truncated: int = 0
    scope: TreeScope | None = None


async def _tree(ls: CounterlensServer, params: Any) -> SyntaxTree:
    """Answer the request with the current results; off the event loop, as long files have many nodes."""
    wanted = getattr(params, "view", None)
    view = TreeView(wanted) if wanted in list(TreeView) else TreeView.PARTIAL
    analysis = ls.analyses.get(document_of(params))
    if analysis is None:
        return SyntaxTree(-1, ScoringState.UNAVAILABLE, "the document is not open", view, 0, (), ())
    places = ls.places(analysis)
    at = plain(params).get("position")
    offset = None if at is None else places.offset(position(at))
    return await ls.offload(syntax_tree, analysis.frozen(), places, view, offset)


def syntax_tree(analysis: Analysis, places: Places, view: TreeView, offset: int | None = None) -> SyntaxTree:
    """The tree of a document in one of the three views, or that of the definition around a byte."""
    confidence, document = analysis.shown, analysis.document
    rows: tuple[TreeNode, ...] = ()
    scope = None
    if confidence is not None:
        rows = analysis.memo.get(("tree", view), lambda: tree(confidence, view))
        if offset is not None:
            scope = definition_at(document.tree.root_node, document.data, offset)
    if scope is not None:
        rows = within(rows, scope.start, scope.end)
    return SyntaxTree(
        version=document.version,
        state=analysis.state,
        reason=analysis.reason or None,
        view=view,
        levels=len(LABELS),
        labels=tuple(LABELS),
        rows=tuple(
            TreeRow(
                parent=row.parent,
                kind=row.kind,
                category=row.category,
                text=row.text,
                range=places.range(row.start, row.end),
                confidence=row.value,
                level=row.level,
                minimum=row.minimum,
                bits=row.bits,
                leaf=row.leaf,
            )
            for row in rows[:MOST_ROWS]
        ),
        truncated=max(0, len(rows) - MOST_ROWS),
        scope=scope and TreeScope(scope.name, places.range(scope.start, scope.end)),
    )


@dataclass(frozen=True, slots=True)
class ConceptConfidence:
    """The model's confidence in one concept in the function."""

    name: str
    confidence: float
    level: int
    nodes: int
    least: types.Range
    least_confidence: float
    text: str


@dataclass(frozen=True, slots=True)
class InferenceSummary:
    """The dependences that the model infers, in one line, with the method."""

    summary: str
    method: str


@dataclass(frozen=True, slots=True)
class TaskFinding:
    """The result of one task for the function, in a sentence or two."""

    task: str
    summary: str


@dataclass(frozen=True, slots=True)
class FunctionView:
    """The function at a place."""

    version: int
    state: str
    reason: str | None
    function: str = ""
    header: types.Range | None = None
    concepts: tuple[ConceptConfidence, ...] = ()
    dependences: InferenceSummary | None = None
    findings: tuple[TaskFinding, ...] = ()


async def _function(ls: CounterlensServer, params: Any) -> FunctionView:
    """Answer the request with the current results."""
    analysis = ls.analyses.get(document_of(params))
    if analysis is None:
        return FunctionView(-1, ScoringState.UNAVAILABLE, "the document is not open")
    if analysis.document.language not in FINDERS:
        return FunctionView(
            analysis.document.version,
            ScoringState.UNAVAILABLE,
            "no functions are listed in this language",
        )
    places = ls.places(analysis)
    offset = places.offset(position(plain(params)["position"]))
    return await ls.offload(function_view, analysis.frozen(), places, offset)


def function_view(analysis: Analysis, places: Places, offset: int) -> FunctionView:
    """Return the known results for the function around a byte."""
    view = FunctionView(analysis.document.version, analysis.state, analysis.reason or None)
    function = function_at(analysis.document, offset)
    if function is None:
        return view
    results = analysis.known_function(function.qualname)
    inferred = results.examined.inferred if results.examined else None
    summary = InferenceSummary(agreement_summary(inferred), str(inferred.method)) if inferred else None
    return replace(
        view,
        function=function.qualname,
        header=places.range(function.header, function.header),
        concepts=_concepts(analysis.shown, places, function) if analysis.shown else (),
        dependences=summary,
        findings=tuple(_findings(results)),
    )


def _findings(results: KnownFunction) -> list[TaskFinding]:
    """Return the results of probes; that of the completion probe is stored separately."""
    findings = dict(results.findings)
    if results.probe is not None:
        findings[CompletionProbe.id] = meaning(results.probe)
    return [TaskFinding(task, summary) for task, summary in findings.items()]


def _concepts(confidence: Confidence, places: Places, function: Function) -> tuple[ConceptConfidence, ...]:
    inside = [
        (node.confidence, node)
        for node in confidence.nodes
        if node.named
        and node.confidence is not None
        and function.start <= node.start
        and node.end <= function.end
    ]
    least: dict[str, NodeConfidence] = {}
    for _, node in sorted(inside, key=lambda scored: scored[0]):
        least.setdefault(node.category, node)
    made = [
        _concept(confidence, places, least[name], value, count)
        for name, (value, count) in confidence.concepts_in(function.start, function.end).items()
    ]
    return tuple(sorted(made, key=lambda concept: concept.confidence))


def _concept(
    confidence: Confidence, places: Places, least: NodeConfidence, value: float, count: int
) -> ConceptConfidence:
    source = confidence.document.data[least.start : least.end].decode("utf-8", "replace").split("\n", 1)[0]
    return ConceptConfidence(
        str(least.category),
        value,
        level_of(value),
        count,
        places.range(least.start, least.end),
        least.confidence or 0.0,
        source if len(source) <= _WIDEST else source[: _WIDEST - 1] + "…",
    )
