"""The commands of docs/tutorial.md run in the order in which a reader types them, and say what it quotes."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from counterlens.models.default import VARIABLE
from counterlens.models.llama.model import LlamaModel
from tests.cli.test_cli import Cli
from tests.conftest import CODE_MODEL

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
OWN = "ticket_price"  # the function that the reader has
FEWER = ["--mutation", "if-else-flip", "--placebos", "0", "--max-tokens", "12"]  # so it takes no time


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[list[str], list[str]]]:
    """Each command with the lines that the page quotes of what it says."""
    found = re.findall(r"^```(bash|text)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    commands: list[tuple[list[str], list[str]]] = []
    for language, text in found:
        if language == "bash":
            typed = [line for line in text.splitlines() if line.startswith("counterlens")]
            commands += [(shlex.split(line), []) for line in typed]
        else:
            commands[-1][1].extend(line for line in text.splitlines() if line != "...")
    return commands


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_tutorial_runs_and_says_what_it_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli, code_model: LlamaModel
) -> None:
    assert code_model.info.local
    monkeypatch.setenv(VARIABLE, str(CODE_MODEL))  # which the first command fetches
    for name in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COUNTERLENS_TRUST")
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.chdir(folder)
    program, test = blocks("python")
    Path("larger.py").write_text(program, encoding="utf-8")
    Path("test_larger.py").write_text(test, encoding="utf-8")
    shutil.copy(ROOT / "examples" / f"{OWN}.py", "YOURS.py")
    commands = steps()
    assert [command[1] for command, _ in commands] == [
        "models",
        "doctor",
        "mutate",
        "probe",
        "judge",
        "probe",
    ]
    for command, quoted in commands[2:]:  # test_cli.py calls the doctor, which takes long
        arguments = [part.replace("YOUR_FUNCTION", OWN) for part in command[1:]]
        done = cli(*arguments, *(FEWER if "--html" in arguments else []))
        assert done.code == 0, (command, done.err)
        said = words(done.out)
        for line in quoted:
            assert words(line) in said, (command, line, done.out)
    assert "counterfactual" in Path("report.html").read_text(encoding="utf-8")
