"""`counterlens calibrate` through the real command line."""

from __future__ import annotations

import sys

import pytest

from counterlens.cli.main import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", *arguments])
    return int(ended.value.code or 0)


def test_what_is_wrong_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert "Missing option '--data'" in capsys.readouterr().err
    assert run("--data", "nowhere") == 1
    assert "nowhere" in capsys.readouterr().err


def test_a_missing_library_is_said_before_the_model_is_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert run("--data", "humaneval") == 1
    assert "pip install 'counterlens[statistics]'" in capsys.readouterr().err
