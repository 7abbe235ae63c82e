"""Declared figures: what rows they are about, what these are grouped by, and what is estimated of each group.

A figure is data. `GroupedFigure.table` computes it from any number of records, with intervals over functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from operator import add
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from counterlens.metrics.bootstrap import Estimate, bootstrap
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.significance import PairedShares, paired_shares
from counterlens.metrics.table import Cell, Table

RowT = TypeVar("RowT")
RecordT = TypeVar("RecordT")
RecordT_contra = TypeVar("RecordT_contra", contravariant=True)
Rows = Sequence[tuple[str, RowT]]
"""Rows, each with the name of the function that it is about, the cluster of intervals."""
Verdict = Callable[[RowT], bool | None]
"""Whether a row is a success; None does not count."""
Rater = Callable[[RowT], bool | Iterable[bool] | None]
"""Whether a row is a success; several truths count one by one, and None does not count."""
Estimator = Callable[[Rows[RowT], int], Any]
"""A cell, or those of several columns, from the rows of a group and the random seed of intervals."""


class TabularFigure(Protocol[RecordT_contra]):
    """What gives a table of some records of one model."""

    def table(self, records: Sequence[RecordT_contra], *, seed: int) -> Table:
        """The table; without rows if the records show nothing about it.

        Args:
            seed: Random seed of intervals.
        """


def count(rows: Rows[Any], seed: int = 0) -> int:  # noqa: ARG001
    """The number of rows."""
    return len(rows)


def number(counts: Callable[[RowT], object]) -> Estimator[RowT]:
    """The number of rows that count."""
    return lambda rows, _: sum(bool(counts(row)) for _, row in rows)


def share_of(rows: Rows[RowT], success: Rater[RowT]) -> Proportion:
    """The share of successes, with an interval over functions."""
    return pooled_share((function, hit) for function, row in rows for hit in _hits(success(row)))


def share(success: Rater[RowT]) -> Estimator[RowT]:
    """The estimator of `share_of`."""
    return lambda rows, _: share_of(rows, success)


def first(cell: Callable[[RowT], Cell]) -> Estimator[RowT]:
    """A cell that all rows of a group have in common."""
    return lambda rows, _: cell(rows[0][1])


def of_sums(figure: Callable[..., float | None], *terms: Callable[[RowT], float]) -> Estimator[RowT]:
    """A figure of sums over the rows, such as a ratio, with a bootstrap interval over functions.

    Args:
        figure: The figure of the sums, one for each term; None if it is undefined.
        terms: What is summed.
    """

    def estimate(rows: Rows[RowT], seed: int) -> Estimate:
        sums: dict[str, list[float]] = {}
        for function, row in rows:
            values = [float(term(row)) for term in terms]
            sums[function] = [*map(add, sums.get(function, [0.0] * len(terms)), values)]
        return bootstrap(
            list(sums.values()), lambda drawn: figure(*np.sum(drawn, axis=0).tolist()), seed=seed
        )

    return estimate


def _differing(shares: PairedShares) -> tuple[Cell, ...] | None:
    figures = shares.n, shares.first, shares.second, shares.difference
    return (*figures, shares.gained, shares.lost, shares.p) if shares.n else None


def comparison(
    first: Verdict[RowT],
    second: Verdict[RowT],
    cells: Callable[[PairedShares], Any] = _differing,
) -> Estimator[RowT]:
    """The figures of two conditions, over the functions with a verdict in both.

    Args:
        cells: The cell or cells of the comparison: if not given, the number of functions, both shares, the
            second minus the first, the numbers of functions that only the second, and only the first, has
            right, and p of McNemar's test.
    """

    def verdicts(rows: Rows[RowT], verdict: Verdict[RowT]) -> dict[str, bool]:
        judged = ((function, verdict(row)) for function, row in rows)
        return {function: right for function, right in judged if right is not None}

    return lambda rows, _: cells(paired_shares(verdicts(rows, first), verdicts(rows, second)))


def _hits(success: bool | Iterable[bool] | None) -> Iterable[bool]:
    if success is None:
        return ()
    return (success,) if isinstance(success, bool) else success


@dataclass(frozen=True)
class Key(Generic[RowT]):
    """What groups have in common, if their order is known, or if a row may be in several.

    Attributes:
        of: The groups of a row.
        order: What the groups are sorted by.
        title: What is shown of a group.
    """

    of: Callable[[RowT], Iterable[Any]]
    order: Callable[[Any], Any] = lambda group: group
    title: Callable[[Any], Cell] = str


def in_order(
    of: Callable[[RowT], Hashable], names: Mapping[Any, str] | Iterable[Any], *, several: bool = False
) -> Key[RowT]:
    """The groups in a list, in its order; rows of none of them do not count.

    Args:
        names: The groups, or their names by group.
        several: Whether `of` gives several groups, or None for none.
    """
    titles = dict(names) if isinstance(names, Mapping) else {name: str(name) for name in names}
    places = {group: place for place, group in enumerate(titles)}

    def groups_of(row: RowT) -> Iterable[Any]:
        groups: Any = of(row)
        return (each for each in ((groups or ()) if several else (groups,)) if each in titles)

    return Key(groups_of, places.__getitem__, titles.__getitem__)


@dataclass(frozen=True)
class ComputedFigure(Generic[RecordT]):
    """A table that a function gives from records, and the random seed of intervals."""

    compute: Callable[[Sequence[RecordT], int], Table]

    def table(self, records: Sequence[RecordT], *, seed: int) -> Table:
        """Like `TabularFigure.table`."""
        return self.compute(records, seed)


@dataclass(frozen=True)
class GroupedFigure(Generic[RecordT, RowT]):
    """A table with one row for each group.

    Attributes:
        title: Its title.
        of: The rows of a record; a record has the name of its function in `target`.
        columns: What is estimated of each group, by the name of its column, or by those of several columns;
            a group has no row if the cells of several are None.
        by: What groups have in common, by the names of the columns before; if empty, all rows are one group.
        order: What groups are sorted by, of their first rows; None: by first appearance.
        note: A note for readers.
    """

    title: str
    of: Callable[[RecordT], Iterable[RowT]]
    columns: Mapping[Any, Estimator[RowT]]
    by: Mapping[str, Callable[[RowT], Cell] | Key[RowT]] = field(default_factory=dict)
    order: Callable[[RowT], Any] | None = None
    note: str = ""

    def table(self, records: Sequence[RecordT], *, seed: int) -> Table:
        """Like `TabularFigure.table`."""
        rows = rows_of(records, self.of)
        if self.order is not None:
            order = self.order
            rows.sort(key=lambda row: order(row[1]))
        keys = [each if isinstance(each, Key) else _as_seen(each) for each in self.by.values()]
        groups: dict[tuple[Any, ...], list[tuple[str, RowT]]] = {}
        for function, row in rows:
            for group in product(*(key.of(row) for key in keys)):
                groups.setdefault(group, []).append((function, row))
        places = {group: [key.order(at) for key, at in zip(keys, group, strict=True)] for group in groups}
        cells = [
            (*(key.title(at) for key, at in zip(keys, group, strict=True)), *figures)
            for group in sorted(groups, key=places.__getitem__)
            if (figures := self._cells(groups[group], seed)) is not None
        ]
        names = chain.from_iterable((name,) if isinstance(name, str) else name for name in self.columns)
        return Table(self.title, (*self.by, *names), tuple(cells), self.note)

    def _cells(self, rows: Rows[RowT], seed: int) -> list[Cell] | None:
        cells: list[Cell] = []
        for name, estimate in self.columns.items():
            given = estimate(rows, seed)
            if given is None and not isinstance(name, str):
                return None
            cells += [given] if isinstance(name, str) else given
        return cells


@dataclass(frozen=True)
class ListedFigure(Generic[RecordT, RowT]):
    """A table with one row for each row of the records, if these are few.

    Attributes:
        of: The rows of a record.
        columns: The cells, by the names of the columns.
        most: Largest number of rows, or of records if `records` is set; with more there is no table.
        named: Whether the name of the function stands first.
        note: A note for readers.
    """

    title: str
    of: Callable[[RecordT], Iterable[RowT]]
    columns: Mapping[str, Callable[[RowT], Cell]]
    most: int = 12
    records: bool = False
    named: bool = True
    note: str = ""

    def table(self, records: Sequence[RecordT], *, seed: int) -> Table:  # noqa: ARG002
        """Like `TabularFigure.table`."""
        rows = rows_of(records, self.of)
        few = len(records if self.records else rows) <= self.most
        cells = tuple(
            (*((function,) if self.named else ()), *(cell(row) for cell in self.columns.values()))
            for function, row in (rows if few else ())
        )
        return Table(self.title, (*(("function",) if self.named else ()), *self.columns), cells, self.note)


def _as_seen(of: Callable[[RowT], Cell]) -> Key[RowT]:
    return Key(lambda row: (of(row),), order=lambda _: 0, title=lambda group: group)


def rows_of(records: Sequence[RecordT], of: Callable[[RecordT], Iterable[RowT]]) -> list[tuple[str, RowT]]:
    """The rows of some records, each with the name of its function."""
    return [(_function(record), row) for record in records for row in of(record)]


def draw_figures(
    figures: Iterable[TabularFigure[RecordT]], records: Sequence[RecordT], *, seed: int
) -> tuple[Table, ...]:
    """The tables of some figures that have rows.

    Args:
        seed: Random seed of intervals.
    """
    tables = (figure.table(records, seed=seed) for figure in figures)
    return tuple(table for table in tables if table.rows)


def _function(record: Any) -> str:
    name: str = record.target
    return name


def most_frequent(values: Iterable[Hashable]) -> int:
    """How often the most frequent value comes; 0 without a value."""
    return max(Counter(values).values(), default=0)
