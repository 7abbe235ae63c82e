"""Search paths and environments keep what is the user's, and lose what is the current project's."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import counterlens
from counterlens import environment
from counterlens.environment import (
    close_environment,
    close_search_path,
    closed_environment,
    leave_current_folder,
    outside_project,
)
from counterlens.processes import find_program, run, start

ROOT = str(Path(counterlens.__file__).parents[1])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose folder `inner` is the current folder; `elsewhere` is beside it."""
    for name in ("project/.git", "project/inner", "project/lib", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "project" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "project" / "lib")
    monkeypatch.chdir(tmp_path / "project" / "inner")
    monkeypatch.delenv("COUNTERLENS_TRUST", raising=False)
    return tmp_path / "project"


def test_a_path_is_outside_by_where_it_leads(project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    given = [
        "",
        ".",
        "lib",
        "../lib",
        str(project),
        f"{project}/lib",
        f"{elsewhere}/back",
        f"{project}/inner",
    ]
    kept = [str(elsewhere), f"{project}/link", f"{project}-2", ROOT]
    assert outside_project([*given, *kept]) == kept


@pytest.mark.usefixtures("project")
def test_the_folders_of_python_itself_are_not_part_of_a_project(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = [os.path.dirname(os.__file__), *site.getsitepackages()]  # noqa: PTH120
    monkeypatch.setattr(environment, "_project_around", lambda _: os.path.dirname(ROOT))  # noqa: PTH120
    assert outside_project([*installed, str(Path(ROOT).parent)]) == installed


def test_a_trusted_project_keeps_its_absolute_paths(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERLENS_TRUST", "1")
    assert outside_project(["", "lib", str(project / "lib")]) == [str(project / "lib")]


def test_a_home_is_no_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project / "inner" / "user"))
    monkeypatch.setenv("USERPROFILE", str(project / "inner" / "user"))
    assert outside_project([str(project / "lib"), str(project / "inner"), "lib"]) == [str(project / "lib")]


def test_the_bundle_of_the_extension_stays_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native, common = tmp_path / "libs" / "cp311", tmp_path / "libs" / "common"
    common.mkdir(parents=True)
    monkeypatch.setattr(environment, "_ROOT", str(common))
    monkeypatch.setattr(environment, "_BUNDLE", str(tmp_path / "libs"))
    monkeypatch.chdir(tmp_path)  # the server's folder is the extension's own
    monkeypatch.delenv("COUNTERLENS_TRUST", raising=False)
    paths = [str(native), str(common)]
    assert outside_project(paths) == [str(common)]
    (tmp_path / "libs" / "bundle.json").touch()
    assert outside_project(paths) == paths
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    assert closed_environment()["PYTHONPATH"] == os.pathsep.join(paths)


def test_variables_that_name_code_of_the_project_are_left_out(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = str(project.parent / "elsewhere")
    for name in ("PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS"):
        monkeypatch.setenv(name, "x")
    for name in ("PYTHONPYCACHEPREFIX", "PYTHONUSERBASE", "GGML_BACKEND_PATH", "LLAMA_CPP_LIB_PATH"):
        monkeypatch.setenv(name, str(project / "lib"))
    for name in ("CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PYTHONPATH", f":lib:{project}/lib:{elsewhere}")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":")
    monkeypatch.setenv("PATH", f".:{elsewhere}::/usr/bin")
    monkeypatch.setenv("PYTHONUTF8", "1")
    found = closed_environment({"MINE": "1"})
    python = {
        name: value for name, value in found.items() if name.startswith("PYTHON") and name != "PYTHONUTF8"
    }
    assert python.pop("PYTHONPATH").split(os.pathsep)[0] == elsewhere
    assert not {name for name in python if name not in environment._HARMLESS}
    assert found["PATH"] == f"{elsewhere}:/usr/bin"
    assert (found["PYTHONUTF8"], found["MINE"], "LD_LIBRARY_PATH" in found) == ("1", "1", False)
    assert not {name for name in found if "JAVA" in name or name in {"CLASSPATH", "GGML_BACKEND_PATH"}}
    monkeypatch.setenv("PYTHONUSERBASE", elsewhere)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    close_environment()
    assert os.environ["PYTHONUSERBASE"] == elsewhere
    assert "PYTHONSTARTUP" not in os.environ


@pytest.mark.parametrize("safe_path", [False, True])
def test_a_process_loses_what_the_variable_and_the_option_added(
    project: Path, monkeypatch: pytest.MonkeyPatch, safe_path: bool
) -> None:
    """With `-P`, Python does not add the current folder, so whoever added it meant it."""
    monkeypatch.setattr(sys, "flags", SimpleNamespace(safe_path=safe_path, ignore_environment=0))
    elsewhere, here = str(project.parent / "elsewhere"), str(project / "inner")
    monkeypatch.setenv("PYTHONPATH", f":{elsewhere}")
    monkeypatch.setattr(sys, "path", [here, elsewhere, "/usr/lib/x"])
    close_search_path()
    assert sys.path == [elsewhere, "/usr/lib/x"]
    sys.path.insert(0, here)
    leave_current_folder()
    leave_current_folder()
    assert sys.path == [*([here] if safe_path else []), elsewhere, "/usr/lib/x"]


def test_a_removed_folder_is_no_obstacle(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = str(project.parent / "elsewhere")
    (project / "inner").rmdir()
    monkeypatch.setenv("PYTHONPATH", f":{elsewhere}")
    monkeypatch.setattr(sys, "path", [elsewhere, "/usr/lib/x"])
    close_search_path()
    leave_current_folder()
    assert sys.path == [elsewhere, "/usr/lib/x"]
    assert closed_environment()["PYTHONPATH"].startswith(elsewhere)


def test_another_program_that_imports_the_package_keeps_its_path(project: Path) -> None:
    show = (
        "import sys; path = sys.path[:]; import counterlens.models, counterlens.mcp; print(path == sys.path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", show], cwd=project, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_programs_are_found_outside_of_the_project_and_called_by_their_path(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [project / "inner", project / "lib", project.parent / "elsewhere"]
    for place in places:
        (place / "tool").write_text("#!/bin/sh\n")
        (place / "tool").chmod(0o755)
    (project.parent / "elsewhere" / "text").write_text("")
    monkeypatch.setenv("PATH", f":.:{places[1]}:{places[2]}")
    assert find_program("tool") == str(places[2] / "tool")
    assert find_program("text") is None
    for begin in (lambda: start(["tool"]), lambda: run(["./tool"], seconds=1, cwd=project)):
        with pytest.raises(OSError, match="is not the path of a program"):
            begin()
