"""Confidence in concepts (AsC-Eval, Palacio et al. 2023, section III): tokens aligned to syntax nodes."""

from counterlens.confidence.aggregate import Aggregation, Confidence, NodeConfidence, confidence
from counterlens.confidence.scoring import score_document

__all__ = ["Aggregation", "Confidence", "NodeConfidence", "confidence", "score_document"]
