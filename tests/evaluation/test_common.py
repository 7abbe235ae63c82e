"""Figures that need several models at once stand beside those of each."""

from __future__ import annotations

from typing import Any

from counterlens.evaluation.figures import Found
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import PROBED, Item, Record
from counterlens.metrics.effects import wilson

TASK = "dependent-execution"


def body(target: str, *, right: bool) -> dict[str, Any]:
    """The data of one function that was written right, and what was said of it."""
    synthesis = {
        "target": target, "call": f"{target}()", "judgement": "passed", "correct": True,
        "complexity": 1, "reference_complexity": 2, "s_der": {"direct": int(right), "steps": 0},
    }  # fmt: skip
    answer = {
        "target": target, "style": "direct", "form": "own", "outcome": "right" if right else "wrong",
        "finish": "stop", "unread": None,
    }  # fmt: skip
    return {"syntheses": [synthesis], "answers": [answer]}


def run(models: dict[str, dict[str, bool]]) -> Found:
    """A run of several models: of each, which functions it wrote right and whether it knew what they give."""
    records: list[tuple[Item, Record]] = []
    for model, functions in models.items():
        for target, right in functions.items():
            item = Item(len(records), f"{model}|{TASK}|{target}", model, target, target, "", TASK)
            records.append((item, Record(PROBED, "", body(target, right=right))))
    return Found(Settings((TASK,), "data", tuple(models)), len(records), {}, tuple(records))


def test_what_all_models_wrote_right_is_a_table_of_its_own() -> None:
    found = run({"a": {"f": True, "g": False}, "b": {"g": True, "h": True}})
    (table,) = [one for one in found.tables() if "several models" in one.title]
    rows = {row[:2]: row[-1] for row in table.rows}
    assert rows["a", "direct"] == wilson(0, 1)
    assert rows["b", "direct"] == wilson(1, 1)


def test_one_model_has_nothing_in_common() -> None:
    found = run({"a": {"f": True}})
    assert not [one for one in found.tables() if "several models" in one.title]
