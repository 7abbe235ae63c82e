"""Maps of a short model: kept where they help beyond chance, from enough functions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.calibration.fitting import LEAST_FUNCTIONS, CalibrationResult, calibrate
from counterlens.calibration.measuring import NodeTruth
from counterlens.metrics.bootstrap import IntervalEstimate
from counterlens.models.llama.model import LlamaModel
from counterlens.reports.build.calibration import calibration_report
from counterlens.reports.document import Paragraph
from counterlens.reports.export.calibration import calibration_json
from counterlens.syntax.document import Document

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def result(wide_model: LlamaModel) -> CalibrationResult:
    documents = [Document.read(path) for path in EXAMPLES]
    return calibrate(wide_model, documents, truth=NodeTruth.FIRST_CHOICE, nodes=1200)


def test_a_map_that_helps_on_enough_functions_is_better(result: CalibrationResult) -> None:
    assert result.units >= LEAST_FUNCTIONS
    assert result.difference.low < result.difference.value < result.difference.high < 0
    assert result.difference.value == pytest.approx(result.after.brier.value - result.before.brier.value)
    assert result.better
    assert calibration_json(result, None)["difference"] == {
        "brier": {
            "value": result.difference.value,
            "low": result.difference.low,
            "high": result.difference.high,
        },
        "functions": result.units,
    }


def test_a_map_that_may_help_by_chance_or_is_of_few_functions_is_not(result: CalibrationResult) -> None:
    assert not replace(result, difference=IntervalEstimate(-0.05, -0.11, 0.01)).better
    few = replace(result, units=LEAST_FUNCTIONS - 1)
    assert not few.better
    said = [block.text for block in calibration_report(few, None).blocks if isinstance(block, Paragraph)]
    assert any("it takes 10 functions" in line and "not better than raw" in line for line in said)
    assert any("changes the Brier score by -0." in line and "over 9 functions" in line for line in said)
