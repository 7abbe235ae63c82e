"""Layout of a source file: its module name, project, interpreter, and the folders it may read."""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from counterlens.errors import SandboxError
from counterlens.python.syntax.parsing import parse_module
from counterlens.sandbox.interpreter import describe
from counterlens.trust import repository_of

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", ".git", ".hg")
_ENVIRONMENTS = (".venv", "venv")


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of a source file.

    Attributes:
        path: The file, absolute, links resolved.
        module: Its dotted module name.
        root: The folder that must be on `sys.path` for that name.
        project: The folder of the project; `root` if nothing marks one.
    """

    path: Path
    module: str
    root: Path
    project: Path

    @property
    def roots(self) -> list[Path]:
        """The folders for `sys.path`, in order."""
        found = [self.root, self.project, self.project / "src"]
        return [path for at, path in enumerate(found) if path.is_dir() and path not in found[:at]]

    @property
    def readable(self) -> tuple[Path, ...]:
        """The folders that a program may read: the project, but never a whole home folder."""
        return () if _holds_home(self.project) else (self.project,)

    def covered_by(self, program: str) -> dict[Path, bytes]:
        """The content that a program sees in place of the file: the program itself, and no bytecode."""
        kept = (self.path.parent / "__pycache__").glob(f"{escape(self.path.stem)}.*.pyc")
        return {self.path: program.encode("utf-8", "replace"), **dict.fromkeys(kept, b"")}


_confined: set[Path] = set()


def confine(folder: Path) -> None:
    """Treat nothing above a folder as part of the projects in it, until this process ends."""
    _confined.add(folder.resolve())


def bound_of(path: Path) -> Path | None:
    """The folder that bounds a file's project; None if there is none."""
    bounds = [folder for folder in _confined if path.is_relative_to(folder)]
    return max(bounds, key=lambda folder: len(folder.parts), default=None)


def layout_of(path: Path, text: str = "") -> Layout:
    """Find the place of a file.

    Args:
        path: The file.
        text: Its source: relative imports show how deep it is in a package if `__init__.py` is missing.
    """
    path = path.resolve()
    folder = path.parent
    names = [] if path.stem == "__init__" else [path.stem]
    depth = _relative_depth(text) if text else 0
    bound = bound_of(path)
    while folder != bound and folder != folder.parent and ((folder / "__init__.py").is_file() or depth > 0):
        names.insert(0, folder.name)
        folder = folder.parent
        depth -= 1
    around = [above for above in (folder, *folder.parents) if bound is None or above.is_relative_to(bound)]
    project = next(filter(is_project, around), bound or folder)
    if _holds_home(project):
        project = folder
    return Layout(path, ".".join(names) or path.stem, folder, project)


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
    place, bound = layout_of(path), bound_of(path.resolve())
    folders = [place.path.parent, *place.path.parent.parents]
    own = folders[: folders.index(place.project) + 1]
    top = repository_of(place.path)
    if _holds_home(top) or (bound is not None and not top.is_relative_to(bound)):
        return own
    owner = place.project.stat().st_uid
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


def _holds_home(folder: Path) -> bool:
    home = Path.home().resolve()
    return folder == home or folder in home.parents


def _relative_depth(text: str) -> int:
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)
