"""Still plots show what they are given, where it belongs."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from counterlens.reports.still_plots import Spread, box_plots, densities, matrix

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - our own


def groups(svg: str) -> dict[str, ElementTree.Element]:
    """Elements with a title, by title."""
    found = {}
    for group in parsed(svg).iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        assert title is not None
        found[title.text or ""] = group
    return found


@pytest.mark.parametrize("most", [None, 1.0])
def test_a_box_is_as_wide_as_its_quartiles_and_lies_on_the_axis(most: float | None) -> None:
    spreads = [
        Spread("a <b>", "one", (0.0, 0.25, 0.5, 0.75, 1.0)),
        Spread("a <b>", "two", (0.1, 0.2, 0.2, 0.2, 0.3)),
        Spread("c", "one", (0.5, 0.5, 0.5, 0.5, 0.5)),
    ]
    svg = box_plots(spreads, ["#000", "#111"], most=most)
    found = groups(svg)
    assert len(found) == 3
    ticks = [line for line in parsed(svg).findall(f"{SVG}line") if line.get("opacity")]
    left, right = float(ticks[0].get("x1", "")), float(ticks[-1].get("x1", ""))
    whole = found["a <b>, one: 0.00, 0.25, 0.50, 0.75, 1.00"]
    line, box, median = whole.findall("*")[1:]
    assert (float(line.get("x1", "")), float(line.get("x2", ""))) == (left, right)
    assert float(box.get("x", "")) == pytest.approx(left + 0.25 * (right - left), abs=0.1)
    assert float(box.get("width", "")) == pytest.approx(0.5 * (right - left), abs=0.1)
    assert float(median.get("x", "")) == pytest.approx((left + right) / 2 - 1.5, abs=0.1)
    rows = [float(found[title].findall("*")[1].get("y1", "")) for title in found]
    assert rows == sorted(set(rows))


def test_spreads_of_one_value_and_of_values_below_zero_have_an_axis() -> None:
    one = Spread("a", "", (-3.0, -3.0, -3.0, -3.0, -3.0))
    assert "-3" in [text.text for text in parsed(box_plots([one], ["#000"])).iter(f"{SVG}text")]
    wide = Spread("a", "", (-40.0, -3.0, 0.0, 3.0, 12_345.0))
    said = [text.text or "" for text in parsed(box_plots([wide], ["#000"])).iter(f"{SVG}text")]
    assert {"0", "5000", "15000"} <= set(said)


def test_a_matrix_has_both_halves_and_says_each_value() -> None:
    found = groups(matrix(["flip", "swap", "rename"], {("flip", "swap"): -0.5, ("rename", "flip"): 1.0}))
    assert set(found) == {
        "flip, swap: -0.50",
        "swap, flip: -0.50",
        "rename, flip: 1.00",
        "flip, rename: 1.00",
    }
    cells = {title: group.findall("*")[1] for title, group in found.items()}
    assert cells["flip, swap: -0.50"].get("x") == cells["rename, flip: 1.00"].get("x") or (
        cells["flip, swap: -0.50"].get("y") == cells["flip, rename: 1.00"].get("y")
    )
    assert cells["flip, swap: -0.50"].get("fill") != cells["flip, rename: 1.00"].get("fill")


def test_densities_have_a_curve_per_series_and_the_threshold() -> None:
    svg = densities({"a": [0.2, 0.3, 0.4], "b": [0.8]}, ["red", "blue"], threshold=0.5)
    picture = ElementTree.fromstring(svg)  # noqa: S314
    curves = [node for node in picture.iter() if node.tag.endswith("polyline")]
    heights = [[float(point.split(",")[1]) for point in str(node.get("points")).split()] for node in curves]
    highest = [own.index(min(own)) for own in heights]
    assert highest == [30, 80]  # at the means, on a grid of hundredths
    assert len([node for node in picture.iter() if node.get("stroke-dasharray") == "5 4"]) == 1
