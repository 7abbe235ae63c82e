"""A project's own environment is described without running anything of it."""

from __future__ import annotations

import shutil
import sys
import venv
from pathlib import Path

import pytest

from counterlens.errors import SandboxError
from counterlens.judging.projects import interpreter_for
from counterlens.sandbox import registry
from counterlens.sandbox.base import Ending, Job, Limits
from counterlens.sandbox.interpreter import _query_interpreter, describe
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
    tool.write_text(f'#!/bin/sh\ntouch "{tmp_path / "trace"}"\nexec "{sys.executable}" "$@"\n')
    tool.chmod(0o755)
    python.unlink()
    python.symlink_to(tool)
    (project / ".venv" / "pyvenv.cfg").write_text(f"home = {project}\n")
    with pytest.raises(SandboxError, match="is part of the project"):
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


def test_an_environment_finds_the_packages_of_an_editable_installation(python: Path, tmp_path: Path) -> None:
    """Another member of a workspace, installed as setuptools does it if its packages are not in `src`."""
    (tmp_path / "member" / "lib").mkdir(parents=True)
    (tmp_path / "member" / "lib" / "__init__.py").write_text("n = 4\n")
    (tmp_path / "member" / "single.py").write_text("n = 3\n")
    mapping = {name: str(tmp_path / "member" / name) for name in ("lib", "single")}
    (packages(python) / "__editable___member_1_finder.py").write_text(f"""
from __future__ import annotations
import importlib.util, pathlib, sys
MAPPING: dict[str, str] = {mapping!r}

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        place = pathlib.Path(MAPPING.get(name, "/nowhere"))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if file.exists() else None

def install():
    sys.meta_path.append(Finder)
""")
    path_file = packages(python) / "__editable__.member-1.pth"
    path_file.write_text("import __editable___member_1_finder; __editable___member_1_finder.install()")
    start = b"import lib, single, sys; sys.exit(lib.n + single.n)\n"
    outcome = best_sandbox().run(Job({"start.py": start}, "start.py", python, limits=Limits(seconds=30.0)))
    assert (outcome.ending, outcome.code) == (Ending.EXITED, 7), outcome


def test_an_interpreter_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no Python interpreter"):
        describe(tmp_path / "bin" / "python")


def test_nothing_of_the_home_folder_is_readable_but_what_is_pythons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the system's Python, which uses the packages in `~/.local`."""
    system = Path("/usr/bin/python3")
    if not system.exists():
        pytest.skip("the system has no Python of its own")
    version = "python{}.{}".format(*describe(system).version)
    packages = tmp_path / ".local" / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (packages / "installed.py").write_text("x = 1\n")
    secrets = [tmp_path / ".local" / "share" / "keyring", tmp_path / ".local" / "state" / "history"]
    for secret in (*secrets, tmp_path / ".bashrc"):
        secret.parent.mkdir(parents=True, exist_ok=True)
        secret.write_text("treasure")
    monkeypatch.setenv("HOME", str(tmp_path))
    _query_interpreter.cache_clear()
    program = f"""
import os
found = []
for name in {[str(secret) for secret in (*secrets, tmp_path / ".bashrc")]!r}:
    try: found.append(open(name).read())
    except OSError: pass
for name in {[str(tmp_path), str(tmp_path / ".local"), str(tmp_path / ".local" / "share")]!r}:
    try: found += [each for each in os.listdir(name) if each not in (".local", "lib")]
    except OSError: pass
import installed
print(found, installed.x)
"""
    try:
        for sandbox in map(registry._create, [each.name for each in registry.available() if each.usable]):
            job = Job({"p.py": program.encode()}, "p.py", system, limits=Limits(seconds=20.0))
            outcome = sandbox.run(job)
            assert outcome.output == b"[] 1\n", (sandbox.name, outcome)
    finally:
        _query_interpreter.cache_clear()


@pytest.mark.parametrize("line", ["/", "{home}", "{home}/.config", "{home}/.."])
def test_a_path_file_of_a_project_opens_no_home(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    (packages(python) / "more.pth").write_text(line.format(home=home) + "\n")
    folders = describe(python).folders
    assert not [
        folder for folder in folders if home.is_relative_to(folder) or Path(folder) == home / ".config"
    ]


def test_a_file_whose_folder_is_not_on_disk_has_an_interpreter(tmp_path: Path) -> None:
    assert interpreter_for(tmp_path / "gone" / "module.py").is_file()
