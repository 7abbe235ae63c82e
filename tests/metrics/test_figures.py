"""Declared figures: groups in a given order, cells of several columns, and comparisons."""

from __future__ import annotations

from typing import NamedTuple

from counterlens.metrics.effects import wilson
from counterlens.metrics.figures import (
    GroupedFigure,
    Key,
    comparison,
    count,
    in_order,
)


class _Row(NamedTuple):
    kinds: tuple[str, ...]
    size: int
    before: bool | None = None
    after: bool | None = None


class _Record(NamedTuple):
    target: str
    rows: tuple[_Row, ...]


_RECORDS = [
    _Record("f", (_Row(("loop", "call"), 10, before=True, after=False), _Row(("call",), 2))),
    _Record("g", (_Row(("other",), 10, before=True, after=True), _Row(("loop",), 2, before=False))),
]


def _figure(**declared: object) -> GroupedFigure[_Record, _Row]:
    return GroupedFigure("rows", of=lambda record: record.rows, **declared)  # type: ignore[arg-type]


def test_a_row_is_in_each_of_its_groups_in_the_order_of_the_list() -> None:
    kinds = in_order(lambda row: row.kinds, {"call": "with calls", "loop": "with loops"}, several=True)
    by_kind = _figure(by={"kind": kinds}, columns={"n": count})
    table = by_kind.table(_RECORDS, seed=0)
    assert table.columns == ("kind", "n")
    assert table.rows == (("with calls", 2), ("with loops", 2))


def test_groups_have_their_natural_order() -> None:
    by_size = _figure(by={"size": Key(lambda row: (row.size,))}, columns={"n": count})
    assert by_size.table(_RECORDS, seed=0).rows == (("2", 2), ("10", 2))


def test_a_comparison_is_of_the_functions_with_both_verdicts_and_has_no_row_without_any() -> None:
    names = ("n", "before", "after", "difference", "gained", "lost", "p")
    both = _figure(
        by={"size": Key(lambda row: (row.size,))},
        columns={names: comparison(lambda row: row.before, lambda row: row.after)},
    )
    table = both.table(_RECORDS, seed=0)
    assert table.columns == ("size", *names)
    ((size, n, before, after, _, gained, lost, p),) = table.rows
    assert (size, n, before, after, gained, lost, p) == ("10", 2, wilson(2, 2), wilson(1, 2), 0, 1, 1.0)
