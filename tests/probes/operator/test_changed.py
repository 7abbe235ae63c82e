"""Pairs whose operator becomes another one are told apart from those whose operator stays."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from counterlens.metrics.effects import wilson
from counterlens.probes.operator.records import plain
from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.probes.operator.study import COMPLETE, Asked, AskedPair, Study, Window
from counterlens.probes.operator.task import OperatorTask
from counterlens.probes.task import Table
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites

TITLE = "where the operator stays, and where it becomes another"


def believed(operator: str, predicted: str) -> OperatorDistribution:
    """What a model believes of `a OPERATOR b` that holds another operator, or this one, for the likeliest."""
    (site,) = operator_sites(Document(f"a {operator} b\n"))
    return OperatorDistribution(site, np.array([-1.0 - (one != predicted) for one in site.candidates]))


def pair(row: str, before: tuple[str, str], after: tuple[str, str], window: Window = COMPLETE) -> AskedPair:
    """A pair; each side is the operator that stands there, and the one that is predicted."""
    return AskedPair("f", row, window, believed(*before), believed(*after))


def tables(*pairs: AskedPair) -> list[Table]:
    """The tables of a run that kept these pairs, read back from its records."""
    study = Study(("f",), (Asked("f", believed("<", "<")),), pairs)
    kept: dict[str, Any] = json.loads(
        json.dumps({**plain(study), "seed": 0, "corpus": None, "frequency": {}})
    )
    return list(OperatorTask().tables([kept], seed=0))


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
