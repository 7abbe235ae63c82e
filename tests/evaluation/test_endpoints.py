"""One run asks models at several addresses, which a settings file names; its folder keeps all but the key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterlens.cli.main import main
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from tests.evaluation.scripted_models import HABIT, RIGHT, ScriptedModels
from tests.models.remote.conftest import Handler, serving

KEY = "sk-0123456789"
PROBLEM = {
    "task_id": "HumanEval/0",
    "prompt": "def clamp(x):\n",
    "canonical_solution": (
        "    if x < 0:\n        result = 0\n    else:\n        result = x\n    return result\n"
    ),
    "test": "def check(candidate):\n    assert (candidate(-3), candidate(4)) == (0, 4)\n",
    "entry_point": "clamp",
}


def test_models_at_two_addresses_are_asked_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = tmp_path / "code", tmp_path / "run"
    code.mkdir()
    (code / "clamp.py").write_text(f"{PROBLEM['prompt']}{PROBLEM['canonical_solution']}")
    (code / "problems.jsonl").write_text(json.dumps(PROBLEM) + "\n")
    models = ScriptedModels(code)

    def answer(handler: Handler) -> None:
        text = models.written(handler.body["model"], handler.body["prompt"])
        handler.reply(200, {"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]})

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        shown = capsys.readouterr()
        assert not ended.value.code, shown.err
        return shown.out

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("TEAM_KEY", KEY)
    monkeypatch.delenv("COUNTERLENS_BASE_URL", raising=False)
    monkeypatch.chdir(code)
    with serving(answer, models=[RIGHT]) as one, serving(answer, models=[HABIT]) as two:
        (code / "counterlens.toml").write_text(
            'model = ["first", "second"]\nplacebos = 0\nmutation = ["if-else-flip"]\n'
            f'[models.first]\nbase-url = "{one.url}"\nmodel = "{RIGHT}"\nkey = "TEAM_KEY"\n'
            f'[models.second]\nbase-url = "{two.url}"\nmodel = "{HABIT}"\nparameters = {{ top_k = 1 }}\n'
        )
        run("models", "allow", "first")
        run("bench", "--out", str(out), "--data", "humaneval:problems.jsonl", "--allow-weaker-sandbox")
    assert {body["model"] for _, body, _ in one.requests} == {RIGHT}
    assert {body["model"] for _, body, _ in two.requests} == {HABIT}
    assert {headers.get("Authorization") for *_, headers in one.requests} == {f"Bearer {KEY}"}
    assert {headers.get("Authorization") for *_, headers in two.requests} == {None}
    assert {body["top_k"] for _, body, _ in two.requests} == {1}

    found = RunResults.read(out)
    assert found.models == ("first", "second")
    assert found.settings.served("first") == ("completions", one.url)
    assert RunSettings.from_json(found.settings.to_json()) == found.settings
    entries = {
        manifest["model"]["asked_as"]: manifest["model"]["entry"] for manifest in found.manifests.values()
    }
    assert (entries["first"]["key"], entries["first"]["base_url"]) == ("TEAM_KEY", one.url)
    assert json.loads(entries["second"]["parameters"]) == {"top_k": 1}
    assert all(KEY.encode() not in path.read_bytes() for path in out.rglob("*") if path.is_file())
    shown = run("report", str(out))
    assert "first" in shown
    assert "second" in shown

    (code / "counterlens.toml").unlink()  # what was asked stands in the folder
    run("bench", "--resume", "--out", str(out), "--allow-weaker-sandbox")
