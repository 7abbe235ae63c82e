"""The project around a file: what marks it, what bounds it, and the interpreter that it brings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from counterlens.errors import SandboxError
from counterlens.sandbox.interpreter import describe
from counterlens.trust import repository_of

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", ".git", ".hg")
_ENVIRONMENTS = (".venv", "venv")

_confined: set[Path] = set()


def confine(folder: Path) -> None:
    """Treat nothing above a folder as part of the projects in it, until this process ends."""
    _confined.add(folder.resolve())


def bound_of(path: Path) -> Path | None:
    """The folder that bounds a file's project; None if there is none."""
    bounds = [folder for folder in _confined if path.is_relative_to(folder)]
    return max(bounds, key=lambda folder: len(folder.parts), default=None)


def project_around(path: Path, depth: int = 0) -> tuple[Path, Path]:
    """The folder that holds the package of a file, and the folder of its project.

    Args:
        path: The file, absolute, links resolved.
        depth: How deep it is in a package at least, if `__init__.py` is missing.
    """
    folder, bound = path.parent, bound_of(path)
    while folder != bound and folder != folder.parent and ((folder / "__init__.py").is_file() or depth > 0):
        folder = folder.parent
        depth -= 1
    around = [above for above in (folder, *folder.parents) if bound is None or above.is_relative_to(bound)]
    project = next(filter(is_project, around), bound or folder)
    return folder, folder if holds_home(project) else project


def interpreter_for(path: Path | None) -> Path:
    """The interpreter of a file's project or its workspace, else of the active environment, else our own."""
    for folder in folders_around(path) if path is not None else ():
        for name in _ENVIRONMENTS:
            python = folder / name / "bin" / "python"
            if python.is_file() and (folder / name / "pyvenv.cfg").is_file() and _works(python):
                return python
    active = os.environ.get("VIRTUAL_ENV")
    if active and _works(Path(active) / "bin" / "python"):
        return Path(active) / "bin" / "python"
    return Path(sys.executable)


def folders_around(path: Path) -> list[Path]:
    """The folders that may configure a file: from its own to its project's, and on to its repository's.

    A repository is trusted as a unit, and nothing above it is. A folder of another user is left out, too:
    whoever may write to a shared folder could put a `.git` and an environment around the projects of others.
    """
    path = path.resolve()
    (_, project), bound = project_around(path), bound_of(path)
    folders = [*path.parents]
    own = folders[: folders.index(project) + 1]
    top = repository_of(path)
    if holds_home(top) or (bound is not None and not top.is_relative_to(bound)):
        return own
    try:
        owner = project.stat().st_uid
    except OSError:  # a file of the editor whose folder is not on disk
        return own
    for folder in folders[len(own) :]:
        if not folder.is_relative_to(top) or folder.stat().st_uid != owner:
            break
        own.append(folder)
    return own


def _works(python: Path) -> bool:
    try:
        describe(python)
    except SandboxError:
        return False
    return True


def is_project(folder: Path) -> bool:
    """Whether a folder is marked as a project: by a configuration file of tools, or by version control."""
    return any((folder / marker).exists() for marker in _MARKERS)


def holds_home(folder: Path) -> bool:
    """Whether a folder is the home folder of the user, or above it."""
    home = Path.home().resolve()
    return folder == home or folder in home.parents
