from __future__ import annotations

import os
import sys
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.projects import interpreter_for
from counterlens.python.judging.discovery import cases_for, files_with_tests
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.suite import Suite

Project = Callable[[Mapping[str, str]], Path]


def test_modules_are_named_from_the_root_of_their_package(project: Project) -> None:
    folder = project(
        {"src/a/__init__.py": "", "src/a/b/__init__.py": "", "src/a/b/c.py": "", "pyproject.toml": ""}
    )
    place = layout_of(folder / "src/a/b/c.py")
    assert (place.module, place.root, place.project) == ("a.b.c", folder / "src", folder)
    assert place.roots == [folder / "src", folder]
    assert layout_of(folder / "src/a/b/__init__.py").module == "a.b"
    assert layout_of(folder / "alone.py").module == "alone"


def test_relative_imports_tell_of_packages_without_init(project: Project) -> None:
    folder = project({"space/inner/mod.py": "from ..other import x", "space/other.py": "x = 1"})
    place = layout_of(folder / "space/inner/mod.py", "from ..other import x")
    assert (place.module, place.root) == ("space.inner.mod", folder)


def test_a_home_folder_is_not_opened_to_programs(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project({"script.py": "", ".git/config": "", "work/pyproject.toml": "", "work/a.py": ""})
    monkeypatch.setenv("HOME", str(folder))
    assert layout_of(folder / "script.py").readable == ()
    assert layout_of(folder / "work/a.py").readable == (folder / "work",)


def test_the_interpreter_of_the_project_is_used(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    folder = project({"pkg/a.py": "", "pyproject.toml": ""})
    assert interpreter_for(folder / "pkg/a.py") == Path(sys.executable)
    assert interpreter_for(None) == Path(sys.executable)
    venv.create(folder / ".venv", with_pip=False, symlinks=True)
    assert interpreter_for(folder / "pkg/a.py") == folder / ".venv/bin/python"
    (folder / ".venv/bin/python").unlink()
    (folder / ".venv/bin/python").write_text("not an interpreter")
    assert interpreter_for(folder / "pkg/a.py") == Path(sys.executable)


@pytest.fixture
def workspace(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of two packages, with one environment at its root."""
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    folder = project(
        {
            "outer/repo/pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\n",
            "outer/repo/packages/app/pyproject.toml": "[project]\nname = 'app'\n",
            "outer/repo/packages/app/src/app/__init__.py": "",
            "outer/repo/packages/app/src/app/code.py": "",
            "outer/repo/packages/lib/setup.cfg": "",
            "outer/repo/packages/lib/lib.py": "",
        }
    )
    venv.create(folder / "outer/repo/.venv", with_pip=False, symlinks=True)
    return folder / "outer/repo"


CODE = "packages/app/src/app/code.py"


@pytest.mark.parametrize("mark", [".git/HEAD", ".git", ".hg/store"])
def test_members_of_a_workspace_share_its_environment(workspace: Path, mark: str) -> None:
    """`.git` is a file in a submodule, and in a second working tree of a repository."""
    assert interpreter_for(workspace / CODE) == Path(sys.executable)  # nothing says that it is one unit
    (workspace / mark).parent.mkdir(exist_ok=True)
    (workspace / mark).write_text("gitdir: elsewhere\n")
    assert interpreter_for(workspace / CODE) == workspace / ".venv/bin/python"
    assert interpreter_for(workspace / "packages/lib/lib.py") == workspace / ".venv/bin/python"
    venv.create(workspace / "packages/app/venv", with_pip=False, symlinks=True)
    assert interpreter_for(workspace / CODE) == workspace / "packages/app/venv/bin/python"
    assert interpreter_for(workspace / "packages/lib/lib.py") == workspace / ".venv/bin/python"


def test_no_environment_from_above_the_repository_is_used(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace.parent / ".git").mkdir()
    (workspace / "packages" / "app" / ".git").write_text("gitdir: ../../.git/modules/app\n")
    assert interpreter_for(workspace / CODE) == Path(sys.executable)
    assert interpreter_for(workspace / "packages/lib/lib.py") == workspace / ".venv/bin/python"
    monkeypatch.setenv("HOME", str(workspace.parent))  # the settings of a user, under version control
    assert interpreter_for(workspace / "packages/lib/lib.py") == Path(sys.executable)


def test_no_environment_from_a_folder_of_another_user_is_used(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / ".git").mkdir()
    stat = Path.stat

    def stat_as_if_foreign(path: Path, **options: bool) -> os.stat_result:
        found = stat(path, **options)
        return os.stat_result((*found[:4], found.st_uid + (path == workspace), *found[5:]))

    monkeypatch.setattr(Path, "stat", stat_as_if_foreign)
    assert interpreter_for(workspace / CODE) == Path(sys.executable)


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("from pkg.mod import f\ndef test_a(): f()", True),
        ("from pkg.mod import *\ndef test_a(): f()", True),
        ("from pkg.mod import f as g\ndef test_a(): g()", True),
        ("from pkg import f\ndef test_a(): f()", True),
        ("from pkg import mod\ndef test_a(): mod.f()", True),
        ("import pkg.mod\ndef test_a(): pkg.mod.f()", True),
        ("import pkg.mod as m\ndef test_a(): m.f()", True),
        ("def test_a():\n    from pkg.mod import f\n    f()", True),
        ("from pkg.mod import f\ndef check(): f()\ndef test_a(): check()", True),
        ("from pkg.mod import f\nTABLE = [f]\ndef test_a(): TABLE[0]()", True),
        ("from pkg.mod import f\ndef data(): f()\ndef test_a(data): pass", True),
        ("from pkg.mod import f\nclass TestF:\n def setup_method(self): f()\n def test_a(self): pass", True),
        ("from pkg.mod import f\ndef test_a(): pass", False),
        ("from pkg.mod import f\ndef helper(): f()", False),
        ("from elsewhere import f\ndef test_a(): f()", False),
        ("import elsewhere\ndef test_a(): elsewhere.f()", False),
        ("from pkg.mod import g\ndef test_a(): g().f", False),
        ("from pkg.mod import f\ndef test_a(: f()", False),
        ("# f", False),
    ],
)
def test_cases_are_found_by_what_they_mention(project: Project, test: str, found: bool) -> None:
    folder = project({"pkg/__init__.py": "", "pkg/mod.py": "def f(): pass", "tests/unit/test_mod.py": test})
    place = layout_of(folder / "pkg/mod.py")
    files = files_with_tests(place)
    assert files == [folder / "tests/unit/test_mod.py"]
    assert bool(cases_for("f", place, files)) == found


def test_files_are_looked_for_where_tests_live(project: Project) -> None:
    names = ["pkg/test_beside.py", "pkg/tests/test_inner.py", "tests/deep/down/x_test.py", "test_top.py"]
    others = ["tests/.hidden/test_no.py", "tests/helper.py", "elsewhere/test_no.py"]
    folder = project(
        {"pyproject.toml": "", "pkg/__init__.py": "", "pkg/m.py": ""} | dict.fromkeys(names + others, "")
    )
    assert set(files_with_tests(layout_of(folder / "pkg/m.py"))) == {folder / name for name in names}


def test_no_test_file_is_too_far_away_to_be_searched(project: Project) -> None:
    others = {f"tests/test_{number:04}.py": "import os" for number in range(900)}
    last = "tests/test_zz.py"
    files = {"pyproject.toml": "", "m.py": "", **others, last: "from m import f\n\ndef test_f(): f()"}
    place = layout_of(project(files) / "m.py")
    (case,) = cases_for("f", place, files_with_tests(place))
    assert (case.file, case.name) == (place.project / last, "test_f")


def test_the_active_environment_is_used_where_the_project_has_none(
    tmp_path: Path, bare_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_text("")
    monkeypatch.setenv("VIRTUAL_ENV", str(bare_python.parents[1]))
    assert interpreter_for(file) == bare_python
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    assert interpreter_for(file) == Path(sys.executable)


def test_a_suite_has_the_files_inside_and_links_only_to_such(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("x = 1\n")
    project = tmp_path / "project"
    (project / "pkg").mkdir(parents=True)
    (project / "pyproject.toml").touch()
    inside = project / "pkg" / "one.py"
    inside.write_text("x = 1\n")
    (project / "pkg" / "again.py").symlink_to(inside)
    (project / "pkg" / "away.py").symlink_to(outside)
    (project / "pkg" / "nowhere.py").symlink_to(project / "gone.py")
    os.mkfifo(project / "pkg" / "pipe.py")
    (project / ".hidden.py").touch()
    found = set(Suite(project).sources)
    assert inside in found
    assert outside not in found
    assert {path.name for path in found} <= {"one.py", "gone.py"}
