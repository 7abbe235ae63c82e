"""A run is like the plain one: honest programs pass here as they pass there."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import LIMITS, Setting, Verdict
from counterlens.python.judging.supplied_tests import FileOfTestsJudge
from counterlens.sandbox import registry
from tests.judging.honest import HONEST

Project = Callable[[Mapping[str, str]], Path]
USABLE = [back_end.name for back_end in registry.available() if back_end.usable]


def files_of(name: str) -> dict[str, str]:
    program, result = HONEST[name]
    tests = f"import program\n\ndef test_it(): assert program.f() == {result}\n"
    return {"program.py": textwrap.dedent(program), "test_program.py": tests, "data.json": "[]"}


def judged(folder: Path, back_end: str) -> Verdict:
    setting = Setting(registry._create(back_end), Path(sys.executable), LIMITS)
    judge = FileOfTestsJudge(folder / "program.py", folder / "test_program.py", setting)
    return judge.judge((folder / "program.py").read_text())


@pytest.mark.parametrize("back_end", USABLE)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_program_passes_and_changes_nothing(project: Project, name: str, back_end: str) -> None:
    folder = project(files_of(name))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    verdict = judged(folder, back_end)
    assert verdict.passed, verdict
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_plain_run_says_the_same(tmp_path: Path) -> None:
    for number, name in enumerate(HONEST):
        folder = tmp_path / f"p{number}"
        folder.mkdir()
        for file, text in files_of(name).items():
            own = text.replace("import program\n", f"import program_{number} as program\n")
            (folder / file.replace("program", f"program_{number}")).write_text(own)
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *sorted(map(str, tmp_path.rglob("test_*.py"))),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"{len(HONEST)} passed" in done.stdout, done.stdout
