"""`counterlens calibrate` through the real command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from counterlens.calibration.fitting import CalibrationResult
from counterlens.cli.main import main
from counterlens.confidence.calibration import load_calibration
from counterlens.models.files import identity
from tests.conftest import short_model

CODE = Path(__file__).parents[2] / "examples"
FAST = ["--truth", "first-choice", "--nodes", "1200"]


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", *arguments])
    return int(ended.value.code or 0)


def test_a_map_is_fitted_kept_and_reported(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = short_model(wide=True)
    chosen = ["--model", str(wide)]
    page = data_folder / "page.html"
    assert run(str(CODE), *FAST, *chosen, "--json", "--html", str(page)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["raw"]["nodes"] >= 1200
    assert sum(one["nodes"] for one in found["raw"]["bins"]) == found["raw"]["nodes"]
    assert found["better"]
    assert found["difference"]["functions"] >= 10
    assert found["difference"]["brier"]["high"] < 0
    assert found["calibrated"]["brier"]["value"] < found["raw"]["brier"]["value"]
    kept = load_calibration(identity(wide))
    assert kept is not None
    assert kept.facts["nodes"] == found["raw"]["nodes"]
    assert 0 < kept.apply("operators", 0.5, 1) < 1
    written = page.read_text()
    assert written.count("<svg") == 2
    assert "http" not in written.replace("http-equiv", "")
    with pytest.raises(SystemExit):
        main(["score", str(CODE / "binary_search.py"), *chosen])
    assert "Calibrated on" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["score", str(CODE / "binary_search.py"), *chosen, "--aggregate", "min", "--json"])
    assert json.loads(capsys.readouterr().out)["calibrated"] is None  # the map is one of means
    assert run(str(CODE), *FAST, *chosen, "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "Brier score" in shown
    assert "is not stored" in shown


def test_what_is_wrong_is_said(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert run("nowhere.py") == 1
    assert "there is no file nowhere.py" in capsys.readouterr().err
    empty = data_folder / "empty.py"
    empty.write_text("\n")
    assert run(str(empty)) == 1
    assert "there is no code" in capsys.readouterr().err


def test_a_map_that_does_no_better_is_not_kept(
    data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, short: list[str]
) -> None:
    assert data_folder
    monkeypatch.setattr(CalibrationResult, "better", False)
    assert run(str(CODE / "gcd.py"), str(CODE / "is_even.py"), *FAST, *short) == 0
    assert "not better than raw" in capsys.readouterr().out
    assert load_calibration(identity(short_model())) is None


def test_a_missing_library_is_said_before_the_model_is_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert run(str(CODE)) == 1
    assert "pip install 'counterlens[statistics]'" in capsys.readouterr().err
