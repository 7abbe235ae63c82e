"""Concept-level confidence (AsC-Eval, paper 001 section III): token scores aligned to syntax nodes."""

from counterlens.confidence.aggregate import Aggregation, Confidence, NodeConfidence, confidence
from counterlens.confidence.scoring import score_document

__all__ = ["Aggregation", "Confidence", "NodeConfidence", "confidence", "score_document"]
