"""A repository's git settings take no effect: none of its programs runs, and no link leads out of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from counterlens.datasets.repository import changed_lines, python_files, repository
from counterlens.errors import DataError

GIT = shutil.which("git") or ""
pytestmark = pytest.mark.skipif(not GIT, reason="needs git")
CODE = 'def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n'
CONFIG = {
    "file monitor": "[core]\n\tfsmonitor = {tool}\n",
    "filter": '[filter "x"]\n\tclean = {tool}\n\tsmudge = {tool}\n\trequired = true\n',
    "long-running filter": '[filter "a.b"]\n\tprocess = {tool}\n',
    "text conversion": '[diff "x"]\n\ttextconv = {tool}\n',
    "hooks": "[core]\n\thooksPath = {tool}\n\tpager = {tool}\n\tsshCommand = {tool}\n\taskPass = {tool}\n",
    "helpers": "[credential]\n\thelper = !{tool}\n[gpg]\n\tprogram = {tool}\n[alias]\n\tdiff = !{tool}\n",
    "difference": '[diff "x"]\n\tcommand = {tool}\n[diff]\n\texternal = {tool}\n',
}
MISSING = (
    "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = origin\n"
    '[remote "origin"]\n\turl = ext::{tool}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n'
)


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgSign=false")
    subprocess.run([GIT, *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a committed and a changed file."""
    folder = tmp_path / "clone"
    (folder / "inner").mkdir(parents=True)
    (folder / "code.py").write_text(CODE)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "code.py").write_text(CODE.replace("return 1", "return 1  # more"))
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A program that leaves a trace."""
    path = tmp_path / "tool"
    path.write_text(f"#!/bin/sh\necho run >> {tmp_path / 'trace'}\ncat\n")
    path.chmod(0o755)
    return path


def use(folder: Path) -> None:
    """All that is asked of git."""
    assert python_files(folder)
    assert changed_lines(folder, "HEAD")
    assert repository(f"repo:{folder}").provenance.version != "unknown"


@pytest.mark.parametrize("kind", CONFIG)
def test_no_setting_of_a_repository_runs_anything(clone: Path, tool: Path, tmp_path: Path, kind: str) -> None:
    with (clone / ".git" / "config").open("a") as config:
        config.write(CONFIG[kind].format(tool=tool))
    (clone / ".gitattributes").write_text(f"*.py filter={'a.b' if 'long' in kind else 'x'} diff=x\n")
    use(clone)
    assert not (tmp_path / "trace").exists()


def test_what_is_missing_is_not_fetched(clone: Path, tool: Path, tmp_path: Path) -> None:
    asked = subprocess.run([GIT, "rev-parse", "HEAD:code.py"], cwd=clone, capture_output=True, check=True)
    name = asked.stdout.decode().strip()
    (clone / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with (clone / ".git" / "config").open("a") as config:
        config.write(MISSING.format(tool=tool))
    with pytest.raises(DataError):
        changed_lines(clone, "HEAD")
    assert not (tmp_path / "trace").exists()


def test_a_repository_inside_the_files_is_none(clone: Path, tool: Path, tmp_path: Path) -> None:
    bare = clone / "inner" / "bare"
    git(clone, "init", "-q", "--bare", str(bare))
    (bare / "code.py").write_text(CODE)
    with (bare / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {tool}\n\tbare = false\n\tworktree = {bare}\n")
    assert python_files(bare) == ["code.py"]  # as of any folder
    assert repository(f"repo:{bare}").provenance.version == "unknown"
    assert not (tmp_path / "trace").exists()


def test_the_settings_of_a_submodule_count_as_little(clone: Path, tool: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "more.py").write_text(CODE)
    git(other, "init", "-q")
    git(other, "add", ".")
    git(other, "commit", "-qm", "first")
    git(clone, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    git(clone, "commit", "-qm", "second")
    with (clone / ".git" / "modules" / "sub" / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {tool}\n")
    use(clone)
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("known", [True, False], ids=["git", "no git"])
def test_links_out_of_the_folder_are_not_followed(clone: Path, tmp_path: Path, known: bool) -> None:
    (tmp_path / "outside.py").write_text(CODE)
    (clone / "link.py").symlink_to(tmp_path / "outside.py")
    (clone / "within.py").symlink_to(clone / "code.py")
    if not known:
        shutil.rmtree(clone / ".git")
    assert python_files(clone) == ["code.py", "within.py"]
