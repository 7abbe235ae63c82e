"""Confidence by concept (AsC-Eval, Palacio et al. 2023, sections III and VI-B)."""

from counterlens.probes.confidence.probe import ConfidenceOptions, ConfidenceProbe
from counterlens.probes.confidence.record import (
    NODE_TYPES,
    ConceptFigures,
    ConfidenceRecord,
    Confounders,
    NodeTypeFigures,
)

__all__ = [
    "NODE_TYPES",
    "ConceptFigures",
    "ConfidenceOptions",
    "ConfidenceProbe",
    "ConfidenceRecord",
    "Confounders",
    "NodeTypeFigures",
]
