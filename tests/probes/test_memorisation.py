"""What a substitution of operators costs, beside how frequent they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterlens.errors import CounterlensError
from counterlens.metrics.effects import Effect
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.memorisation import MemorisationTask, Substitution, direction
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
    assert row[:5] == [">", "<=", 2.0, "2 : 1", 1]
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
