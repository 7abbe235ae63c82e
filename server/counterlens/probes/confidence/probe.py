"""The confidence probe (AsC-Eval, Palacio et al. 2023, sections III and VI-B): confidence by concept.

The record of a function has the data for the causal analysis of the paper (AsC-Causal, section IV): its
confidence by category, its cross-entropy, and the confounders.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from counterlens.confidence import Confidence, NodeConfidence, confidence, score_document
from counterlens.confidence.scoring import score_alone
from counterlens.errors import SourceError
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.confidence.methods import METHODS
from counterlens.probes.confidence.published import ASTXPLAINER
from counterlens.probes.confidence.record import (
    ConceptFigures,
    ConfidenceRecord,
    Confounders,
    NodeTypeFigures,
)
from counterlens.probes.execution.language import EXECUTED
from counterlens.probes.options import ProbeOptions, option, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.syntax.concepts import NO_CONCEPTS
from counterlens.syntax.concepts.sets import AUTHORS, OWN, concept_set
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

Floats = npt.NDArray[np.float64]


def _concepts_there(name: str) -> None:
    concept_set(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceOptions(ProbeOptions):
    """Options of the confidence probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        ASTXPLAINER: {"concepts": AUTHORS, "no_context": True}
    }

    protocol: Annotated[str | None, protocols(ASTXPLAINER)] = None
    concepts: Annotated[
        str,
        option(
            f"Concept set: {OWN}, {AUTHORS} (the 32 node types of Palacio et al. 2023), or a TOML file.",
            metavar="NAME_OR_FILE",
            there=_concepts_there,
        ),
    ] = OWN
    no_context: Annotated[bool, option("Score each function alone, without the header of its file.")] = False


class ConfidenceProbe(Probe[ConfidenceOptions, ConfidenceRecord]):
    """Confidence in the concepts of a function, which the model reads once."""

    id = "confidence"
    title = "which concepts does it expect, and which surprise it?"
    source = Source("Palacio et al. 2023", "sections III and VI-B")
    needs = frozenset({Need.SCORE})
    whole_programs = True
    options = ConfidenceOptions
    record = ConfidenceRecord

    def run(self, context: Context, target: Target, options: ConfidenceOptions) -> ConfidenceRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: no token of the function could be scored.
            And as `score_document`.
        """
        context.steps.next("reading the function")
        scored, function = _score(context, target, options)
        scores = scored.scores
        inside = (scores.start < function.end) & (scores.end > function.start) & ~np.isnan(scores.logprob)
        tokens, nats = int(inside.sum()), -float(scores.logprob[inside].sum())
        if not tokens:
            raise SourceError("none of it could be scored")
        nodes = [node for node in scored.nodes if function.start <= node.start and node.end <= function.end]
        types = _types(nodes, scores.probability)
        # the mean confidence of the nodes of each type
        confidences: dict[str, list[float]] = {}
        for figures in types:
            confidences.setdefault(figures.kind, []).extend(figures.confidences)
        return ConfidenceRecord(
            tokens=tokens,
            bytes=int((scores.end - scores.start)[inside].sum()),
            bits=nats / math.log(2),
            cross_entropy=nats / tokens,
            concepts=_by_concept(scored, nodes),
            node_types={kind: float(np.mean(values)) for kind, values in confidences.items()},
            confounders=_confounders(scored, function, nodes, tokens),
            types=types,
        )

    def tables(self, records: Sequence[ConfidenceRecord], *, seed: int) -> tuple[Table, ...]:
        return METHODS[records[0].protocol].tables(records, seed=seed)

    def side_by_side(
        self, models: Mapping[str, Sequence[ConfidenceRecord]], *, seed: int
    ) -> tuple[Table, ...]:
        """Like `Probe.side_by_side`; the protocol adds Table I, and the best model beside the worst."""
        merged = super().side_by_side(models, seed=seed)
        protocol = next((records[0].protocol for records in models.values() if records), "")
        return *merged, *METHODS[protocol].comparison(models, seed=seed)

    def summary(self, records: Sequence[ConfidenceRecord]) -> str:
        by_concept = METHODS[records[0].protocol].by_concept(records)
        ordered = sorted(by_concept.items(), key=lambda of_concept: of_concept[1])
        if len(ordered) < 2:
            return "There are too few concepts to compare."
        (least, low), (most, high) = ordered[0], ordered[-1]
        return f"Its confidence is highest for {most} ({high:.2f}) and lowest for {least} ({low:.2f})."

    def measures(self, record: ConfidenceRecord) -> Mapping[str, bool]:  # noqa: ARG002
        """Like `Probe.measures`: empty, because confidence is a score, not a yes-or-no measure."""
        return {}

    def estimate(self, target: Target, options: ConfidenceOptions, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`: the model reads the function once."""
        find_function(target.document, target.qualname)
        return 1


