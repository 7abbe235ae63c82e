"""Confidence in concepts (AsC-Eval, Palacio et al. 2023, sections III and VI-B), function by function.

What is kept of a function is what the causal analysis of the paper needs (AsC-Causal, section IV): its
confidence by category, its cross-entropy, and the confounders.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from counterlens.confidence import Confidence, confidence, score_document
from counterlens.counting import plural
from counterlens.errors import Cancelled, SourceError
from counterlens.metrics.bootstrap import Estimate, pooled_mean
from counterlens.metrics.corpus import CorpusConfidence, FileConfidence, corpus_confidence
from counterlens.probes.execution.features import features
from counterlens.probes.task import Cell, Need, Request, Result, Table, Target
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
    "confidence: median over functions of the mean probability of a concept's nodes; surprisal: mean bits a "
    "byte of these nodes; intervals: functions drawn anew (Palacio et al. 2023, section VI-B)"
)


class ConfidenceTask:
    """How sure the model is of each concept. Implements `counterlens.probes.task.Task`."""

    id = "confidence"
    title = "which concepts does it expect, and which surprise it?"
    needs = frozenset({Need.SCORE})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: nothing of a function could be scored.
            And as `score_document`.
        """
        functions = []
        for number, target in enumerate(request.targets):
            if request.cancel is not None and request.cancel.is_set():
                raise Cancelled
            if request.report:
                request.report(target.name, number, len(request.targets))
            functions.append(_measured(target, request))
        data = {"functions": functions}
        return Result(
            task=self.id,
            title=f"the concepts of {plural(len(functions), 'function')}",
            model=request.model.info,
            summary=_summary(_corpus(functions, request.seed)),
            tables=self.tables([data], seed=request.seed),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`."""
        functions = [one for data in found for one in data["functions"]]
        if not functions:
            return ()
        return _whole(functions, seed), _concepts(functions, seed)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:  # noqa: ARG002 - of the protocol
        """As `Task.measures`: a confidence is a score, and nothing that a function does or does not."""
        return {}

    def asks(self, request: Request) -> int:
        """As `Task.asks`: each function is read once."""
        return len(request.targets)


def _measured(target: Target, request: Request) -> dict[str, Any]:
    document, function = target.document, find_function(target.document, target.qualname)
    span = (function.start, function.end)
    scores = score_document(request.model, document, alternatives=0, span=span, cancel=request.cancel)
    inside = (scores.start < function.end) & (scores.end > function.start) & ~np.isnan(scores.logprob)
    tokens, nats = int(inside.sum()), -float(scores.logprob[inside].sum())
    if not tokens:
        raise SourceError("nothing of it could be scored")
    found = confidence(document, scores)
    return {
        "target": target.name,
        "tokens": tokens,
        "bytes": int((scores.end - scores.start)[inside].sum()),
        "bits": nats / math.log(2),
        "cross_entropy": nats / tokens,
        "concepts": _by_concept(found, function),
        "node_types": _by_type(found, function),
        "confounders": _confounders(found, function, tokens),
    }


def _by_concept(found: Confidence, function: Function) -> dict[str, dict[str, Any]]:
    """Of each category in the function: its nodes, their mean confidence and surprisal."""
    nodes: dict[Category, list[tuple[float, float]]] = {}
    for node in found.nodes:
        within = function.start <= node.start and node.end <= function.end
        known = node.confidence is not None and node.bits_per_byte is not None
        if within and node.named and known and node.category is not Category.STRUCTURE:
            nodes.setdefault(node.category, []).append((node.confidence or 0.0, node.bits_per_byte or 0.0))
    return {
        str(category): {
            "nodes": len(values),
            "confidence": float(np.mean([one for one, _ in values])),
            "bits_per_byte": float(np.mean([bits for _, bits in values])),
        }
        for category, values in sorted(nodes.items())
    }


def _by_type(found: Confidence, function: Function) -> dict[str, float]:
    """The mean confidence of the nodes of each type that Palacio et al. 2023 report in Table II."""
    nodes: dict[str, list[float]] = {}
    for node in found.nodes:
        within = function.start <= node.start and node.end <= function.end
        if within and node.kind in NODE_TYPES and node.confidence is not None:
            nodes.setdefault(node.kind, []).append(node.confidence)
    return {name: float(np.mean(nodes[name])) for name in NODE_TYPES if name in nodes}


def _confounders(found: Confidence, function: Function, tokens: int) -> dict[str, int | None]:
    """The confounders of the function alone (Palacio et al. 2023, section IV)."""
    inside = [node for node in found.nodes if function.start <= node.start and node.end <= function.end]
    depths = [node.depth for node in inside]
    made = features(found.document.data[function.header : function.end].decode("utf-8", "replace"))
    return {
        "cyclomatic_complexity": made.complexity if made else None,
        "ast_levels": max(depths) - min(depths) + 1 if depths else 0,
        "ast_nodes": len(inside),
        "sequence_length": tokens,
    }


def _corpus(functions: Sequence[Mapping[str, Any]], seed: int) -> CorpusConfidence:
    """The global aggregation, in which each function is a snippet."""
    files = []
    for one in functions:
        concepts = one["concepts"].values()
        nodes = sum(concept["nodes"] for concept in concepts)
        total = sum(concept["nodes"] * concept["confidence"] for concept in concepts)
        files.append(
            FileConfidence(
                {Category(name): np.array([value["confidence"]]) for name, value in one["concepts"].items()},
                np.array([total / nodes] if nodes else []),
                one["tokens"],
                one["bits"],
                one["bytes"],
            )
        )
    return corpus_confidence(files, seed=seed)


def _whole(functions: Sequence[Mapping[str, Any]], seed: int) -> Table:
    found = _corpus(functions, seed)
    row: tuple[Cell, ...] = (
        len(functions),
        found.tokens,
        pooled_mean(((one["target"], one["cross_entropy"]) for one in functions), seed=seed),
        _cell(found.bits_per_byte, len(functions)),
        _cell(found.whole, len(functions)),
    )
    columns = ("functions", "tokens", "cross-entropy (nats)", "bits a byte", "confidence")
    return Table("the functions as a whole", columns, (row,), "cross-entropy: mean over functions")


def _concepts(functions: Sequence[Mapping[str, Any]], seed: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for category, median in _corpus(functions, seed).categories.items():
        holding = [
            (one["target"], one["concepts"][category]) for one in functions if category in one["concepts"]
        ]
        surprisal = pooled_mean(((name, value["bits_per_byte"]) for name, value in holding), seed=seed)
        nodes = sum(value["nodes"] for _, value in holding)
        rows.append((str(category), len(holding), nodes, _cell(median, len(holding)), surprisal))
    columns = ("concept", "functions", "nodes", "confidence", "surprisal")
    return Table("by concept", columns, tuple(rows), _NOTE)


def _cell(found: Any, n: int) -> Estimate | None:
    return None if found is None else Estimate(found.value, found.low, found.high, n)


def _summary(found: CorpusConfidence) -> str:
    ordered = sorted(found.categories.items(), key=lambda one: one[1].value)
    if len(ordered) < 2:
        return "There are too few concepts to compare."
    (least, low), (most, high) = ordered[0], ordered[-1]
    return f"It is surest of {most} ({high.value:.2f}) and least sure of {least} ({low.value:.2f})."
