"""BugsInPy's own format, with the files of a bug in the history of a clone of its project."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from bugsinpy import apply_patch, made_bugs_in

from counterlens.datasets.base import Problem
from counterlens.errors import DataError

GIT = shutil.which("git") or "git"
BUGGY = '''"""Sums."""

LIMIT = 3


def total(values):
    result = 0
    for value in values[1:]:
        result += value
    return result


class Basket:
    def size(self):
        return 1
'''
FIXED = BUGGY.replace("values[1:]", "values")


def run(folder: Path, *command: str) -> str:
    done = subprocess.run([GIT, *command], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(repository: Path, **files: str) -> str:
    for name, text in files.items():
        (repository / f"{name}.py").write_text(text)
    run(repository, "add", "-A")
    run(repository, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m", "--allow-empty")
    return run(repository, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    repository = tmp_path / "repositories" / "sums"
    repository.mkdir(parents=True)
    run(repository, "init", "-q")
    (tmp_path / "projects" / "sums").mkdir(parents=True)
    (tmp_path / "projects" / "sums" / "project.info").write_text(
        'github_url="https://example.org/sums"\nstatus="OK"\n'
    )
    return tmp_path


def add_bug(root: Path, number: int, fixed: str, *, more: str = "") -> None:
    """A bug in its project's history, as BugsInPy describes it."""
    repository = root / "repositories" / "sums"
    before = commit(repository, sums=BUGGY, other="x = 1\n")
    after = commit(repository, sums=fixed, **({"other": more} if more else {}))
    folder = root / "projects" / "sums" / "bugs" / str(number)
    folder.mkdir(parents=True)
    (folder / "bug.info").write_text(
        f'python_version="3.8.3"\nbuggy_commit_id="{before}"\nfixed_commit_id="{after}"\n'
        'test_file="tests/test_sums.py"\n'
    )
    (folder / "bug_patch.txt").write_text(run(repository, "diff", before, after) + "\n")


def problems(root: Path) -> list[Problem]:
    return list(made_bugs_in(root))


def test_a_bug_is_the_function_with_and_without_its_fix(root: Path) -> None:
    add_bug(root, 10, FIXED)
    add_bug(root, 2, BUGGY.replace("return 1", "return 0"))
    second, tenth = problems(root)
    assert (second.id, second.function) == ("sums/2", "Basket.size")
    assert (tenth.id, tenth.function, tenth.unusable) == ("sums/10", "total", "")
    assert (tenth.source, tenth.buggy) == (FIXED, BUGGY)
    assert tenth.details["path"] == "sums.py"
    assert tenth.details["test_file"] == "tests/test_sums.py"
    assert tenth.details["licence"] == "see https://example.org/sums"


@pytest.mark.parametrize(
    ("fixed", "more", "reason"),
    [
        (FIXED.replace("return 1", "return 0"), "", "several functions, or code outside"),
        (BUGGY.replace("LIMIT = 3", "LIMIT = 4"), "", "several functions, or code outside"),
        (FIXED, "x = 2\n", "its fix changes 2 Python files"),
    ],
)
def test_other_fixes_are_unusable_and_say_why(root: Path, fixed: str, more: str, reason: str) -> None:
    add_bug(root, 1, fixed, more=more)
    (problem,) = problems(root)
    assert reason in problem.unusable
    assert problem.source == ""


def test_a_project_that_is_not_here_is_named_with_the_command(root: Path) -> None:
    add_bug(root, 1, FIXED)
    (root / "repositories" / "sums").rename(root / "elsewhere")
    (problem,) = problems(root)
    assert problem.unusable.startswith("its project is not here: git clone https://example.org/sums ")


def test_a_commit_that_is_not_in_the_clone_is_named(root: Path) -> None:
    add_bug(root, 1, FIXED)
    info = root / "projects" / "sums" / "bugs" / "1" / "bug.info"
    info.write_text(info.read_text().replace('buggy_commit_id="', 'buggy_commit_id="0000'))
    (problem,) = problems(root)
    assert "has no sums.py at commit 0000" in problem.unusable


def test_a_description_without_commits_is_an_error(root: Path) -> None:
    add_bug(root, 1, FIXED)
    (root / "projects" / "sums" / "bugs" / "1" / "bug.info").write_text('python_version="3.8.3"\n')
    with pytest.raises(DataError, match="names no commits"):
        problems(root)


@pytest.mark.parametrize("text", ["a\nb\nc\n", "a\r\nb\r\nc\r\n"])
def test_a_patch_is_applied_exactly_or_not_at_all(text: str) -> None:
    patch = "@@ -1,3 +1,3 @@ def f():\n a\n-b\n+B\n c\n"
    changed = apply_patch(text, patch)
    assert changed is not None
    assert changed.splitlines() == ["a", "B", "c"]
    assert apply_patch(text.replace("a", "x"), patch) is None
    assert apply_patch("", patch) is None
    assert apply_patch("a\n", "@@ -0,0 +1,2 @@\n+x\n+y\n") == "x\ny\na\n"
