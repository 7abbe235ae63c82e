"""Layout of a Python file: its module name, its project, and the folders it may read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from counterlens import regular_file
from counterlens.judging.projects import holds_home, project_around
from counterlens.python.syntax.parsing import parse_module

LARGEST = 2 << 20  # maximum bytes of a file that is read
TEST_FOLDERS = ("tests", "test")
TEST_FILES = ("test_*.py", "*_test.py")
SETTINGS = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "pyproject.toml": "",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
"""Files with pytest settings, in order of precedence, and the section of each; empty for TOML."""


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


def stamp(path: Path) -> tuple[int, int]:
    """What changes with the content of a file: its time of change and size; zeros without a file."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


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


def imported_place(program: str, own: Layout, tests: ast.Module, at: Layout, original: Path | None) -> Layout:
    """The place that tests import a program from, which need not be its own file.

    Args:
        program: Its text.
        own: The place of its own file.
        tests: The tests.
        at: Their place.
        original: The file of the original, if there is one.
    """
    imported = dict(_imported_files(tests, at))
    if own.path in imported:
        return own
    if original is not None and original.resolve() in imported:
        return layout_of(original)
    defined = _definitions(program)
    same = [path for path in imported if layout_of(path).module == own.module]
    for path in same or [path for path, names in imported.items() if names and names <= defined]:
        try:
            theirs = _definitions(regular_file.read_text(path, errors="replace"))
        except OSError:  # it is too large, or may not be read
            continue
        if path in same or imported[path] <= theirs:  # a module that only passes a name on stays
            return layout_of(path)
    return own


def _imported_files(tests: ast.Module, at: Layout) -> Iterator[tuple[Path, set[str]]]:
    """The files of the project that tests import, and the names that they import from each."""
    names: dict[Path, set[str]] = {}
    for node in ast.walk(tests):
        if isinstance(node, ast.Import):
            for alias in node.names:
                _add(names, at, alias.name, set())
        elif isinstance(node, ast.ImportFrom):
            package = at.package.split(".")
            above = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(filter(None, (above, node.module)))
            wanted = {
                alias.name for alias in node.names if not _add(names, at, f"{module}.{alias.name}", set())
            }
            _add(names, at, module, wanted - {"*"})
    return iter(names.items())


def _add(names: dict[Path, set[str]], at: Layout, module: str, wanted: set[str]) -> bool:
    """Add a module and names imported from it, if it is a file of the project; whether it is."""
    inside = module.replace(".", "/")
    for root in dict.fromkeys((at.root, at.path.parent, *at.roots)):
        for path in (root / f"{inside}.py", root / inside / "__init__.py"):
            if inside and path.is_file():
                names.setdefault(path.resolve(), set()).update(wanted)
                return True
    return False


def _definitions(program: str) -> set[str]:
    """The names of the functions and classes that a program defines at its top level."""
    try:
        body = parse_module(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {
        node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
