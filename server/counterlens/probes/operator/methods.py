"""What the operator probe asks and shows: its own way, and that of Ahmed et al. 2024."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from counterlens.errors import SourceError
from counterlens.metrics.effects import pooled_share
from counterlens.metrics.table import Cell, Table
from counterlens.probes.operator import chance, published, tables
from counterlens.probes.operator.cells import Records
from counterlens.probes.operator.pairs import CHANGES
from counterlens.probes.operator.questions import OperatorPlan
from counterlens.probes.operator.record import FilledGap
from counterlens.probes.protocols import Methods
from counterlens.syntax.operators import Family

PROTOCOL = "operators"
"""The protocol of Ahmed et al. 2024."""


class OperatorMethod:
    """The probe's own way.

    Attributes:
        by_paper: Whether only the paper's changes and operators are asked for.
        figures: The figures of the paper that its records are drawn as: number to title.
    """

    by_paper = False
    figures: Mapping[int, str] = {}

    def no_places(self, plan: OperatorPlan) -> SourceError:  # noqa: ARG002
        """Why a function has no question."""
        return SourceError("there are no operators to probe", "Choose another function or file")

    def tables(self, records: Records, frequency: Mapping[str, float], *, seed: int) -> tuple[Table, ...]:
        """The tables of some records, given the count of each operator."""
        asked = sum(len(record.operators) for record in records)
        shown = (
            tables.listing(records),
            tables.families(records, frequency, seed),
            tables.changes(records),
            tables.stays_or_changes(records),
            chance.sides(records, frequency, seed),
            tables.complementary_table(records, frequency),
            tables.windows(records),
            tables.familiar(records),
            filled_table([(record.target, gap) for record in records for gap in record.filled]),
            chance.operators(records, frequency, seed) if asked >= tables.FEW else None,
        )
        return tuple(table for table in shown if table is not None)


class PublishedOperators(OperatorMethod):
    """The protocol `operators`; see `published.py`."""

    by_paper = True
    figures = published.FIGURES

    def no_places(self, plan: OperatorPlan) -> SourceError:
        """Why a function has no question: the swaps that it has instead."""
        reasons = Counter[str]()
        for change, left_out in plan.left_out.items():
            reasons.update({f"{CHANGES[change].title}: {reason}": n for reason, n in left_out.items()})
        hint = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(3))
        return SourceError("it has no swap of the kind in the paper", hint or None)

    def tables(self, records: Records, frequency: Mapping[str, float], *, seed: int) -> tuple[Table, ...]:
        """The paper's tables and figures."""
        return tuple(published.tables(records, frequency, seed=seed))


METHODS = Methods(OperatorMethod(), operators=PublishedOperators())


def filled_table(gaps: Sequence[tuple[str, FilledGap]]) -> Table | None:
    """The share of gaps filled in correctly, by family; None if nothing was filled in.

    Args:
        gaps: The gaps, each with its function.
    """
    rows: list[tuple[Cell, ...]] = []
    for family in (None, *Family):
        asked = [(target, gap) for target, gap in gaps if family in (None, gap.family)]
        if asked:
            right = pooled_share((target, gap.written == gap.operator) for target, gap in asked)
            other = sum(gap.written is None for _, gap in asked)
            rows.append((str(family) if family else "all", len(asked), right, other))
    columns = ("family", "n", "accuracy", "no candidate")
    note = "the model's text for the gap, given both sides, at temperature 0"
    return Table("filled in the middle", columns, tuple(rows), note) if rows else None
