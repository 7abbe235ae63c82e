"""Apply a calibration map to a document's confidence."""

from __future__ import annotations

from dataclasses import replace

from counterlens.confidence.aggregate import Confidence, NodeConfidence
from counterlens.confidence.calibration import Calibration


def fits(confidence: Confidence, calibration: Calibration) -> bool:
    """Whether a map is for this aggregation, and for code in the document's language.

    A model knows one language better than another. Maps of earlier versions do not name their language.
    """
    known = calibration.facts.get("language")
    return calibration.aggregation is confidence.aggregation and known in (None, confidence.document.language)


def calibrate(confidence: Confidence, calibration: Calibration) -> Confidence:
    """The confidence with each node's value mapped; the tokens' own probabilities stay raw."""
    return replace(confidence, nodes=tuple(_map_node(node, calibration) for node in confidence.nodes))


def _map_node(node: NodeConfidence, calibration: Calibration) -> NodeConfidence:
    if node.confidence is None:
        return node
    first, last = node.tokens
    return replace(node, confidence=calibration.apply(node.category, node.confidence, last - first))
