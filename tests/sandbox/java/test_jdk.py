"""A development kit is found by JAVA_HOME, on PATH or in the usual folders, and only a usable one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from counterlens.errors import SandboxError
from counterlens.sandbox.java import machine
from counterlens.sandbox.java.machine import find_jdk

Kits = Callable[..., Path]


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kits:
    """Makes a folder that looks like a kit; none of the machine's own is found."""
    monkeypatch.setattr(machine, "_USUAL", (f"{tmp_path}/usual/*",))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    def make(name: str, version: str, programs: tuple[str, ...] = ("java", "javac")) -> Path:
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
        for program in programs:
            (home / "bin" / program).touch(0o755)
        return home

    return make


def test_java_home_comes_first_then_path_then_the_newest(
    kit: Kits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit("usual/a", "21.0.2")
    kit("usual/b", "25")
    assert (find_jdk().version, find_jdk().found) == ("25", f"{tmp_path}/usual/*")
    on_path = kit("path", "17.0.1")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "javac").symlink_to(on_path / "bin" / "javac")
    monkeypatch.setenv("PATH", f"{tmp_path}/links")
    assert (find_jdk().home, find_jdk().found) == (on_path, "PATH")
    home = kit("home", "19")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert (find_jdk().home, find_jdk().major, find_jdk().found) == (home, 19, "JAVA_HOME")


def test_what_is_too_old_or_has_no_compiler_is_passed_over(
    kit: Kits, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = kit("old", "1.8.0_402")
    monkeypatch.setenv("JAVA_HOME", str(old))
    kit("usual/runtime", "21", ("java",))
    with pytest.raises(SandboxError, match="too old: 8") as caught:
        find_jdk()
    assert "Install a Java development kit, version 17 or later" in str(caught.value)
    wanted = kit("usual/kit", "17.0.9")
    assert find_jdk().home == wanted


def test_settings_elsewhere_are_readable_too(kit: Kits) -> None:
    home = kit("usual/kit", "17.0.9")
    (home / "conf").mkdir()
    beside = home.parent.parent / "settings"
    beside.touch()
    (home / "conf" / "java.security").symlink_to(beside)
    assert find_jdk().folders == (home, beside)


def test_a_kit_in_the_current_project_is_passed_over(
    kit: Kits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = kit("usual/kit", "17.0.9")
    monkeypatch.delenv("COUNTERLENS_TRUST", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(kit("project/kit", "21")))
    assert find_jdk().major == 21
    monkeypatch.chdir(tmp_path / "project")
    assert find_jdk().home == wanted
