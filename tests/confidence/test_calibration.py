"""Calibration maps: monotone, kept and read again, and never in the way when damaged."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import Aggregation
from counterlens.confidence.calibration import (
    Calibration,
    Curve,
    calibration_file,
    keys_of,
    load_calibration,
    read_calibration,
    save_calibration,
)
from counterlens.errors import ModelError
from counterlens.syntax.concepts import Category

SHARES = st.floats(0, 1)
PLATT = st.builds(
    lambda slope, offset: Curve(9, slope=slope, offset=offset), st.floats(0, 50), st.floats(-50, 50)
)


@st.composite
def isotonic(draw: st.DrawFn) -> Curve:
    x = sorted(draw(st.lists(SHARES, min_size=1, max_size=6, unique=True)))
    y = sorted(draw(st.lists(SHARES, min_size=len(x), max_size=len(x))))
    return Curve(5, tuple(x), tuple(y))


CURVES = st.one_of(PLATT, isotonic())


def of(curves: dict[str, Curve]) -> Calibration:
    return Calibration("sha", "a model", Aggregation.MEAN, curves, "2026-01-01", {"nodes": 3})


@given(CURVES, SHARES, SHARES)
def test_a_curve_is_monotone_and_gives_shares(curve: Curve, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= curve(low) <= curve(high) + 1e-12 <= 1 + 1e-9


@given(st.dictionaries(st.sampled_from(["all", "all/1", "operators", "operators/1"]), CURVES), SHARES)
def test_a_map_is_the_same_after_it_was_kept(
    tmp_path_factory: pytest.TempPathFactory, curves: dict[str, Curve], confidence: float
) -> None:
    folder = tmp_path_factory.mktemp("maps")
    before = of(curves)
    save_calibration(before, folder=folder)
    after = load_calibration("sha", folder=folder)
    assert after == before
    assert after.apply("operators", confidence, 1) == before.apply("operators", confidence, 1)


def test_a_node_has_the_closest_curve_that_there_is() -> None:
    def constant(value: float) -> Curve:
        return Curve(1, (0.0,), (value,))

    found = of({"all": constant(0.1), "all/5": constant(0.2), "operators": constant(0.3)})
    assert found.apply(Category.OPERATORS, 0.9) == 0.3
    assert found.apply(Category.OPERATORS, 0.9, 7) == 0.2
    assert found.apply(Category.OPERATORS, 0.9, 1) == 0.3
    assert found.apply(Category.TYPES, 0.9, 1) == 0.1
    assert of({}).apply(Category.TYPES, 0.9) == 0.9
    assert keys_of("types", 12) == ("types/5", "all/5", "types", "all")


def test_platt_of_slope_one_is_the_identity() -> None:
    for value in (0.001, 0.2, 0.5, 0.999):
        assert Curve(1)(value) == pytest.approx(value)
    assert Curve(1, slope=1000)(0.0) < 1e-9
    assert math.isfinite(Curve(1, slope=1000)(0.0))


def test_no_map_and_a_map_of_another_model_are_no_map(tmp_path: Path) -> None:
    assert load_calibration("sha", folder=tmp_path) is None
    save_calibration(of({}), folder=tmp_path)
    calibration_file("sha", tmp_path).rename(calibration_file("other", tmp_path))
    assert load_calibration("other", folder=tmp_path) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(version=99),
        lambda plain: plain.update(format="something"),
        lambda plain: plain.pop("curves"),
        lambda plain: plain.update(curves=[1]),
        lambda plain: plain["curves"].update(all={"method": "isotonic", "n": 1, "x": [0, 1], "y": [1, 0]}),
        lambda plain: plain["curves"].update(all={"method": "platt", "n": 1, "slope": -1, "offset": 0}),
        lambda plain: plain.update(aggregation="sum"),
    ],
)
def test_a_damaged_map_is_said_to_be_and_not_used(tmp_path: Path, change: object) -> None:
    assert callable(change)
    path = save_calibration(of({"all": Curve(1)}), folder=tmp_path)
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))
    with pytest.raises(ModelError) as error:
        read_calibration(path)
    assert "counterlens calibrate" in str(error.value)
    assert load_calibration("sha", folder=tmp_path) is None


def test_a_file_of_something_else_is_no_map(tmp_path: Path) -> None:
    path = calibration_file("sha", tmp_path)
    path.write_bytes(b"\xff\xfe not json")
    assert load_calibration("sha", folder=tmp_path) is None
    path.write_text("[]")
    assert load_calibration("sha", folder=tmp_path) is None
