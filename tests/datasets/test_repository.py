"""A repository as a benchmark: which functions have tests, what is passed over, what changed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from counterlens.datasets import open_dataset
from counterlens.datasets.changes import changed_lines
from counterlens.datasets.repository import python_files, repository
from counterlens.errors import DataError
from counterlens.probes.dataset_subjects import targets_of
from counterlens.python.judging import discovery
from counterlens.sandbox.registry import best_sandbox

CODE = '''\
def tested(a):
    if a > 0:
        return inner(a)
    return 0


def inner(a):
    return a + 1


def documented():
    """
    >>> documented()
    1
    """
    return 1


def alone(a):
    return a * 2
'''
TESTS = "from pack.code import tested\n\n\ndef test_it():\n    assert tested(1) == 2\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package with tests, and folders full of what nobody asks about."""
    files = {
        "pyproject.toml": "",
        "pack/__init__.py": "",
        "pack/code.py": CODE,
        "tests/test_code.py": TESTS,
        "node_modules/x/code.py": CODE,
        "build/lib/pack/code.py": CODE,
        "env2/lib/code.py": CODE,
        "env2/pyvenv.cfg": "",
        ".hidden/code.py": CODE,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def git(project: Path, *arguments: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    subprocess.run(["git", *who, *arguments], cwd=project, check=True, capture_output=True)  # noqa: S607


def ids(project: Path, **options: object) -> list[str]:
    return [problem.id for problem in repository(f"repo:{project}", **options)]  # type: ignore[arg-type]


def test_functions_that_tests_mention_or_examples_show(project: Path) -> None:
    assert ids(project) == ["pack/code.py::tested", "pack/code.py::documented"]


def test_a_walk_over_functions_reads_the_words_of_each_test_file_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large repository has thousands of both."""
    many = "".join(f"def f{number}(a):\n    return a\n\n\n" for number in range(40))
    (project / "pack" / "many.py").write_text(many)
    for number in range(5):
        (project / "tests" / f"test_{number}.py").write_text(
            "from pack.many import f7\n\n\ndef test(): f7(1)\n"
        )
    listed: list[Path] = []
    words: list[Path] = []
    list_files, read_words = discovery._matching, discovery._words_in
    monkeypatch.setattr(
        discovery, "_matching", lambda folder, deep: listed.append(folder) or list_files(folder, deep)
    )
    monkeypatch.setattr(discovery, "_words_in", lambda file: words.append(file) or read_words(file))
    assert ids(project) == ["pack/code.py::tested", "pack/code.py::documented", "pack/many.py::f7"]
    assert len(words) == len({*words}) == 6
    assert len(listed) == len({*listed})


def test_a_sandbox_finds_what_tests_reach(project: Path) -> None:
    found = {
        problem.id: problem.details["tests"]
        for problem in repository(f"repo:{project}", sandbox=best_sandbox())
    }
    assert found == {
        "pack/code.py::tested": "reached by a test",
        "pack/code.py::inner": "reached by a test",
        "pack/code.py::documented": "doctest",
    }


def test_they_are_targets_that_find_their_own_tests(project: Path) -> None:
    dataset = open_dataset(f"repo:{project}")
    target = targets_of(dataset)[0]
    assert (target.qualname, target.judge) == ("tested", None)
    assert target.document.path == project / "pack/code.py"
    origin = dataset.provenance
    assert (origin.dataset, origin.records, origin.version) == ("repo", 2, "unknown")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_says_what_is_ignored_and_what_changed(project: Path) -> None:
    (project / "made").mkdir()
    (project / "made/code.py").write_text(CODE)
    (project / ".gitignore").write_text("made/\n")
    assert "made/code.py" in python_files(project)
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    assert python_files(project) == ["pack/__init__.py", "pack/code.py", "tests/test_code.py"]
    with pytest.raises(DataError, match=r"no selected Python file .* differs from HEAD"):
        ids(project, since="HEAD")
    (project / "pack/code.py").write_text(CODE.replace("return 1\n", "return 2 - 1\n"))
    assert ids(project, since="HEAD") == ["pack/code.py::documented"]
    (project / "pack/new file.py").write_text(
        'def fresh():\n    """\n    >>> fresh()\n    1\n    """\n    return 1\n'
    )
    assert ids(project, since="HEAD") == ["pack/code.py::documented", "pack/new file.py::fresh"]
    assert repository(f"repo:{project}").provenance.version.endswith("+changes")
    (project / "pack/new file.py").rename(project / "pack/\udcff.py")
    assert ids(project, since="HEAD")[1:] == [
        r"pack/\udcff.py::fresh"
    ]  # a name that is no text, and an id that is
    assert repository(f"repo:{project}", patterns=["pack/\udcff.py"]).provenance.records == 1
    for wrong in ("nowhere", "--output=x"):
        with pytest.raises(DataError):
            changed_lines(project, wrong)


def test_paths_choose_files(project: Path) -> None:
    for pattern in ("pack", "pack/", "pack/code.py", "*/code.py"):
        assert len(ids(project, patterns=[pattern])) == 2
    with pytest.raises(DataError, match=r"none of the 2 Python files .* matches other"):
        ids(project, patterns=["other"])


def test_what_is_no_repository_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        open_dataset(f"repo:{tmp_path / 'nowhere'}")
    with pytest.raises(DataError, match="has no Python files besides tests"):
        list(open_dataset(f"repo:{tmp_path}"))
