"""Margins: fitted on right code, kept for the model that they are of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.fitting import ALLOWED, RightFunction, drawn, fitted, observe
from counterlens.doubt.generating import alternatives_in, scopes
from counterlens.doubt.margins import EMBEDDED, FITTED, margins_file, margins_of, save_margins
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scoring import Trial
from counterlens.models.code_models import code_model
from counterlens.models.default import recommended_model
from counterlens.models.files import EMBEDDED_SHA256
from counterlens.syntax.document import Document
from tests.doubt.conftest import WordModel

MODEL = WordModel({}).info


def trial(kind: str, gain: float) -> Trial:
    """A trial with this gain, all of it at the place itself."""
    return Trial(Alternative(kind, 0, 1, "x"), 0.0, gain, 0.0, 0.1, 1)


def seen(false: dict[str, float], planted: dict[str, float], number: int = 200) -> list[RightFunction]:
    """Functions of ten lines: false gains and planted ones of these mean sizes, falling off exponentially."""
    draw = np.random.default_rng(0)
    return [
        RightFunction(
            10,
            tuple(trial(kind, draw.exponential(size)) for kind, size in false.items()),
            tuple(trial(kind, -draw.exponential(size)) for kind, size in planted.items()),
        )
        for _ in range(number)
    ]


def test_margins_keep_to_the_false_marks_that_are_allowed_on_other_code_too() -> None:
    sizes = {"order": 0.5, "boundary": 2.0, "variable": 6.0}
    fit = fitted(seen(sizes, dict.fromkeys(sizes, 8.0)))
    assert set(fit.margins) >= {"order", "boundary"}
    assert fit.margins["order"] < fit.margins["boundary"] < fit.margins.get("variable", np.inf)
    assert sum(fit.false.values()) <= ALLOWED
    lines = 1_000_000
    expected = sum(
        lines / 10 * np.exp(-margin / sizes[kind]) * 1000 / lines for kind, margin in fit.margins.items()
    )
    assert expected <= 1.5 * ALLOWED
    assert all(0 < share <= 1 for share in fit.found.values())


def test_a_kind_without_preference_is_silent() -> None:
    fit = fitted(seen({"order": 4.0, "boundary": 0.2}, {"order": 0.3, "boundary": 8.0}))
    assert set(fit.margins) == {"boundary"}
    assert fitted(seen({}, {})).margins == {}
    assert fitted([]).margins == {}


def test_an_alternative_that_makes_the_rest_likelier_is_not_found_where_it_is_planted() -> None:
    rest = [replace(one, place=-20.0, rest=5.0) for one in [trial("order", 0.0)] * 100]
    assert fitted([RightFunction(10, (), (one,)) for one in rest]).margins == {}


def test_one_alternative_of_each_kind_is_planted_and_what_is_likelier_is_false() -> None:
    source = "def f(a, b):\n    if a < b and b != 0:\n        return g(a, b) - a\n    return a in b\n"
    (scope,) = scopes(Document(source))
    kinds = [one.kind for one in drawn(scope)]
    assert sorted(kinds) == sorted({one.kind for one in alternatives_in(scope)})
    found = observe(WordModel({"<": -6.0, "<=": -0.1, "==": -0.1}), scope)
    assert found.lines == 3
    assert [(one.alternative.kind, one.alternative.text) for one in found.false] == [("comparison", "==")]
    assert {one.alternative.kind for one in found.planted} == set(kinds) <= set(DOUBT_KINDS)


def test_built_in_margins_are_of_models_that_people_meet() -> None:
    larger = code_model("qwen2.5-coder-1.5b")
    assert larger is not None
    assert set(FITTED) == {EMBEDDED_SHA256, recommended_model().sha256, larger.sha256}
    for margins in FITTED.values():
        assert set(margins) <= set(DOUBT_KINDS)


def test_margins_are_of_one_model(tmp_path: Path) -> None:
    assert margins_of(MODEL, folder=tmp_path) is None
    embedded = replace(MODEL, identity=EMBEDDED_SHA256)
    assert margins_of(embedded, folder=tmp_path) == EMBEDDED
    save_margins(MODEL, {"order": 3.0, "boolean": 2.5}, 1000, folder=tmp_path)
    assert margins_of(MODEL, folder=tmp_path) == {"order": 3.0, "boolean": 2.5}
    assert margins_of(embedded, folder=tmp_path) == EMBEDDED
    save_margins(embedded, {}, 1000, folder=tmp_path)
    assert margins_of(embedded, folder=tmp_path) == {}


@pytest.mark.parametrize(
    "change", [{"margins": {"order": -1}}, {"margins": []}, {"version": 2}, {"model": {"identity": "x"}}]
)
def test_a_damaged_file_is_no_fit(change: dict[str, object], tmp_path: Path) -> None:
    path = save_margins(MODEL, {"order": 3.0}, 1000, folder=tmp_path)
    assert path == margins_file(MODEL, tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert margins_of(MODEL, folder=tmp_path) is None
    path.write_text("{")
    assert margins_of(MODEL, folder=tmp_path) is None
