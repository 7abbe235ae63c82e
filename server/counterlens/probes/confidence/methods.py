"""The definitions of confidence by concept: our own, and those of `astxplainer` (Palacio et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from counterlens.confidence.corpus import CorpusConfidence, FileConfidence, corpus_confidence
from counterlens.metrics.asc_eval import GLOBAL, TypeMedian
from counterlens.metrics.bootstrap import Estimate, IntervalEstimate, pooled_mean
from counterlens.metrics.table import Cell, Table
from counterlens.probes.confidence.published import (
    ASTXPLAINER,
    means_of,
    published_comparison,
    published_tables,
    types_of,
)
from counterlens.probes.confidence.record import NODE_TYPES, ConfidenceRecord
from counterlens.probes.protocols import Methods

ALL_CONCEPTS = "all concepts"
_PAPER = "Palacio et al. 2023, Table II"
_NOTE = (
    "confidence: median over functions of the mean probability of a concept's nodes; surprisal: mean bits "
    "per byte of these nodes; intervals: functions resampled (after Palacio et al. 2023, whose own "
    f"aggregation is --protocol {ASTXPLAINER})"
)

Records = Sequence[ConfidenceRecord]


class ConfidenceMethod:
    """Counterlens's own definitions.

    Attributes:
        absent_is_zero: Whether a function's confidence in a concept that it lacks is fixed to be 0.
        definitions: Whose definitions the effects rest on, for the notes of tables.
    """

    absent_is_zero = False
    definitions = (
        f"Counterlens's own definitions, in the layout of {_PAPER}; theirs by --protocol {ASTXPLAINER}"
    )

    def tables(self, records: Records, *, seed: int) -> tuple[Table, ...]:
        """The tables of one model."""
        pooled = _pool(records, seed)
        return _whole(records, pooled), _concepts(records, pooled)

    def comparison(self, models: Mapping[str, Records], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        """Further tables of models side by side."""
        return ()

    def by_concept(self, records: Records) -> dict[str, float]:
        """The confidence by concept."""
        return {name: median.value for name, median in _pool(records, 0).categories.items()}

    def types(self, records: Records, *, seed: int) -> list[TypeMedian]:  # noqa: ARG002
        """The confidence by node type, for plots; empty if there are none."""
        return []

    def treatments(self, record: ConfidenceRecord, *, zero: bool) -> dict[str, float]:  # noqa: ARG002
        """The confidences of a function for the causal analysis: all concepts, and each treatment.

        Here they are means over nodes, for all concepts, each category and each node type.

        Args:
            zero: Whether a treatment that it lacks counts as 0.
        """
        nodes = sum(concept.nodes for concept in record.concepts.values())
        total = sum(concept.nodes * concept.confidence for concept in record.concepts.values())
        if not nodes:
            return {}
        return {
            ALL_CONCEPTS: total / nodes,
            **{name: concept.confidence for name, concept in record.concepts.items()},
            **{kind: record.node_types[kind] for kind in NODE_TYPES if kind in record.node_types},
        }


class Astxplainer(ConfidenceMethod):
    """The protocol `astxplainer`: node types over tokens; see `published.py`."""

    absent_is_zero = True
    definitions = _PAPER

    def tables(self, records: Records, *, seed: int) -> tuple[Table, ...]:
        """The paper's figures of one model."""
        return published_tables(records, seed=seed)

    def comparison(self, models: Mapping[str, Records], *, seed: int) -> tuple[Table, ...]:
        """Table I, and the best model beside the worst."""
        return published_comparison(models, seed=seed)

    def by_concept(self, records: Records) -> dict[str, float]:
        """The means of the paper's categories."""
        return {mean.category: mean.value for mean in means_of(records) if mean.category != GLOBAL}

    def types(self, records: Records, *, seed: int) -> list[TypeMedian]:
        """The medians of the 32 node types."""
        return types_of(records, seed=seed)

    def treatments(self, record: ConfidenceRecord, *, zero: bool) -> dict[str, float]:
        """Means over tokens, for each of the 14 treatments, and the mean of these; see `ConfidenceMethod`."""
        means = record.token_means()
        by_kind = {kind: means[kind] for kind in NODE_TYPES if kind in means}
        if zero:
            by_kind = dict.fromkeys(NODE_TYPES, 0.0) | by_kind
        return {ALL_CONCEPTS: sum(by_kind.values()) / len(by_kind), **by_kind} if by_kind else {}


METHODS = Methods(ConfidenceMethod(), astxplainer=Astxplainer())


def _pool(records: Sequence[ConfidenceRecord], seed: int) -> CorpusConfidence:
    """The global aggregation, with each function as a snippet."""
    files = []
    for record in records:
        concepts = record.concepts.values()
        nodes = sum(concept.nodes for concept in concepts)
        total = sum(concept.nodes * concept.confidence for concept in concepts)
        files.append(
            FileConfidence(
                {name: np.array([concept.confidence]) for name, concept in record.concepts.items()},
                np.array([total / nodes] if nodes else []),
                record.tokens,
                record.bits,
                record.bytes,
            )
        )
    return corpus_confidence(files, seed=seed)


def _whole(records: Sequence[ConfidenceRecord], pooled: CorpusConfidence) -> Table:
    row: tuple[Cell, ...] = (
        len(records),
        pooled.tokens,
        pooled_mean(((record.target, record.cross_entropy) for record in records), least=0),
        _cell(pooled.bits_per_byte, len(records)),
        _cell(pooled.whole, len(records)),
    )
    columns = ("functions", "tokens", "cross-entropy (nats)", "bits per byte", "confidence")
    return Table("the functions as a whole", columns, (row,), "cross-entropy: mean over functions")


def _concepts(records: Sequence[ConfidenceRecord], pooled: CorpusConfidence) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for category, median in pooled.categories.items():
        holding = [
            (record.target, record.concepts[category]) for record in records if category in record.concepts
        ]
        surprisal = pooled_mean(((name, concept.bits_per_byte) for name, concept in holding), least=0)
        nodes = sum(concept.nodes for _, concept in holding)
        rows.append((str(category), len(holding), nodes, _cell(median, len(holding)), surprisal))
    columns = ("concept", "functions", "nodes", "confidence", "surprisal")
    return Table("by concept", columns, tuple(rows), _NOTE)


def _cell(figure: IntervalEstimate | None, n: int) -> Estimate | None:
    return None if figure is None else Estimate(figure.value, figure.low, figure.high, n)
