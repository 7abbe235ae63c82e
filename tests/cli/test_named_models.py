"""`counterlens models add`, `allow`, `test` and -m NAME, against real servers on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterlens.models.entries import user_file
from tests.cli.test_cli import Cli
from tests.models.remote.conftest import Script, serving
from tests.models.remote.test_requests import error, whole

KEY = "sk-0123456789"


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("TEAM_KEY", KEY)
    for name in ("COUNTERLENS_API_KEY", "COUNTERLENS_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "code" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "code")
    return Cli(capfd)


@pytest.fixture
def server() -> Iterator[Script]:
    with serving(whole(" a + b\n", usage={"completion_tokens": 4}), models=["coder"]) as script:
        yield script


def test_a_model_is_tested_named_and_then_asked_by_its_name(cli: Cli, server: Script) -> None:
    added = cli("models", "add", "fast", "--base-url", server.url, "-m", "coder", "--key", "TEAM_KEY")
    assert added.code == 0, added.err
    assert "coder at 127.0.0.1 answers in" in added.out
    assert server.requests[0][2]["Authorization"] == f"Bearer {KEY}"
    text = user_file().read_text()
    assert text == f'[models.fast]\nbase-url = "{server.url}"\nmodel = "coder"\nkey = "TEAM_KEY"\n'
    again = cli("models", "add", "slow", "--base-url", server.url, "-m", "coder", "--context", "99")
    assert again.code == 0, again.err
    assert (
        user_file().read_text()
        == f'{text}\n[models.slow]\nbase-url = "{server.url}"\nmodel = "coder"\ncontext = 99\n'
    )
    listed = {row["id"]: row["state"] for row in cli("models", "list", "--json").json}
    assert (listed["fast"], listed["slow"]) == ("ready", "ready")
    tested = cli("models", "test", "fast", "--json")
    assert tested.code == 0, tested.err
    assert (tested.json["model"], tested.json["model_info"]["name"]) == ("fast", "coder")
    assert tested.json["completion"] == " a + b\n"
    assert KEY not in text + added.out + tested.out + added.err + tested.err


def test_commands_take_the_name(cli: Cli, server: Script) -> None:
    Path("sums.py").write_text("def add(a, b):\n    return a + b\n")
    Path("counterlens.toml").write_text(f'[models.near]\nbase-url = "{server.url}"\nmodel = "coder"\n')
    ran = cli("complete", "sums.py:2", "-m", "near", "--json", "--no-cache")
    assert server.requests, ran.err
    assert server.requests[0][1]["model"] == "coder"
    elsewhere = cli("complete", "sums.py:2", "-m", "near", "--base-url", "http://127.0.0.1:1/v1")
    assert elsewhere.code == 2
    assert "--base-url has no effect on near" in elsewhere.err
    assert "there is no model 'near'" in cli("--no-config", "complete", "sums.py:2", "-m", "near").err
    Path("other.toml").write_text('[models.near]\nbase-url = "http://127.0.0.1:1/v1"\nurl = "x"\n')
    wrong = cli("--config", "other.toml", "complete", "sums.py:2", "-m", "near")
    assert wrong.code == 2
    assert "other.toml:3: a model has no setting url" in wrong.err


def test_what_does_not_answer_is_not_named(cli: Cli) -> None:
    with serving(error(401, "no such key"), models=["coder"]) as script:
        ran = cli("models", "add", "fast", "--base-url", script.url, "-m", "coder")
    assert ran.code == 1
    assert not user_file().exists()
    ran = cli("models", "add", "a/b", "--base-url", script.url)
    assert ran.code == 2
    assert "'a/b' cannot be the name of a model" in ran.err
    ran = cli("models", "add", "a", "--base-url", script.url, "--parameters", '{"seed": 1}')
    assert ran.code == 2
    assert "--parameters: parameters cannot be {'seed': 1}" in ran.err


def test_a_file_that_comes_with_code_sends_nothing_before_it_is_allowed(cli: Cli, server: Script) -> None:
    Path("counterlens.toml").write_text(
        f'[models.near]\nbase-url = "{server.url}"\nmodel = "coder"\nkey = "TEAM_KEY"\n'
    )
    refused = cli("models", "test", "near")
    assert refused.code == 1
    assert "would send code and the key in TEAM_KEY to 127.0.0.1" in refused.err
    assert "counterlens models allow near" in refused.err
    assert not server.requests
    assert {row["id"]: row["state"] for row in cli("models", "list", "--json").json}["near"] != "ready"
    assert cli("models", "allow", "near").code == 0
    assert cli("models", "test", "near").code == 0
    assert server.requests[0][2]["Authorization"] == f"Bearer {KEY}"
    assert "no settings file has a model far" in cli("models", "allow", "far").err


@pytest.mark.parametrize(
    ("name", "before", "table"),
    [
        ("counterlens.toml", "", "models"),
        ("counterlens.toml", 'model = ["near"]\nlimit = 3\n', "models"),
        ("pyproject.toml", '[project]\nname = "a"\n', "tool.counterlens.models"),
    ],
)
def test_an_entry_is_added_to_a_file_of_the_repository(
    cli: Cli, server: Script, name: str, before: str, table: str
) -> None:
    path = Path(name)
    if before:
        path.write_text(before)
    parameters = json.dumps({"top_k": 1, "extra": {"a": [1, "b"]}})
    asked = ("models", "add", "near", "--base-url", server.url, "-m", "coder", "--to", name)
    ran = cli(*asked, "--parameters", parameters)
    assert ran.code == 0, ran.err
    assert path.read_text().startswith(f"{before}\n[{table}.near]\n" if before else f"[{table}.near]\n")
    assert cli("models", "test", "near").code == 0
    sent = [(body["top_k"], body["extra"]) for _, body, _ in server.requests if "top_k" in body]
    assert sent == [(1, {"a": [1, "b"]})] * 2  # when it was added, and when it was tested
    twice = cli(*asked)
    assert twice.code == 2
    assert f"{name} has a model near" in twice.err


def test_a_list_of_models_makes_room(cli: Cli, server: Script) -> None:
    Path("counterlens.toml").write_text('models = ["smollm2-135m"]\n')
    ran = cli("models", "add", "near", "--base-url", server.url, "-m", "coder", "--to", "counterlens.toml")
    assert ran.code == 0, ran.err
    text = Path("counterlens.toml").read_text()
    assert text == f'model = ["smollm2-135m"]\n\n[models.near]\nbase-url = "{server.url}"\nmodel = "coder"\n'


def test_a_model_that_reasons_is_named_with_its_room_and_price(cli: Cli) -> None:
    message = {"role": "assistant", "content": "", "reasoning_content": "hm, a sum"}
    body = {"choices": [{"message": message, "finish_reason": "length"}]}
    with serving(lambda handler: handler.reply(200, body), models=["deep"]) as script:
        asked = ("models", "add", "--base-url", script.url, "--api", "chat", "-m", "deep")
        plain = cli(*asked, "plain")
        assert plain.code == 0, plain.err
        assert "its answer was only reasoning" in plain.out
        priced = ("--thinking-tokens", "512", "--price", "0.15", "0.6", "--currency", "EUR")
        roomy = cli(*asked, "roomy", *priced, "--tokens-per-minute", "9000")
        assert roomy.code == 0, roomy.err
        assert "its answer was only reasoning" in roomy.out
        tested = cli("models", "test", "plain")
    assert "its answer was only reasoning" in tested.out
    assert (
        user_file()
        .read_text()
        .endswith(
            'tokens-per-minute = 9000\nthinking-tokens = 512\nprice = { "input" = 0.15, "output" = 0.6, '
            '"currency" = "EUR" }\n'
        )
    )
    limits = {body["max_tokens"] for path, body, _ in script.requests if path == "/v1/chat/completions"}
    assert len(limits) == 2
    assert max(limits) == min(limits) + 512
    assert cli(*asked, "third", "--currency", "EUR").code == 2