def _score(context: Context, target: Target, options: ConfidenceOptions) -> tuple[Confidence, Function]:
    """The scored document, and the function in it; without context, the document is only the function."""
    document, function = target.document, find_function(target.document, target.qualname)
    concepts = concept_set(options.concepts)
    if not options.no_context:
        span = (function.start, function.end)
        scores = score_document(context.model, document, alternatives=0, span=span, cancel=context.cancel)
        return confidence(document, scores, concept_set=concepts), function
    snippet = Document(document.data[function.header : function.end].decode("utf-8", "surrogatepass"))
    scores = score_alone(context.model, snippet.text, cancel=context.cancel)
    size = len(snippet.data)
    alone = replace(function, start=0, header=0, end=size)
    return confidence(snippet, scores, concept_set=concepts), alone


def _by_concept(scored: Confidence, nodes: Sequence[NodeConfidence]) -> dict[str, ConceptFigures]:
    """Return the nodes of each concept, with their mean confidence and surprisal."""
    by_concept: dict[str, list[tuple[float, float]]] = {}
    for node in nodes:
        concept = scored.concept_of(node)
        if concept is None or concept in NO_CONCEPTS:
            continue
        if node.confidence is not None and node.bits_per_byte is not None:
            by_concept.setdefault(concept, []).append((node.confidence, node.bits_per_byte))
    return {
        str(category): ConceptFigures(
            nodes=len(values),
            confidence=float(np.mean([probability for probability, _ in values])),
            bits_per_byte=float(np.mean([bits for _, bits in values])),
        )
        for category, values in sorted(by_concept.items())
    }


def _types(nodes: Sequence[NodeConfidence], probability: Floats) -> tuple[NodeTypeFigures, ...]:
    """The scored nodes of each type, by the names of the types."""
    by_type: dict[tuple[str, bool], list[NodeConfidence]] = {}
    for node in nodes:
        if node.confidence is not None:
            by_type.setdefault((node.kind, node.named), []).append(node)
    figures = []
    for (kind, named), same in sorted(by_type.items()):
        runs = np.concatenate([probability[slice(*node.tokens)] for node in same])
        runs = runs[~np.isnan(runs)]
        figures.append(
            NodeTypeFigures(
                kind=kind,
                named=named,
                confidences=tuple(node.confidence for node in same if node.confidence is not None),
                tokens=len(runs),
                probability=float(runs.mean()),
            )
        )
    return tuple(figures)


def _confounders(
    scored: Confidence, function: Function, nodes: Sequence[NodeConfidence], tokens: int
) -> Confounders:
    depths = [node.depth for node in nodes]
    code = scored.document.data[function.header : function.end].decode("utf-8", "replace")
    executed = EXECUTED.get(scored.document.language)
    made = executed.features(code) if executed is not None else None
    return Confounders(
        cyclomatic_complexity=made.complexity if made else None,
        ast_levels=max(depths) - min(depths) + 1 if depths else 0,
        ast_nodes=len(nodes),
        sequence_length=tokens,
    )
