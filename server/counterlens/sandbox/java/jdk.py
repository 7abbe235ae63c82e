"""Finds the Java development kit."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from counterlens.environment import outside_project
from counterlens.errors import SandboxError
from counterlens.processes import find_program

OLDEST = 17
"""The oldest version that the worker supports."""
INSTALL = f"Install a Java development kit, version {OLDEST} or later, or set JAVA_HOME. " + (
    "On macOS: brew install openjdk"
    if sys.platform == "darwin"
    else "On Debian or Ubuntu: sudo apt-get install default-jdk-headless"
)
_USUAL = (
    "/usr/lib/jvm/*", "/usr/java/*", "/opt/*jdk*", "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home", "/opt/homebrew/opt/openjdk*",
    "/usr/local/opt/openjdk*",
    "~/.sdkman/candidates/java/*", "~/.jdks/*", "~/Library/Java/JavaVirtualMachines/*/Contents/Home",
)  # fmt: skip
_VERSION = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)([^"]*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Jdk:
    """A Java development kit.

    Attributes:
        home: Its folder, without links.
        version: Its version, such as `17.0.15`.
        found: How it was found: `JAVA_HOME`, `PATH`, or the folder that was searched.
    """

    home: Path
    version: str
    found: str

    @property
    def major(self) -> int:
        """The first number of its version."""
        return int(re.split(r"\D", self.version, maxsplit=1)[0])

    @property
    def java(self) -> Path:
        """The executable of the JVM."""
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path:
        """The compiler."""
        return self.home / "bin" / "javac"

    @property
    def folders(self) -> tuple[Path, ...]:
        """The paths that a confined JVM must read: the kit, and Debian's settings of it."""
        return (self.home, *_linked_paths(self.home))


def find_jdk() -> Jdk:
    """The kit of `JAVA_HOME`, else of the `javac` on `PATH`, else the newest in the usual folders.

    Raises:
        SandboxError: none is new enough; the message says what was found, and what to install.
    """
    too_old = []
    for how, home in _candidates():
        kit = _kit(home, how)
        if kit is None or not outside_project([str(kit.home)]):  # its compiler runs outside of the sandbox
            continue
        if kit.major >= OLDEST:
            return kit
        too_old.append(f"{kit.version} in {kit.home}")
    note = f"; too old: {', '.join(dict.fromkeys(too_old))}" if too_old else ""
    raise SandboxError(f"Java programs cannot be run: no Java development kit was found{note}", INSTALL)


def _candidates() -> Iterator[tuple[str, Path]]:
    named = os.environ.get("JAVA_HOME", "")
    if os.path.isabs(named):  # noqa: PTH117 - a relative one would depend on the working directory
        yield "JAVA_HOME", Path(named)
    compiler = find_program("javac")
    if compiler is not None:
        yield "PATH", Path(compiler).resolve().parent.parent
    homes = [(path, pattern) for pattern in _USUAL for path in _matching(pattern)]
    kits = [(kit.major, str(kit.home), kit) for path, how in homes if (kit := _kit(path, how)) is not None]
    for _, _, kit in sorted(kits, key=lambda each: each[:2], reverse=True):
        yield kit.found, kit.home


def _matching(pattern: str) -> list[Path]:
    whole = Path(pattern).expanduser()
    fixed = next(i for i, part in enumerate(whole.parts) if "*" in part)
    base = Path(*whole.parts[:fixed])
    try:
        return sorted(base.glob(str(Path(*whole.parts[fixed:]))))
    except OSError:
        return []


def _kit(home: Path, how: str) -> Jdk | None:
    """The kit in a folder; None if there is no compiler, or no version. No program of it runs."""
    try:
        real = home.resolve(strict=True)
        if not all(os.access(real / "bin" / name, os.X_OK) for name in ("java", "javac")):
            return None
        version = _VERSION.search((real / "release").read_text("utf-8", "replace"))
    except (OSError, RuntimeError):
        return None
    return Jdk(real, version[1] + version[2], how) if version else None


@lru_cache(maxsize=8)
def _linked_paths(home: Path) -> tuple[Path, ...]:
    """The targets outside of the kit of links in its settings and libraries."""
    targets = set()
    for folder in ("conf", "lib"):
        for path in (home / folder).rglob("*"):
            target = path.resolve() if path.is_symlink() else home
            if not target.is_relative_to(home):
                targets.add(target)
    own = {Path(*path.parts[:3]) for path in targets if re.match(r"/etc/(java|openjdk)", str(path))}
    return tuple(sorted(own | {path for path in targets if not any(path.is_relative_to(at) for at in own)}))
