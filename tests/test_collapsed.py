"""The check for intervals that are points detects them."""

from __future__ import annotations

from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion, wilson
from counterlens.metrics.table import Table
from tests.collapsed import collapsed, figures


def test_points_are_found_and_what_is_not_known_is_none() -> None:
    point, half = Proportion(0.0, 0.0, 0.0, 0, 150), Estimate(0.5, 0.1, None, 3)
    fine = (wilson(0, 150), wilson(0, 0), Estimate(1.0, None, None, 4), Estimate(None, None, None, 0), 3, "x")
    table = Table("t", ("a", "b"), (("row", point), ("other", half), *(("fine", cell) for cell in fine)))
    assert collapsed([table]) == [("t", "row", point), ("t", "other", half)]
    assert figures([table]) == 6
