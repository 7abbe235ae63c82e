"""Layout of a Python file: its module name, its project, and the folders it may read."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from counterlens.judging.projects import holds_home, project_around
from counterlens.python.syntax.parsing import parse_module


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
    def package(self) -> str:
        """The dotted name of the package where its relative imports begin; empty outside of one."""
        return self.module if self.path.stem == "__init__" else self.module.rpartition(".")[0]

    @property
    def roots(self) -> list[Path]:
        """The folders for `sys.path`, in order."""
        folders = [self.root, self.project, self.project / "src"]
        return [path for at, path in enumerate(folders) if path.is_dir() and path not in folders[:at]]

    @property
    def readable(self) -> tuple[Path, ...]:
        """The folders that a program may read: the project, but never a whole home folder."""
        return () if holds_home(self.project) else (self.project,)

    def covered_by(self, program: str) -> dict[Path, bytes]:
        """The content that a program sees in place of the file: the program itself, and no bytecode."""
        kept = (self.path.parent / "__pycache__").glob(f"{escape(self.path.stem)}.*.pyc")
        return {self.path: program.encode("utf-8", "replace"), **dict.fromkeys(kept, b"")}


def layout_of(path: Path, text: str = "") -> Layout:
    """Find the place of a file.

    Args:
        text: Its source: relative imports show how deep it is in a package if `__init__.py` is missing.
    """
    path = path.resolve()
    package, project = project_around(path, _relative_depth(text) if text else 0)
    inside = path.relative_to(package).parent.parts
    names = [*inside, *([] if path.stem == "__init__" else [path.stem])]
    return Layout(path, ".".join(names) or path.stem, package, project)


def _relative_depth(text: str) -> int:
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)
