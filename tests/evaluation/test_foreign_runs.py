"""Runs that somebody else started: they choose neither where code and keys go nor what is read."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from counterlens.cli import runs
from counterlens.cli.main import cli
from counterlens.errors import DataError
from counterlens.evaluation.engines.base import open_model, options_of
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.run_consent import ForeignRunError, consent
from counterlens.evaluation.run_file import Checksums
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Store
from counterlens.evaluation.work import opened_encoder
from counterlens.models.entries import ModelEntry
from counterlens.models.remote.consent import Destination
from counterlens.sandbox.registry import best_sandbox
from tests.evaluation.scripted_models import RIGHT, ScriptedModels
from tests.evaluation.test_endpoints import PROBLEM
from tests.models.remote.conftest import Handler, Script, serving

KEY = "sk-0123456789"
FAR = "https://models.example.com/v1"
Run = Callable[..., str]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Script]:
    code = tmp_path / "code"
    code.mkdir()
    (code / "clamp.py").write_text(f"{PROBLEM['prompt']}{PROBLEM['canonical_solution']}")
    (code / "test_clamp.py").write_text(
        "from clamp import clamp\n\n\ndef test_it():\n    assert clamp(4) == 4\n"
    )
    (code / "problems.jsonl").write_text(json.dumps(PROBLEM) + "\n")
    models = ScriptedModels(code)

    def answer(handler: Handler) -> None:
        text = models.written(handler.body["model"], handler.body["prompt"])
        handler.reply(200, {"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]})

    with serving(answer, models=[RIGHT]) as script:
        yield script


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("COUNTERLENS_API_KEY", KEY)
    unset(monkeypatch, "COUNTERLENS_BASE_URL", "OPENAI_API_KEY", "TEAM_KEY")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: int = 0, typed: str = "") -> str:
        ended = CliRunner().invoke(cli, [*arguments], input=typed)
        shown = ended.output + str(ended.exception or "")
        assert ended.exit_code == code, shown
        return re.sub(r"\s+", " ", shown)

    return run


def unset(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Remove variables of the environment."""
    for name in names:
        monkeypatch.delenv(name, raising=False)


