"""What the user should know about the default model is said where it is asked, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.cli.options import ChosenModel
from counterlens.models.default import VARIABLE
from counterlens.models.registry import Options
from tests.cli.test_cli import Cli, cli
from tests.models.remote.conftest import serving
from tests.models.remote.test_requests import whole

__all__ = ["cli"]
ADVICE = "embedded model"


@pytest.fixture(autouse=True)
def no_code_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (VARIABLE, "HF_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    (tmp_path / "code" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "code")
    Path("half.py").write_text(
        'def half(n):\n    """\n    >>> half(4)\n    2\n    """\n    n = min(n, 100)\n    return n // 2\n'
    )


def test_commands_that_do_not_ask_it_do_not_mention_it(cli: Cli) -> None:
    with serving(whole(" a + b\n"), models=["coder"]) as server:
        for arguments in (
            ("dependence", "half.py::half"),
            ("mutants", "half.py", "--no-model", "--trust"),
            ("models", "test", "remote:coder", "--base-url", server.url),
            ("score", "half.py::nothing"),
        ):
            assert ADVICE not in cli(*arguments).err


def test_it_is_said_once_where_it_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    model = ChosenModel(None, Options())
    assert model.name == model.name == "smollm2-135m"
    assert capsys.readouterr().err.count(ADVICE) == 1
