"""The steps of the workflow in docs/continuous-integration.md work, and lines are annotated."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from counterlens.reports.export.runs import exported_run
from counterlens.reports.export.verdicts import annotation_commands
from counterlens.reports.run_formats import write_evaluation
from tests.evaluation.made_up import results

PAGE = (Path(__file__).parents[2] / "docs" / "continuous-integration.md").read_text(encoding="utf-8")
STEP = r"- name: {}\n(?:(?!      - ).*\n)*?        run: \|\n((?:          .*\n)+)"


def step(name: str) -> str:
    """The commands of a step of the workflow."""
    found = re.search(STEP.format(re.escape(name)), PAGE)
    assert found, name
    return textwrap.dedent(found[1])


def test_lost_verdicts_become_annotations() -> None:
    run = results((True, False), (False, True), (True, True))
    (one,) = annotation_commands(exported_run(run))
    assert (one.file, one.line, one.end_line) == ("one", 1, 2)
    assert str(one).startswith("one:1: ")
    command = write_evaluation("github", run)
    assert command.startswith("::warning file=one,line=1,endLine=2,title=Counterlens%3A if-else-flip::")
    assert command.count("\n") == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="the workflow's steps are for bash")
def test_the_steps_of_the_workflow_run(place: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        command = ["git", *who, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    (tmp_path / "counterlens.toml").write_text('placebos = 0\nmax-tokens = 32\nmutation = ["if-else-flip"]\n')
    git("init", "-q")
    (tmp_path / "readme.md").write_text("A project.\n")
    git("add", ".")
    git("commit", "-qm", "one")
    base = git("rev-parse", "HEAD").strip()
    shutil.copy(place / "code" / "gcd.py", tmp_path)
    git("add", ".")
    git("commit", "-qm", "two")
    environment = {
        **os.environ,
        "BASE": base,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COUNTERLENS_ALLOW_WEAKER_SANDBOX": "1",
    }
    for name in ("Probe what changed", "Report"):
        done = subprocess.run(
            ["bash", "-e", "-c", step(name)],  # noqa: S607
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "counterlens.sarif").read_text())["version"] == "2.1.0"
    assert "gcd.py" in (tmp_path / "summary.md").read_text()
