"""Static discovery of the test cases that mention a function; nothing is run.

A case counts if its code mentions the function under a name that the test file imported from the function's
module, directly or through fixtures and other definitions of the file and of its `conftest.py`. A method
counts as mentioned if its name and its class are; a special method if its class is. The search
over-approximates if a name is shadowed, and misses functions that are reached only through other code,
strings, or modules loaded by path.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from counterlens import regular_file
from counterlens.python.judging.layout import TEST_FILES, TEST_FOLDERS, Layout, stamp
from counterlens.python.syntax.parsing import parse_module

_SKIPPED = {"__pycache__", "node_modules", "site-packages", "venv"}
MOST_PARSED = 500
"""Maximum test files, the nearest first, that are parsed whatever they mention."""
_MOST_ANSWERS = 1 << 15
_LARGEST = 1 << 20  # maximum bytes of a test file
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class CaseName:
    """One test case: a function of a file, or a method of a class in it."""

    file: Path
    owner: str
    name: str


def files_with_tests(
    place: Layout, matching: Callable[[Path, bool], Iterable[Path]] | None = None
) -> list[Path]:
    """The test files beside a source file, beside its packages, and in `tests` folders of its project.

    All of them: the nearest first.

    Args:
        matching: Lists the test files of a folder, also below it if so asked; by default anew.
    """
    list_files = matching or _matching
    folders = [place.path.parent]
    while folders[-1] != place.project and place.project in folders[-1].parents:
        folders.append(folders[-1].parent)
    files: dict[Path, None] = {}
    for folder in dict.fromkeys([*folders, place.root]):
        for path in list_files(folder, False):
            files[path] = None
        for name in TEST_FOLDERS:
            for path in list_files(folder / name, True):
                files[path] = None
    files.pop(place.path, None)
    return list(files)


def read_text(path: Path, largest: int) -> str | None:
    """The text of a file; None if it cannot be read, or exceeds the size limit."""
    try:
        return regular_file.read_text(path, largest, errors="replace")
    except OSError:
        return None


def cases_for(qualname: str, place: Layout, files: Iterable[Path]) -> list[CaseName]:
    """The test cases that mention a function.

    Args:
        qualname: The function's dotted path within its module.
        place: The folder of its file.
        files: The test files to search; those that cannot be parsed are skipped.
    """
    stamped = ((file, (stamp(file), stamp(file.parent / "conftest.py"))) for file in files)
    return [case for each in stamped for case in _cases_in(*each, qualname, place.module)]


class TestFileIndex:
    """The test files of projects and their words, for a walk over many functions while no file changes.

    Without it, each function would list every folder of tests and read every file in it again.
    """

    def __init__(self) -> None:
        self._matching = lru_cache(maxsize=None)(lambda folder, deep: tuple(_matching(folder, deep)))
        self._words = lru_cache(maxsize=None)(_words_in)
        self._files = lru_cache(maxsize=1)(lambda place: tuple(files_with_tests(place, self._matching)))

    def cases_for(self, qualname: str, place: Layout) -> list[CaseName]:
        """The test cases that mention a function; see `cases_for`."""
        word = qualname.partition(".")[0]
        return cases_for(qualname, place, [file for file in self._files(place) if word in self._words(file)])


def _words_in(file: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", read_text(file, _LARGEST) or ""))


def _matching(folder: Path, deep: bool) -> Iterator[Path]:
    try:
        top = folder.resolve()
    except (OSError, RuntimeError):  # a cycle of links
        return
    paths = sorted(_names(top) if deep else _visible_paths(top))
    for pattern in TEST_FILES:
        for path in paths:
            if fnmatchcase(path.name, pattern) and path.is_file():
                actual = path.resolve() if path.is_symlink() else path  # no folder above it is a link
                if actual.is_relative_to(top):
                    yield actual


def _names(folder: Path) -> Iterator[Path]:
    """All files under a folder, without hidden, installed, or meanwhile deleted ones."""
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
        yield from (Path(where) / name for name in files if not name.startswith("."))


def _visible_paths(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError:
        return []


@lru_cache(maxsize=_MOST_ANSWERS)
def _cases_in(file: Path, stamps: object, qualname: str, module: str) -> tuple[CaseName, ...]:  # noqa: ARG001
    """The cases of one file; a function is asked about many times, and a project has many files.

    Args:
        stamps: Those of the file and its `conftest.py`: another content is another question.
    """
    return tuple(_search(file, qualname, module))


def _search(file: Path, qualname: str, module: str) -> Iterator[CaseName]:
    names = qualname.split(".")
    tree = _parse(file, must_mention=names[0])
    if tree is None:
        return
    imports = Imports(tree, names[0], module)
    if not imports.direct and not imports.modules:
        return
    definitions = _definitions(tree)
    conftest = file.parent / "conftest.py"
    fixtures = _parse(conftest) if conftest.is_file() else None
    if fixtures is not None:
        definitions = {**_definitions(fixtures), **definitions}
    for node in tree.body:
        if isinstance(node, _Definition) and node.name.startswith("test"):
            if _mentions([node], definitions, names, imports):
                yield CaseName(file, "", node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [child for child in node.body if isinstance(child, _Definition)]
            around = [child for child in node.body if child not in methods]
            around += [method for method in methods if not method.name.startswith("test")]
            for method in methods:
                if method.name.startswith("test") and _mentions(
                    [method, *around, *node.bases], definitions, names, imports
                ):
                    yield CaseName(file, node.name, method.name)


def _parse(file: Path, must_mention: str = "") -> ast.Module | None:
    try:
        data = regular_file.read_bytes(file, _LARGEST)
        return parse_module(data) if must_mention.encode() in data else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Imports:
    """The names under which a test file imports the function (or its class), and the function's module."""

    def __init__(self, tree: ast.Module, wanted: str, module: str) -> None:
        self.direct: set[str] = set()
        self.modules: set[str] = set()
        last = module.rpartition(".")[2]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                source = node.module or ""
                related = node.level > 0 or last in source.split(".") or module.startswith(source + ".")
                for alias in node.names:
                    bound = alias.asname or alias.name
                    if related and alias.name in {wanted, "*"}:
                        self.direct.add(wanted if alias.name == "*" else bound)
                    if alias.name == last:
                        self.modules.add(bound)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if last in alias.name.split(".") or module.startswith(alias.name + "."):
                        self.modules.add(alias.asname or alias.name.partition(".")[0])

    def reaches(self, node: ast.AST) -> bool:
        """Whether a node names the function or its class."""
        return isinstance(node, ast.Name) and node.id in self.direct

    def through_module(self, node: ast.Attribute) -> bool:
        """Whether an attribute is looked up in the function's module, at any depth."""
        inner: ast.expr = node.value
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        return isinstance(inner, ast.Name) and inner.id in self.modules


def _definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """The top-level definitions of a file, by name."""
    definitions: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, _Definition | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        definitions[name.id] = node
    return definitions


def _mentions(
    start: Sequence[ast.AST],
    definitions: dict[str, ast.AST],
    names: list[str],
    imports: Imports,
) -> bool:
    holder, own = names[0], names[-1]
    method = len(names) > 1
    holder_seen, own_seen = False, not method or (own.startswith("__") and own.endswith("__"))
    waiting: list[ast.AST] = list(start)
    done: set[str] = set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            used = None
            if isinstance(node, ast.Name):
                used = node.id
                holder_seen |= imports.reaches(node)
            elif isinstance(node, ast.arg):
                used = node.arg  # a fixture
            elif isinstance(node, ast.Attribute):
                holder_seen |= node.attr == holder and imports.through_module(node)
                own_seen |= method and node.attr == own
            if used is not None and used in definitions and used not in done:
                done.add(used)
                waiting.append(definitions[used])
            if holder_seen and own_seen:
                return True
    return False
