"""An option is honoured or refused: one that would have no effect is never ignored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from counterlens.cli.main import cli, main
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Store


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "sign.py"
    path.write_text("def sign(n):\n    return (n > 0) - (n < 0)\n")
    (tmp_path / "Sign.java").write_text("class Sign {}\n")
    (tmp_path / "test_sign.py").write_text("from sign import sign\n")
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("dependence sign.py --limit 4", "--limit: only with --infer"),
        ("dependence sign.py::sign -m other.gguf --threads 2", "--model, --threads: only with --infer"),
        ("dependence sign.py::sign --infer prompted --limit 4", "only for pairwise questions"),
        ("dependence sign.py::sign --infer trace --seed 4", "--seed: only with --limit"),
        ("score sign.py --seed 3", "--seed: only for folders, several files, --global or --protocol"),
        ("score sign.py --global --by token", "--by: only for one file"),
        ("score sign.py --protocol astxplainer --anyway", "--anyway: not with --protocol"),
        ("score sign.py --protocol astxplainer --global", "--global: not with --protocol"),
        ("score sign.py --anyway --max-bytes 9", "--max-bytes: not with --anyway"),
        ("probe sign.py --limit 3", "--limit: only with --data"),
        ("probe sign.py --likelihood --task repair", "--task: not with --likelihood"),
        ("models test smollm2-135m -m remote:m", "--model: the model is named already"),
        ("judge Sign.java --python sign.py", "--python: only for Python programs"),
        ("judge sign.py --tests test_sign.py --map-timeout 3", "--map-timeout: only for own tests"),
        ("judge sign.py --tests test_sign.py --excluded-tests x", "--excluded-tests: only for own tests"),
        ("check sign.py --excluded-tests x", "--excluded-tests: only with --tests"),
        ("causal sign.py --limit 3", "--limit: only with --data"),
        ("causal --run folder --threads 2", "--threads: not with --run"),
        ("mutate sign.py --call sign(1) --mutation if-else-flip", "--call is for loop-unroll"),
    ],
)
def test_an_option_without_effect_is_refused(source: Path, command: str, said: str) -> None:
    assert source.is_file()
    result = CliRunner().invoke(cli, command.split())
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.replace("\u2502", " ").split())


def test_sizes_are_refused_where_the_records_hold_none(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run") as store:
        store.begin(RunSettings.of(["completion"], "repo:x", {}, models=("m",)), ())
    result = CliRunner().invoke(cli, ["report", str(tmp_path / "run"), "--size", "m=1B", "--format", "csv"])
    assert result.exit_code == 2
    assert "--size: not for this format" in result.output


# The options for choosing a model, on every command that has them.

USES = {
    "calibrate": "calibrate --data humaneval --limit 1",
    "causal": "causal sign.py",
    "check": "check sign.py",
    "complete": "complete sign.py:2",
    "dependence": "dependence sign.py::sign --infer prompted",
    "mcp": "mcp",
    "models test": "models test",
    "mutants": "mutants sign.py",
    "probe": "probe sign.py --likelihood",
    "score": "score sign.py",
}
"""A use of each command that opens a model."""

ELSEWHERE = "-m remote:m --base-url http://127.0.0.1:9/v1"
SAID = {
    "model": ("-m /nowhere/model.gguf", "there is no model file /nowhere/model.gguf"),
    "base_url": ("-m remote:m --base-url nowhere", "the base URL cannot be used"),
    "api": ("-m team --api fill", "uses chat, as its entry says, not fill"),
    "threads": (f"{ELSEWHERE} --threads 2", "--threads has no effect on remote:m"),
    "gpu_layers": (f"{ELSEWHERE} --gpu-layers 2", "--gpu-layers has no effect on remote:m"),
    "mask": (f"{ELSEWHERE} --mask piece", "--mask has no effect on remote:m"),
    "thinking_tokens": ("--thinking-tokens 9", "--thinking-tokens has no effect on smollm2-135m"),
    "exact": (f"{ELSEWHERE} --exact", "are not exact"),
}
"""For each option, a value that ends the command if it is honoured, or refused, and what it then says."""

LATER = {("mcp", name) for name in ("model", "base_url", "api")}
"""Honoured when an assistant first asks: only then is a model opened."""


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def shared_uses() -> Iterator[tuple[str, str]]:
    """The commands that open a model, with each option for choosing it that they share."""
    parameters = {name: {each.name or "" for each in command.params} for name, command in commands(cli)}
    opening = {name: own for name, own in parameters.items() if {"model", "threads"} <= own}
    common = set.intersection(*opening.values())
    return ((name, option) for name, own in opening.items() for option in sorted(own & (common | {"exact"})))


@pytest.mark.parametrize(("command", "option"), sorted(set(shared_uses()) - LATER))
def test_an_option_for_the_model_is_honoured_or_refused_by_every_command(
    source: Path, capsys: pytest.CaptureFixture[str], command: str, option: str
) -> None:
    (source.parent / "counterlens.toml").write_text(
        '[models.team]\nbase-url = "http://127.0.0.1:9/v1"\napi = "chat"\n'
    )
    given, said = SAID[option]
    with pytest.raises(SystemExit) as ended:
        main([*USES[command].split(), *given.split()])
    assert ended.value.code in (1, 2)
    assert said in " ".join(capsys.readouterr().err.replace("\u2502", " ").split())
