"""Every cell of the protocol `empica`, against a script that is written from the paper alone."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from counterlens.cli.main import main
from counterlens.python.mutations.language import TRANSFORMATIONS
from tests.models.remote.conftest import Handler, serving

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recompute" / "empica.py"
TASKS = ("summary", "name", "output", "dependence")
OPERATORS = {known.title: known.mutation.id for known in TRANSFORMATIONS}
LOOP = "    n = 0\n    for x in xs:\n        n = n + x * k\n    return n\n"
BRANCH = "    if xs:\n        return k + len(xs)\n    else:\n        return k\n"
GUARD = "    m = k\n    if len(xs) > 2:\n        m = m - 1\n    return m\n"
BODIES = {"a": LOOP, "b": BRANCH, "c": GUARD, "d": LOOP, "e": BRANCH, "f": GUARD, "g": LOOP.replace("0", "1")}
WRITTEN = BODIES | {"d": LOOP.replace("k", "2"), "f": GUARD.replace("2", "1"), "g": "    return (\n"}
"""The model's programs: three are wrong, the last is not a function."""


def problem(name: str) -> dict[str, str]:
    space: dict[str, Any] = {}
    prompt = f'def {name}(xs, k):\n    """Something."""\n'
    exec(prompt + BODIES[name], space)  # noqa: S102
    gives = [(call, eval(call, space)) for call in (f"{name}([1, 2], 3)", f"{name}([], 1)")]  # noqa: S307
    checks = "".join(f"    assert {call.replace(name, 'candidate', 1)} == {value}\n" for call, value in gives)
    return {
        "task_id": f"made-up/{name}",
        "prompt": prompt,
        "canonical_solution": BODIES[name],
        "test": f"def check(candidate):\n{checks}",
        "entry_point": name,
    }


def said(text: str) -> str:
    """A chat model's reply: `WRITTEN`, or a remark on the look of the code, after some thinking."""
    if "pairs of code statements" in text:
        lines = [int(line.split(":")[0]) for line in text.splitlines() if re.match(r"\d+:", line)]
        pairs = [[one, other] for one in lines for other in lines if chance_of(f"{one} {other} {text}") > 180]
        return f"<think>[1, 2]</think>{json.dumps({'pairs': pairs})}"
    if not text.startswith("Given the following code snippet"):
        (name,) = re.findall(r"def (\w)\(xs", text)
        return f"```python\n{WRITTEN[name]}```"
    code = text.split("\n\n")[1]
    chance = chance_of(code) % 4
    if "summarize" in text:
        words = ("numbers", "items", "all numbers", "some of the items")[chance]
        return f"<think>hm</think>It goes through {words} and {'adds' if '+' in code else 'takes'} them."
    if "method name" in text:
        return f"<think>def no(): hm</think>`{('add_all', 'add_up', 'sum_all', 'count')[chance]}`"
    return f"<think>== 9</think>{text.rpartition('test case: ')[2].replace('<FILL>', str(chance))}"


def chance_of(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0]


@pytest.fixture
def url() -> Iterator[str]:
    def answer(handler: Handler) -> None:
        message = {"role": "assistant", "content": said(handler.body["messages"][-1]["content"])}
        choice = {"message": message, "finish_reason": "stop"}
        handler.reply(200, {"object": "chat.completion", "choices": [choice]})

    with serving(answer, models=["m"]) as script:
        yield script.url


def counterlens(*arguments: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert not ended.value.code, arguments


def figures(cell: Any) -> Any:
    """A cell as the script has it: a figure with the ends of its interval."""
    return [cell["value"], cell["low"], cell["high"]] if isinstance(cell, dict) else cell


def cells(tables: list[dict[str, Any]], task: str) -> dict[str, Any]:
    """The cells of the tables of one task, named as the script names them."""
    found: dict[str, Any] = {}
    mine = [table for table in tables if table["title"].startswith(f"{task}: ")]
    for table in mine:
        for model, *row in table["rows"] if table["columns"][0] == "model" else ():
            assert model == "remote:m"
            values = [figures(cell) for cell in row]
            if "rule F1" in table["columns"]:
                found[f"table 7, {row[0]}"] = values[1:5]
            elif "Pass@1" in table["columns"]:
                found["table 2"] = [*values[:2], values[2][0], values[3]]
            elif "operator" in table["columns"]:
                for name, figure in zip(table["columns"][5:], values[4:], strict=True):
                    found[f"table 6, {name}, {OPERATORS[row[2]]}"] = [values[3], figure]
            elif "p (Holm)" in table["columns"]:
                found[f"figure 7, {row[0]}, {row[1].partition(' ')[0]}"] = values[2:]
            elif "operators" in table["columns"]:
                found[f"table 3 to 5, {row[0]}, {row[1].partition(' ')[0]}"] = values[2:]
    protocols = [
        table["title"].endswith("(protocol empica)") for table in mine if "model" in table["columns"]
    ]
    assert sum(protocols) >= (1 if task == "dependence" else 4)
    return found


def close(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return bool(one == pytest.approx(other, abs=1e-9))
    return bool(one == other)


def test_every_cell_is_what_a_recomputation_from_the_export_gives(url: str, tmp_path: Path) -> None:
    data, run = tmp_path / "data.jsonl", tmp_path / "run"
    data.write_text("".join(json.dumps(problem(name)) + "\n" for name in BODIES))
    tasks = [part for task in TASKS for part in ("--task", task)]
    counterlens(
        "bench", *tasks, "--protocol", "empica", "--data", str(data), "--model", "remote:m", "--api", "chat",
        "--base-url", url, "--out", str(run), "--allow-weaker-sandbox", "--timeout", "60",
    )  # fmt: skip
    counterlens("export", str(run), "-o", str(tmp_path / "parquet"))
    counterlens("report", str(run), "--format", "json", "-o", str(tmp_path / "report.json"))
    command = [sys.executable, str(SCRIPT), str(tmp_path / "parquet")]
    again: Mapping[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    report = json.loads((tmp_path / "report.json").read_text())
    assert {one["protocol"] for one in report["settings"]["options"].values()} == {"empica"}
    assert all('"protocol": "empica"' in json.dumps(manifest) for manifest in report["manifests"].values())
    assert {one["protocol"] for one in report["records"]} == {"empica"}
    for task in TASKS:
        ours, theirs = cells(report["tables"], task), again[f"{task}, remote:m"]
        assert ours.keys() == theirs.keys()
        assert {name for name in ours if not close(ours[name], theirs[name])} == set()
        assert task == "dependence" or ours["table 2"] == [7, 4, 4 / 7, 6]
    assert again["name, remote:m"]["table 3 to 5, F1, robustness"][0] == 4
    assert again["output, remote:m"]["table 6, equal, reorder-parameters"] == [0, None]
    assert any(row[0] == "figure" for row in (name.split() for name in again["name, remote:m"]))
    assert "counterlens" not in re.sub(
        r"\n    counterlens .*", "", SCRIPT.read_text().partition('"""\n\n')[2]
    )
