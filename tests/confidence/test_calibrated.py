"""A map applied to a document's nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterlens.confidence import Aggregation, confidence, score_document
from counterlens.confidence.calibration import EVERYTHING, Calibration, Curve, calibrate, fits
from counterlens.models.llama.model import LlamaModel
from counterlens.reports.build.calibration import raw_or_calibrated
from counterlens.reports.document import Paragraph
from counterlens.reports.export.calibration import calibrated_json
from counterlens.syntax.document import Document


def test_nodes_are_mapped_and_tokens_are_not(model: LlamaModel) -> None:
    document = Document("def add(a, b):\n    return a + b\n")
    found = confidence(document, score_document(model, document))
    known = Calibration("id", "name", Aggregation.MEAN, {EVERYTHING: Curve(9, (0.0, 1.0), (0.0, 0.5))})
    shown = calibrate(found, known)
    for before, after in zip(found.nodes, shown.nodes, strict=True):
        assert after.minimum == before.minimum
        if before.confidence is None:
            assert after.confidence is None
        else:
            assert after.confidence == pytest.approx(before.confidence / 2)
    assert shown.scores is found.scores
    assert fits(found, known)
    assert not fits(confidence(document, found.scores, Aggregation.MEDIAN), known)
    assert fits(found, replace(known, facts={"language": "python"}))
    other = replace(known, facts={"language": "go"})
    assert not fits(found, other)
    assert calibrated_json(found, other) is None
    (said,) = raw_or_calibrated(found, other).blocks
    assert isinstance(said, Paragraph)
    assert said.text == "Confidence is raw: this model was calibrated for go and not for python."
