"""`--limit` draws a sample of the functions that the tasks can ask about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.sandbox.registry import best_sandbox

PLAIN = '    """Add."""\n', "    return a + b\n"
PAIRED = (
    '    """Add."""\n    if a > b:\n        total = a + b\n',
    "    else:\n        total = b + a\n    return total\n",
)


@pytest.fixture
def data(tmp_path: Path) -> str:
    """Forty functions, of which every tenth has a pair."""
    records = []
    for number in range(40):
        docstring, body = PAIRED if number % 10 == 3 else PLAIN
        record = {
            "task_id": f"HumanEval/{number}",
            "prompt": f"def add_{number}(a, b):\n",
            "canonical_solution": docstring + body,
            "entry_point": f"add_{number}",
            "test": "def check(f):\n    assert f(1, 2) == 3\n    assert f(2, 1) == 3\n",
        }
        records.append(json.dumps(record))
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(records))
    return f"humaneval:{path}"


@pytest.mark.parametrize("task", ["completion", "likelihood"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_sample_is_drawn_among_what_can_be_asked(data: str, task: str, seed: int) -> None:
    given = {"mutations": ("if-else-flip",), "seed": seed}
    plan = make_plan(RunSettings.of([task], data, given, limit=3, models=("m",)), best_sandbox())
    drawn = {int(name.partition("/")[2]) for name in plan.targets[task]}
    assert len(drawn) == 3
    assert drawn < {3, 13, 23, 33}


def test_more_than_there_are_is_filled_up_with_others(data: str) -> None:
    settings = RunSettings.of(["completion"], data, {"mutations": ("if-else-flip",)}, limit=6, models=("m",))
    plan = make_plan(settings, best_sandbox())
    drawn = {int(name.partition("/")[2]) for name in plan.targets["completion"]}
    assert len(drawn) == 6
    assert drawn > {3, 13, 23, 33}
