"""The confidence probe (AsC-Eval, Palacio et al. 2023, sections III and VI-B): confidence by concept.

What is kept of a function is what the causal analysis of the paper needs (AsC-Causal, section IV): its
confidence by category, its cross-entropy, and the confounders.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterlens.confidence import Confidence, NodeConfidence, confidence, score_document
from counterlens.errors import SourceError
from counterlens.metrics.bootstrap import Estimate, IntervalEstimate, pooled_mean
from counterlens.metrics.corpus import CorpusConfidence, FileConfidence, corpus_confidence
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model
from counterlens.probes.execution.features import features
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.record import Record
from counterlens.syntax.concepts import Category
from counterlens.syntax.functions import Function, find_function

NODE_TYPES = {
    "for_statement": Category.ITERATION,
    "while_statement": Category.ITERATION,
    "identifier": Category.NATURAL_LANGUAGE,
    "string": Category.NATURAL_LANGUAGE,
    "]": Category.SCOPE,
    ")": Category.SCOPE,
    "if_statement": Category.DECISION,
    "comparison_operator": Category.OPERATORS,
    "boolean_operator": Category.OPERATORS,
    "for_in_clause": Category.FUNCTIONAL,
    "if_clause": Category.FUNCTIONAL,
    "lambda": Category.FUNCTIONAL,
}
"""The node types of Table II, in its order, each with the category that the paper puts it in there."""

_NOTE = (
    "confidence: median over functions of the mean probability of a concept's nodes; surprisal: mean bits "
    "per byte of these nodes; intervals: functions drawn anew (Palacio et al. 2023, section VI-B)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceOptions(ProbeOptions):
    """Options of the confidence probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptFigures:
    """How sure the model is of one concept in a function.

    Attributes:
        nodes: How many nodes of it are scored.
        confidence: Their mean confidence, 0 to 1.
        bits_per_byte: Their mean surprisal.
    """

    nodes: int
    confidence: float
    bits_per_byte: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounders:
    """The confounders of a function (Palacio et al. 2023, section IV).

    Attributes:
        cyclomatic_complexity: McCabe's; None where the function does not parse.
        ast_levels: Levels of its syntax tree.
        ast_nodes: Nodes of its syntax tree.
        sequence_length: Its tokens.
    """

    cyclomatic_complexity: int | None
    ast_levels: int
    ast_nodes: int
    sequence_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceRecord(Record):
    """How sure the model is of a function and of its concepts.

    Attributes:
        tokens: How many tokens of it are scored.
        bytes: How many bytes they cover.
        bits: Their surprisal.
        cross_entropy: Nats per token.
        concepts: By concept category, those that occur.
        node_types: Mean confidence by node type, of the types in `NODE_TYPES` that occur.
        confounders: What the causal analysis holds constant.
    """

    tokens: int
    bytes: int
    bits: float
    cross_entropy: float
    concepts: Mapping[str, ConceptFigures]
    node_types: Mapping[str, float]
    confounders: Confounders


class ConfidenceProbe(Probe[ConfidenceOptions, ConfidenceRecord]):
    """Confidence in the concepts of a function, which is read once."""

    id = "confidence"
    title = "which concepts does it expect, and which surprise it?"
    source = Source("Palacio et al. 2023", "sections III and VI-B")
    needs = frozenset({Need.SCORE})
    options = ConfidenceOptions
    record = ConfidenceRecord

    def run(self, context: Context, target: Target, options: ConfidenceOptions) -> ConfidenceRecord:  # noqa: ARG002
        """As `Probe.run`.

        Raises:
            SourceError: nothing of the function could be scored.
            And as `score_document`.
        """
        document, function = target.document, find_function(target.document, target.qualname)
        context.steps.next("reading the function")
        span = (function.start, function.end)
        scores = score_document(context.model, document, alternatives=0, span=span, cancel=context.cancel)
        inside = (scores.start < function.end) & (scores.end > function.start) & ~np.isnan(scores.logprob)
        tokens, nats = int(inside.sum()), -float(scores.logprob[inside].sum())
        if not tokens:
            raise SourceError("nothing of it could be scored")
        scored = confidence(document, scores)
        nodes = [node for node in scored.nodes if function.start <= node.start and node.end <= function.end]
        return ConfidenceRecord(
            tokens=tokens,
            bytes=int((scores.end - scores.start)[inside].sum()),
            bits=nats / math.log(2),
            cross_entropy=nats / tokens,
            concepts=_by_concept(nodes),
            node_types=_by_type(nodes),
            confounders=_confounders(scored, function, nodes, tokens),
        )

    def tables(self, records: Sequence[ConfidenceRecord], *, seed: int) -> tuple[Table, ...]:
        """As `Probe.tables`."""
        pooled = _pooled(records, seed)
        return _whole(records, pooled, seed), _concepts(records, pooled, seed)

    def summary(self, records: Sequence[ConfidenceRecord]) -> str:
        """As `Probe.summary`."""
        ordered = sorted(_pooled(records, 0).categories.items(), key=lambda of_concept: of_concept[1].value)
        if len(ordered) < 2:
            return "There are too few concepts to compare."
        (least, low), (most, high) = ordered[0], ordered[-1]
        return f"It is surest of {most} ({high.value:.2f}) and least sure of {least} ({low.value:.2f})."

    def measures(self, record: ConfidenceRecord) -> Mapping[str, bool]:  # noqa: ARG002
        """As `Probe.measures`: a confidence is a score, and nothing that a function does or does not."""
        return {}

    def estimate(self, target: Target, options: ConfidenceOptions, model: Model) -> int:  # noqa: ARG002
        """As `Probe.estimate`: the function is read once."""
        find_function(target.document, target.qualname)
        return 1