def become(who: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Use the configuration, data and cache of a user."""
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / who / name))


def begin(run: Run, server: Script, *more: str, data: str = "humaneval:code/problems.jsonl") -> None:
    """Start a run, and forget its record and its answers, so that a resumed one asks again."""
    options = ("--placebos", "0", "--mutation", "if-else-flip", "--allow-weaker-sandbox", *more)
    run("bench", "--out", "run", "--data", data, "-m", f"remote:{RIGHT}", "--base-url", server.url, *options)
    server.requests.clear()


def forget() -> None:
    shutil.rmtree("again", ignore_errors=True)
    shutil.copytree("run", "again")
    Path("again/answers.sqlite").unlink()
    with closing(sqlite3.connect("again/run.sqlite")) as database, database:
        database.execute("DELETE FROM records")
        database.execute("DELETE FROM checksums WHERE part = 'records'")


def keys_of(server: Script) -> set[str | None]:
    return {headers.get("Authorization") for *_, headers in server.requests}


AGAIN = {
    "replay": ("replay", "run", "0", "--allow-weaker-sandbox"),
    "resume": ("bench", "--resume", "--out", "again", "--allow-weaker-sandbox"),
}


@pytest.mark.parametrize("command", AGAIN)
def test_a_run_of_somebody_else_sends_nothing_before_its_address_is_named(
    command: str, run: Run, server: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    become("author", monkeypatch, tmp_path)
    begin(run, server)
    forget()
    run(*AGAIN[command])  # the author's own
    assert keys_of(server) == {f"Bearer {KEY}"}
    become("reader", monkeypatch, tmp_path)
    server.requests.clear()
    forget()
    monkeypatch.delenv("COUNTERLENS_API_KEY")
    assert "it would send code to 127.0.0.1" in run(*AGAIN[command], code=1)
    monkeypatch.setenv("COUNTERLENS_API_KEY", KEY)
    refused = run(*AGAIN[command], code=1)
    assert "you did not start this run here" in refused
    assert "send code and the key in COUNTERLENS_API_KEY to 127.0.0.1" in refused
    assert f"--base-url {server.url}" in refused
    assert not server.requests
    monkeypatch.setattr(runs, "at_terminal", lambda: True)
    run(*AGAIN[command], typed="n\n", code=1)
    assert not server.requests
    run(*AGAIN[command], typed="y\n")
    assert keys_of(server) == {f"Bearer {KEY}"}
    monkeypatch.undo()


@pytest.mark.parametrize("command", AGAIN)
def test_an_address_is_named_in_the_command_the_environment_or_the_users_list(
    command: str, run: Run, server: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    become("author", monkeypatch, tmp_path)
    begin(run, server)
    become("reader", monkeypatch, tmp_path)
    forget()
    run(*AGAIN[command], "--base-url", server.url)
    assert keys_of(server) == {f"Bearer {KEY}"}
    forget()
    monkeypatch.setenv("COUNTERLENS_BASE_URL", "http://127.0.0.1:1/v1")
    run(*AGAIN[command], code=1)
    monkeypatch.setenv("COUNTERLENS_BASE_URL", server.url)
    run(*AGAIN[command])
    forget()
    monkeypatch.delenv("COUNTERLENS_BASE_URL")
    run(*AGAIN[command], code=1)
    Destination(server.url, "COUNTERLENS_API_KEY").allow()
    run(*AGAIN[command])


def test_replay_asks_at_another_address_and_on_other_data(
    run: Run, server: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    become("author", monkeypatch, tmp_path)
    begin(run, server, "--trust", data="repo:code")
    become("reader", monkeypatch, tmp_path)
    monkeypatch.setenv("COUNTERLENS_TRUST", "1")  # this run may not decide what is trusted
    refused = run(*AGAIN["replay"], "--base-url", server.url, code=1)
    assert f"read the repository {tmp_path / 'code'}, and run its tests" in refused
    assert "--data repo:" in refused
    assert "--base-url" not in refused
    assert not server.requests
    run(*AGAIN["replay"], "--base-url", server.url, "--data", "repo:code")
    shutil.move("code", "elsewhere")
    with serving(*server.answers, models=[RIGHT]) as mine:
        server.requests.clear()
        run(*AGAIN["replay"], "--base-url", mine.url, "--data", "repo:elsewhere")
        assert mine.requests
        assert not server.requests


FOREIGN = replace(
    RunSettings.of(["summary"], "repo:/somewhere", {"encoder": "remote:embedder"}),
    base_url=FAR,
    models=("remote:a", "smollm2-135m", "fast"),
    entries=(ModelEntry("fast", "http://models.example.org/v1", "b", key="HOME"),),
    foreign=True,
)


@pytest.mark.parametrize(
    "use",
    [
        lambda: make_plan(FOREIGN, best_sandbox()),
        lambda: open_model("remote:a", FOREIGN),
        lambda: open_model("fast", FOREIGN),
        lambda: options_of("remote:a", FOREIGN),
        lambda: opened_encoder(FOREIGN).__enter__(),
    ],
)
def test_whoever_opens_something_of_a_foreign_run_is_stopped(use: Callable[[], object]) -> None:
    with pytest.raises(ForeignRunError):
        use()


def test_all_that_a_run_names_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    become("reader", monkeypatch, tmp_path)
    unset(monkeypatch, "COUNTERLENS_API_KEY", "COUNTERLENS_BASE_URL")
    with pytest.raises(ForeignRunError) as refused:
        consent(FOREIGN, FOREIGN.models)
    said = str(refused.value)
    assert "read the repository /somewhere" in said
    assert "send code to models.example.com:443" in said  # even without a key
    assert "send code and the key in HOME to models.example.org:80" in said
    assert "counterlens models add fast --base-url http://models.example.org/v1 --key HOME" in said
    chosen = consent(FOREIGN, FOREIGN.models[:2], base_url=FAR, data="repo:/somewhere")
    assert not chosen.foreign
    assert consent(FOREIGN, FOREIGN.models, agreed=True) == chosen
    assert Destination("http://models.example.org/v1", "HOME").is_allowed
    assert not Destination(FAR).is_allowed  # an answer to a question is about this command


def test_no_run_says_of_itself_whose_it_is(
    run: Run, server: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    become("author", monkeypatch, tmp_path)
    begin(run, server)
    assert not RunResults.read(Path("run")).settings.foreign

    def rewrite(**changed: object) -> None:
        """Change settings as an attacker would, with right checksums."""
        with Store.open(Path("run")) as store:
            assert store.settings
            text = {**json.loads(store.settings.to_json()), **changed}
        with closing(sqlite3.connect("run/run.sqlite")) as database, database:
            database.execute("DELETE FROM run WHERE key = 'settings'")
            Checksums(database).insert("run", "settings", json.dumps(text))

    rewrite(base_url=FAR, foreign=False)
    assert RunResults.read(Path("run")).settings.foreign
    run(*AGAIN["replay"], code=1)
    entry = ModelEntry("fast", "http://127.0.0.1:1/v1", "b", parameters='{"max_tokens": 1000000}')
    rewrite(entries=msgspec.to_builtins([entry]))
    with pytest.raises(DataError, match=r"models\.fast\.parameters: parameters cannot be"):
        RunResults.read(Path("run"))


def test_a_run_of_an_earlier_version_has_no_seal(
    run: Run, server: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    become("author", monkeypatch, tmp_path)
    begin(run, server)
    with closing(sqlite3.connect("run/run.sqlite")) as database, database:
        database.execute("DROP TABLE checksums")
        database.execute("DELETE FROM run WHERE key = 'seal'")
    run(*AGAIN["replay"], code=1)
    run(*AGAIN["replay"], "--base-url", server.url)
    assert "1 record in run without a checksum" in run("report", "run")


def test_a_record_of_another_model_than_those_of_the_settings_is_not_replayed(
    run: Run, server: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    become("author", monkeypatch, tmp_path)
    begin(run, server)
    with closing(sqlite3.connect("run/run.sqlite")) as database, database:
        database.execute("UPDATE plan SET model = 'remote:other'")
        database.execute("DELETE FROM checksums WHERE part = 'plan'")
    assert "is not of its settings" in run(*AGAIN["replay"], code=1)
    assert not server.requests
