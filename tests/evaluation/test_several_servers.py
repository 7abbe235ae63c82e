"""One run over two real model servers and a reasoning one by script, with prices: one table, one bill."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from counterlens.cli.main import main
from counterlens.evaluation.results import RunResults
from counterlens.probes.pairs.record import judged_pairs
from tests.conftest import llama_cpp_server, llama_server, short_model
from tests.models.remote.conftest import AnswerStep, Handler, Script, serving

SOURCE = """def clamp(x):
    if x < 0:
        result = 0
    else:
        result = x
    return result
"""
PRICE = "price = { input = 1000, output = 2000 }"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a function and its test; the user's settings are empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    for name in ("COUNTERLENS_BASE_URL", "COUNTERLENS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "code"
    folder.mkdir()
    problem = {
        "task_id": "HumanEval/0",
        "prompt": "def clamp(x):\n",
        "canonical_solution": SOURCE.partition("\n")[2],
        "test": "def check(candidate):\n    assert (candidate(-3), candidate(4)) == (0, 4)\n",
        "entry_point": "clamp",
    }
    other = {name: text.replace("x", "y").replace("ey", "ex") for name, text in problem.items()}
    other["task_id"] = "HumanEval/1"
    (folder / "problems.jsonl").write_text(f"{json.dumps(problem)}\n{json.dumps(other)}\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def called(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return called


def right(handler: Handler) -> str:
    """The right continuation after any line of a branch of the function."""
    name = "y" if "clamp(y)" in str(handler.body["messages"]) else "x"
    return f"```python\n        return max({name}, 0)\n    return max({name}, 0)\n```"


def thinking(reply: Callable[[Handler], str], thoughts: int = 30) -> AnswerStep:
    """A chat server of a model that refuses temperature 0 and `max_tokens`, and thinks before it answers."""

    def answer(handler: Handler) -> None:
        body = handler.body
        for name in ("max_tokens", "temperature"):
            if name in body:
                said = f"Unsupported parameter: '{name}'. Use 'max_completion_tokens' or the default instead."
                handler.reply(400, {"error": {"message": said, "code": "unsupported_value", "param": name}})
                return
        room = body["max_completion_tokens"]
        told = min(room, thoughts)
        deltas = [{"reasoning_content": "hm "}] * told + (
            [{"content": reply(handler)}] if room > told else []
        )
        chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
        chunks.append({"choices": [{"delta": {}, "finish_reason": "stop" if room > told else "length"}]})
        usage = {"prompt_tokens": 50, "completion_tokens": len(deltas)}
        chunks.append({"choices": [], "usage": usage, "object": "chat.completion.chunk"})
        handler.start_stream()
        for chunk in chunks:
            handler.send(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        handler.send(b"data: [DONE]\n\n")

    return answer


def answers_of(script: Script) -> int:
    """How many requests to such a server were answered, and not refused."""
    return sum(not {"max_tokens", "temperature"} & body.keys() for _, body, _ in script.requests)


BENCH = ("bench", "--out", "run", "--data", "humaneval:problems.jsonl", "--allow-weaker-sandbox")


def settings(code: Path, *entries: str) -> None:
    (code / "counterlens.toml").write_text(
        'placebos = 0\nmutation = ["if-else-flip"]\nmax-tokens = 16\n' + "\n".join(entries)
    )


def test_two_real_servers_and_a_reasoning_one_are_one_table(
    code: Path, run: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = str(short_model())
    with (
        llama_cpp_server(tmp_path_factory.mktemp("one"), "--n_ctx", "1024", file=file) as one,
        llama_server(tmp_path, "--context=1024", file=file) as other,
        serving(thinking(right), models=["o"]) as script,
    ):
        settings(
            code,
            f'[models.one]\nbase-url = "{one.base_url}"\nmodel = "{one.model}"\n{PRICE}',
            f'[models.two]\nbase-url = "{other.base_url}"\nmodel = "{file}"\napi = "chat"\n',
            f'[models.deep]\nbase-url = "{script.url}"\nmodel = "o"\napi = "chat"\n{PRICE}',
            "thinking-tokens = 100\n",
        )
        models = ("-m", "one", "-m", "two", "-m", "deep")
        code_, plan, _ = run(*BENCH, *models, "--plan", "--limit", "1")
        assert code_ == 0
        assert re.search(r"one reads about [\d,]+ tokens and writes up to 32: up to about [\d.]+ USD", plan)
        assert re.search(r"two reads about [\d,]+ tokens and writes up to 32$", plan, re.M)
        assert "writes up to 232" in plan  # two prompts of 16 tokens, with 100 of reasoning each
        code_, out, err = run(*BENCH, *models, "--limit", "1")
        assert code_ == 0, err
    found = RunResults.read(code / "run")
    assert [item.model for item, _ in found.records] == ["one", "two", "deep"]
    assert all(stored.record.probed for _, stored in found.records)
    (spent,) = [table for table in found.tables() if table.title == "tokens and price"]
    rows = {row[0]: dict(zip(spent.columns, row, strict=True)) for row in spent.rows}
    assert list(rows) == ["one", "two", "deep"]
    answered = answers_of(script)
    deep = rows["deep"]
    assert (deep["requests"], deep["written"], deep["of them reasoning"]) == (
        answered,
        31 * answered,
        30 * answered,
    )
    assert deep["price"].endswith(" USD")
    assert rows["two"]["price"] is None
    assert [row[0] for row in found.tables()[0].rows] == ["one", "two", "deep"]
    assert "tokens and price" in out
    asked = {
        one["model"]["asked_as"]: one["model"]["details"].get("asked") for one in found.manifests.values()
    }
    assert asked == {
        "one": None,
        "two": None,
        "deep": "at the model's own temperature, because it rejects 0, with max_completion_tokens",
    }


def test_an_answer_without_room_to_think_is_truncated_and_counts_for_nothing(code: Path, run: Run) -> None:
    with serving(thinking(right, 500), models=["o"]) as script:
        settings(code, f'[models.deep]\nbase-url = "{script.url}"\nmodel = "o"\napi = "chat"\n')
        code_, out, err = run(*BENCH, "-m", "deep", "--limit", "1")
        assert code_ == 0, err
        assert "truncated before it began" in out
        (_, stored), *_ = RunResults.read(code / "run").records
        assert {pair.outcome for pair in judged_pairs(stored.record)} == {"not judged"}
        code_, out, _ = run(
            *BENCH[:2], "roomy", *BENCH[3:], "-m", "deep", "--thinking-tokens", "600", "--limit", "1"
        )
        assert code_ == 0
    assert "truncated before it began" not in out
    (_, stored), *_ = RunResults.read(code / "roomy").records
    assert {pair.outcome for pair in judged_pairs(stored.record)} == {"held"}


def test_a_budget_ends_a_run_that_more_money_finishes(code: Path, run: Run) -> None:
    with serving(thinking(right, 3), models=["o"]) as script:
        entry = f'[models.deep]\nbase-url = "{script.url}"\nmodel = "o"\napi = "chat"\nthinking-tokens = 9\n'
        settings(code, entry)
        code_, _, err = run(*BENCH, "-m", "deep", "--max-cost", "1")
        assert code_ == 2
        assert "--max-cost needs a price: the cost of deep is not known" in err
        settings(code, entry + PRICE)
        code_, _, err = run(*BENCH, "-m", "deep", "--max-cost", "0.05")
        assert code_ == 0, err
        assert "the maximum cost of 0.05 USD is reached: 0." in err
        assert "1 of 2 done" in err
        before = RunResults.read(code / "run").spent["deep"]
        code_, _, err = run(*BENCH[:3], "--resume", "--allow-weaker-sandbox")
        assert (code_, len(RunResults.read(code / "run").records)) == (0, 1)
        assert "the maximum cost of 0.05 USD is reached" in err
        code_, _, err = run(*BENCH[:3], "--resume", "--max-cost", "5", "--allow-weaker-sandbox")
        assert (code_, len(RunResults.read(code / "run").records)) == (0, 2)
        assert "is spent" not in err
    after = RunResults.read(code / "run").spent["deep"]
    assert after.requests > before.requests
    assert after.requests == answers_of(script)
