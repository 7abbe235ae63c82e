"""A project's own environment is described without running anything of it."""

from __future__ import annotations

import shutil
import sys
import venv
from pathlib import Path

import pytest

from counterlens.attribution.layout import interpreter_for
from counterlens.errors import SandboxError
from counterlens.sandbox.base import Ending, Job, Limits
from counterlens.sandbox.interpreter import describe
from counterlens.sandbox.registry import best_sandbox


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of a project's environment."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    venv.create(tmp_path / "project" / ".venv", with_pip=False, symlinks=True)
    return tmp_path / "project" / ".venv" / "bin" / "python"


def packages(python: Path) -> Path:
    return next(python.parent.parent.glob("lib/python*/site-packages"))


def test_what_an_environment_does_as_it_starts_is_not_done(python: Path, tmp_path: Path) -> None:
    leave = f"import pathlib; pathlib.Path({str(tmp_path / 'trace')!r}).touch()\n"
    (packages(python) / "a.pth").write_text(leave)
    (packages(python) / "sitecustomize.py").write_text(leave)
    assert describe(python).version == sys.version_info[:2]
    assert interpreter_for(tmp_path / "project" / "code.py") == python
    assert not (tmp_path / "trace").exists()


def test_a_program_in_the_place_of_python_is_not_run(python: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    tool = project / "tool"
    tool.write_text(f'#!/bin/sh\ntouch {tmp_path / "trace"}\nexec {sys.executable} "$@"\n')
    tool.chmod(0o755)
    python.unlink()
    python.symlink_to(tool)
    (project / ".venv" / "pyvenv.cfg").write_text(f"home = {project}\n")
    with pytest.raises(SandboxError, match="comes with the project"):
        describe(python)
    assert interpreter_for(project / "code.py") != python
    assert not (tmp_path / "trace").exists()


def test_a_copy_of_the_interpreter_is_as_good_as_a_link(python: Path) -> None:
    real = python.resolve()
    python.unlink()
    shutil.copy(real, python)
    (python.parent.parent / "pyvenv.cfg").write_text(f"home = {real.parent}\n")
    assert describe(python).version == sys.version_info[:2]


def test_an_environment_finds_its_packages_and_what_path_files_add(python: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "added.py").write_text("n = 1\n")
    (packages(python) / "own.py").write_text("n = 2\n")
    (packages(python) / "more.pth").write_text(f"# a comment\n{tmp_path / 'more'}\n/nowhere\n")
    start = b"import added, own, sys; sys.exit(added.n + own.n + (sys.prefix != sys.base_prefix))\n"
    job = Job({"start.py": start}, "start.py", python, limits=Limits(seconds=30.0))
    outcome = best_sandbox().run(job)
    assert (outcome.ending, outcome.code) == (Ending.EXITED, 4), outcome


def test_an_interpreter_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no Python interpreter"):
        describe(tmp_path / "bin" / "python")