def _by_concept(nodes: Sequence[NodeConfidence]) -> dict[str, ConceptFigures]:
    """Of each category: its nodes, their mean confidence and surprisal."""
    known: dict[Category, list[tuple[float, float]]] = {}
    for node in nodes:
        if not node.named or node.category is Category.STRUCTURE:
            continue
        if node.confidence is not None and node.bits_per_byte is not None:
            known.setdefault(node.category, []).append((node.confidence, node.bits_per_byte))
    return {
        str(category): ConceptFigures(
            nodes=len(values),
            confidence=float(np.mean([probability for probability, _ in values])),
            bits_per_byte=float(np.mean([bits for _, bits in values])),
        )
        for category, values in sorted(known.items())
    }


def _by_type(nodes: Sequence[NodeConfidence]) -> dict[str, float]:
    """The mean confidence of the nodes of each type that Palacio et al. 2023 report in Table II."""
    known: dict[str, list[float]] = {}
    for node in nodes:
        if node.kind in NODE_TYPES and node.confidence is not None:
            known.setdefault(node.kind, []).append(node.confidence)
    return {name: float(np.mean(known[name])) for name in NODE_TYPES if name in known}


def _confounders(
    scored: Confidence, function: Function, nodes: Sequence[NodeConfidence], tokens: int
) -> Confounders:
    depths = [node.depth for node in nodes]
    code = scored.document.data[function.header : function.end].decode("utf-8", "replace")
    made = features(code)
    return Confounders(
        cyclomatic_complexity=made.complexity if made else None,
        ast_levels=max(depths) - min(depths) + 1 if depths else 0,
        ast_nodes=len(nodes),
        sequence_length=tokens,
    )


def _pooled(records: Sequence[ConfidenceRecord], seed: int) -> CorpusConfidence:
    """The global aggregation, in which each function is a snippet."""
    files = []
    for record in records:
        concepts = record.concepts.values()
        nodes = sum(concept.nodes for concept in concepts)
        total = sum(concept.nodes * concept.confidence for concept in concepts)
        files.append(
            FileConfidence(
                {Category(name): np.array([concept.confidence]) for name, concept in record.concepts.items()},
                np.array([total / nodes] if nodes else []),
                record.tokens,
                record.bits,
                record.bytes,
            )
        )
    return corpus_confidence(files, seed=seed)


def _whole(records: Sequence[ConfidenceRecord], pooled: CorpusConfidence, seed: int) -> Table:
    row: tuple[Cell, ...] = (
        len(records),
        pooled.tokens,
        pooled_mean(((record.target, record.cross_entropy) for record in records), seed=seed),
        _cell(pooled.bits_per_byte, len(records)),
        _cell(pooled.whole, len(records)),
    )
    columns = ("functions", "tokens", "cross-entropy (nats)", "bits per byte", "confidence")
    return Table("the functions as a whole", columns, (row,), "cross-entropy: mean over functions")


def _concepts(records: Sequence[ConfidenceRecord], pooled: CorpusConfidence, seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for category, median in pooled.categories.items():
        holding = [
            (record.target, record.concepts[category]) for record in records if category in record.concepts
        ]
        surprisal = pooled_mean(((name, concept.bits_per_byte) for name, concept in holding), seed=seed)
        nodes = sum(concept.nodes for _, concept in holding)
        rows.append((str(category), len(holding), nodes, _cell(median, len(holding)), surprisal))
    columns = ("concept", "functions", "nodes", "confidence", "surprisal")
    return Table("by concept", columns, tuple(rows), _NOTE)


def _cell(figure: IntervalEstimate | None, n: int) -> Estimate | None:
    return None if figure is None else Estimate(figure.value, figure.low, figure.high, n)
