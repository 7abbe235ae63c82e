"""An option is honoured or refused: one that would have no effect is never ignored."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from counterlens.cli.main import cli
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Store


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "sign.py"
    path.write_text("def sign(n):\n    return (n > 0) - (n < 0)\n")
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
        ("judge sign.py --isolation shared", "--isolation: only with --tests"),
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
