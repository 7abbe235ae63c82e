"""A map applied to a document's nodes."""

from __future__ import annotations

import pytest

from counterlens.confidence import Aggregation, confidence, score_document
from counterlens.confidence.calibrated import calibrated, fits
from counterlens.confidence.calibration import EVERYTHING, Calibration, Curve
from counterlens.models.llama.model import LlamaModel
from counterlens.syntax.document import Document


def test_nodes_are_mapped_and_tokens_are_not(model: LlamaModel) -> None:
    document = Document("def add(a, b):\n    return a + b\n")
    found = confidence(document, score_document(model, document))
    known = Calibration("id", "name", Aggregation.MEAN, {EVERYTHING: Curve(9, (0.0, 1.0), (0.0, 0.5))})
    shown = calibrated(found, known)
    for before, after in zip(found.nodes, shown.nodes, strict=True):
        assert after.minimum == before.minimum
        if before.confidence is None:
            assert after.confidence is None
        else:
            assert after.confidence == pytest.approx(before.confidence / 2)
    assert shown.scores is found.scores
    assert fits(found, known)
    assert not fits(confidence(document, found.scores, Aggregation.MEDIAN), known)
