"""What a substitution of operators costs, beside how frequent they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterlens.errors import CounterlensError
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Effect
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.complementary import COLUMNS, Substitution, complementary, direction
from counterlens.probes.memorisation import MemorisationTask
from counterlens.probes.task import Request, Target
from counterlens.reports.tables import task_json, task_report
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SOURCE = '''\
def sign(x):
    """
    >>> sign(2), sign(-2)
    ('plus', 'minus')
    """
    if x > 0:
        return "plus"
    else:
        return "minus"


def same(x):
    """
    >>> same(1)
    1
    """
    return x
'''


def substitution(target: str, before: str, after: str, original: bool, counterfactual: bool) -> Substitution:
    return Substitution(target, before, after, Effect(original, counterfactual))


def test_a_direction_counts_what_is_lost_minus_what_is_gained() -> None:
    found = [
        substitution("a", "==", "!=", True, False),
        substitution("a", "==", "!=", True, True),
        substitution("b", "==", "!=", False, False),
        substitution("b", "==", "!=", False, True),
        substitution("c", "==", "!=", True, False),
        substitution("c", "!=", "==", True, True),
    ]
    there = direction(found, "==", "!=")
    assert there.n == 5
    assert there.drop.value == pytest.approx((1 + 0 + 0 - 1 + 1) / 5)
    assert there.drop.n == 3
    back = direction(found, "!=", "==")
    assert (back.n, back.drop.value) == (1, 0.0)
    assert direction(found, "<", ">=").drop.value is None


def test_the_table_has_the_columns_of_the_paper_and_the_more_frequent_operator_first() -> None:
    found = [
        substitution("a", "==", "!=", True, False),
        substitution("b", "!=", "==", True, True),
        substitution("b", "<", ">=", True, True),
    ]
    table = complementary(found, {"!=": 6, "==": 3, "<": 2}, what="correct completions", seed=0)
    assert table.columns[:5] == COLUMNS[:5] == ("op A", "op B", "ratio", "Δ(A→B)", "Δ(B→A)")
    first, second = table.rows  # pairs that were never exchanged have no line
    assert first[:3] == ("!=", "==", 2.0)
    assert isinstance(first[3], Estimate)
    assert isinstance(first[4], Estimate)
    assert (first[3].value, first[4].value) == (0.0, 1.0)
    assert first[5:] == (1, 1, "6 : 3")
    assert second[:3] == ("<", ">=", None)
    assert "correct completions lost" in table.note


def test_flips_are_completed_judged_and_counted(model: LlamaModel, tmp_path: Path) -> None:
    (tmp_path / "corpus.py").write_text("a > b\na > c\na <= b\n")
    targets = [Target(Document(SOURCE), name) for name in ("sign", "same")]
    request = Request(model, targets, best_sandbox, corpus=str(tmp_path / "corpus.py"))
    result = MemorisationTask().run(request)
    found = json.loads(json.dumps(task_json(result)))
    (one,) = found["substitutions"]
    assert (one["target"], one["before"], one["after"]) == ("sign", ">", "<=")
    assert found["frequency"] == {">": 2, "<=": 1}
    (row,) = found["tables"][0]["rows"]
    assert row[:3] == [">", "<=", 2.0]
    assert row[5:] == [1, 0, "2 : 1"]
    assert row[4]["value"] is None
    assert found["left_out"] == {}
    assert task_report(result) is not None


def test_it_says_what_is_missing(model: LlamaModel, tmp_path: Path) -> None:
    request = Request(model, [Target(Document(SOURCE), "same")], best_sandbox)
    with pytest.raises(CounterlensError, match="no corpus"):
        MemorisationTask().run(request)
    (tmp_path / "corpus.py").write_text("a > b\n")
    with pytest.raises(CounterlensError, match="no if-else"):
        MemorisationTask().run(
            Request(model, [Target(Document(SOURCE), "same")], best_sandbox, corpus=str(tmp_path))
        )
