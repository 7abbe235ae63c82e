"""The known results for the function at a place: confidence by concept, dependences, probes.

Custom request `counterlens/function`, see docs/protocol.md. It asks no model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.aggregate import NodeConfidence
from counterlens.confidence.granularity import level_of
from counterlens.lsp.analysis import Analysis, KnownFunction, ScoringState
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.dependences import agreement_summary
from counterlens.lsp.language import t, translate_known, translator
from counterlens.lsp.places import Places
from counterlens.lsp.targets import document_of, plain, position
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.wording import meaning
from counterlens.syntax.definitions import FINDERS
from counterlens.syntax.functions import Function, function_at

REQUEST = "counterlens/function"
_WIDEST = 40


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
    calibrated: bool = False
    concepts: tuple[ConceptConfidence, ...] = ()
    dependences: InferenceSummary | None = None
    findings: tuple[TaskFinding, ...] = ()


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(REQUEST)(_function)


async def _function(ls: CounterlensServer, params: Any) -> FunctionView:
    """Answer the request with the current results."""
    analysis = ls.analyses.get(document_of(params))
    if analysis is None:
        return FunctionView(-1, ScoringState.UNAVAILABLE, t("the document is not open"))
    if analysis.document.language not in FINDERS:
        return FunctionView(
            analysis.document.version,
            ScoringState.UNAVAILABLE,
            t("no functions are listed in this language"),
        )
    places = ls.places(analysis)
    offset = places.offset(position(plain(params)["position"]))
    return await ls.offload(function_view, analysis.frozen(), places, offset)


def function_view(analysis: Analysis, places: Places, offset: int) -> FunctionView:
    """Return the known results for the function around a byte."""
    known = FunctionView(analysis.document.version, analysis.state, analysis.reason or None)
    function = function_at(analysis.document, offset)
    if function is None:
        return known
    results = analysis.known_function(function.qualname)
    inferred = results.examined.inferred if results.examined else None
    summary = InferenceSummary(agreement_summary(inferred), str(inferred.method)) if inferred else None
    return replace(
        known,
        function=function.qualname,
        header=places.range(function.header, function.header),
        calibrated=analysis.calibration is not None,
        concepts=_concepts(analysis.shown, places, function) if analysis.shown else (),
        dependences=summary,
        findings=tuple(_findings(results)),
    )


def _findings(known: KnownFunction) -> list[TaskFinding]:
    """Return the results of probes; that of the completion probe is stored separately."""
    findings = dict(known.findings)
    if known.probe is not None:
        findings[CompletionProbe.id] = meaning(known.probe, translator())
    return [TaskFinding(task, translate_known(summary)) for task, summary in findings.items()]


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
