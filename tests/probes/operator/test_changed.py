"""Pairs whose operator becomes another one are told apart from those whose operator stays."""

from __future__ import annotations

import numpy as np
import pytest

from counterlens.metrics.effects import wilson
from counterlens.metrics.table import Table
from counterlens.probes.operator.forms import SwapForm
from counterlens.probes.operator.probe import OperatorProbe
from counterlens.probes.operator.questions import answer_of
from counterlens.probes.operator.record import COMPLETE, OperatorAnswer, OperatorPair, OperatorRecord, Window
from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.probes.record import read, write_record
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites

TITLE = "pairs whose operator stays the same, and pairs whose operator changes"


def believed(operator: str, predicted: str) -> OperatorAnswer:
    """What a model believes of `a OPERATOR b` that holds another operator, or this one, for the likeliest."""
    (site,) = operator_sites(Document(f"a {operator} b\n"))
    logprob = np.array([-1.0 - (one != predicted) for one in site.candidates])
    return answer_of(OperatorDistribution(site, logprob))


def pair(
    change: str, before: tuple[str, str], after: tuple[str, str], window: Window = COMPLETE
) -> OperatorPair:
    """A pair; each side is the operator that stands there, and the one that is predicted."""
    original, transformed = believed(*before), believed(*after)
    both = original.correct and transformed.correct
    form = SwapForm.IF_ELSE if change == "block-swap" else None
    return OperatorPair(
        change=change, window=window, original=original, transformed=transformed, both=both, form=form
    )


def tables(*pairs: OperatorPair) -> list[Table]:
    """The tables of a run that kept these pairs, read back from its records."""
    record = OperatorRecord(corpus=None, frequency={}, operators=(believed("<", "<"),), pairs=pairs)
    kept = read(write_record(record), OperatorRecord)
    assert kept == record
    return list(OperatorProbe().tables([record], seed=0))


@pytest.fixture
def table() -> Table:
    shown = tables(
        pair("operand-swap", ("==", "=="), ("==", "==")),
        pair("operand-swap", ("==", "=="), ("==", "!=")),
        pair("operand-swap", ("<", "<"), (">", "<")),
        pair("operand-swap", ("<", "<"), (">", ">"), Window(10, 10)),  # seen with less context: not counted
        pair("block-swap", ("==", "!="), ("!=", "!=")),
        pair("rename", ("<", "<"), ("<", "<")),
    )
    (found,) = (one for one in shown if one.title == TITLE)
    whole = next(one for one in shown if one.title.startswith("before and after"))
    assert shown.index(found) == shown.index(whole) + 1
    return found


def test_each_change_has_a_row_for_what_stays_and_one_for_what_becomes_another(table: Table) -> None:
    assert table.columns[:6] == ("change", "operator", "n", "original", "transformed", "both")
    assert [row[:6] for row in table.rows] == [
        ("operand swap", "stays", 2, wilson(2, 2), wilson(1, 2), wilson(1, 2)),
        ("operand swap", "becomes another", 1, wilson(1, 1), wilson(0, 1), wilson(0, 1)),
        ("block swap", "becomes another", 1, wilson(0, 1), wilson(1, 1), wilson(0, 1)),
    ]
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_changes_that_never_touch_the_operator_have_no_such_table() -> None:
    assert TITLE not in {one.title for one in tables(pair("rename", ("<", "<"), ("<", "<")))}
    assert TITLE not in {one.title for one in tables()}
