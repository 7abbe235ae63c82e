"""A project's test suite: its test files, its modules with examples, and where they are imported from."""

from __future__ import annotations

import configparser
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from counterlens.judging.projects import interpreter_for, is_project
from counterlens.nested_text import parse_toml
from counterlens.python.judging.layout import LARGEST, SETTINGS, TEST_FILES, TEST_FOLDERS, layout_of, stamp
from counterlens.python.judging.sandboxed.recorder.exclusion import is_excluded
from counterlens.regular_file import read_bytes, read_text
from counterlens.sandbox.interpreter import describe
from counterlens.trust import is_inside

_VERSION = 4  # version of the content of baselines
MOST_FILES = 4000
_SKIPPED = {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env"}

_digests: dict[tuple[Path, Path], tuple[int, str]] = {}


@dataclass(frozen=True)
class Suite:
    """The test suite of the project in a folder.

    Attributes:
        excluded: Patterns of tests that do not run and never judge; see `exclusion.py`.
    """

    project: Path
    excluded: tuple[str, ...] = ()

    @cached_property
    def sources(self) -> list[Path]:
        """All Python files of the project with its tests, without hidden, built or installed ones."""
        return sorted(set(_python_files(self.project)), key=str)[:MOST_FILES]

    @cached_property
    def tests(self) -> list[Path]:
        """Its test files, by the project's pytest settings (`testpaths`, `python_files`)."""
        settings = _pytest_settings(self.project)
        patterns = _words(settings.get("python_files")) or TEST_FILES
        files = [
            path for path in self.sources if any(fnmatchcase(path.name, pattern) for pattern in patterns)
        ]
        roots = [
            place for testpath in _words(settings.get("testpaths")) for place in self.project.glob(testpath)
        ]
        inside = [path for path in files if any(path.is_relative_to(root) for root in roots)]
        return inside or files

    @cached_property
    def examples(self) -> list[Path]:
        """Its modules whose docstrings may have examples."""
        tests = set(self.tests)
        return [path for path in self.sources if path not in tests and b">>>" in _content(path)]

    def excludes(self, file: Path, item: str = "") -> bool:
        """Whether a test, or a file with all its tests, is excluded."""
        if not self.excluded or not file.is_relative_to(self.project):
            return False
        return is_excluded(self.excluded, file.relative_to(self.project).as_posix(), item)

    @property
    def notable(self) -> list[Path]:
        """Further files that configure the tests."""
        return [path for name in SETTINGS if (path := self.project / name).is_file()]

    @cached_property
    def roots(self) -> list[Path]:
        """The folders that its packages are imported from, in order."""
        folders = [self.project, self.project / "src"]
        folders += [layout_of(path).root for path in self.sources if path.name == "__init__.py"]
        return [path for path in dict.fromkeys(folders) if path.is_dir()]

    def contents(self) -> Iterator[tuple[Path, bytes]]:
        """Each file that the outcome of the suite depends on, with its content."""
        for path in [*self.sources, *self.notable]:
            yield path, _content(path)


def digest_of(suite: Suite, python: Path) -> str:
    """Return a digest of everything that a baseline depends on: files, interpreter, packages, exclusions."""
    stamps = [(path, *stamp(path)) for path in [*suite.sources, *suite.notable]]
    cached_digest = _digests.get((suite.project, python))
    packages = installed_packages(python)
    version = hash((suite.excluded, *stamps, packages))
    if cached_digest is not None and cached_digest[0] == version:
        return cached_digest[1]
    digest = hashlib.sha256(f"{_VERSION}\0{suite.project}\0{python}\0{packages}".encode())
    if suite.excluded:
        digest.update(f"\0excluded {sorted(suite.excluded)}".encode("utf-8", "replace"))
    for path, content in suite.contents():
        digest.update(f"\0{path}\0{hashlib.sha256(content).hexdigest()}".encode("utf-8", "replace"))
    _digests[suite.project, python] = version, digest.hexdigest()
    return digest.hexdigest()


def installed_packages(python: Path) -> tuple[str, ...]:
    """The packages of an interpreter with their versions, such as `pytest-8.3.0`, and its own version."""
    description = describe(python)
    places = [Path(folder) for folder in description.folders]
    places += [at for place in places for at in place.glob("lib*/python*/*-packages")]
    named = {path.stem for at in dict.fromkeys(places) for path in at.glob("*-info") if path.suffix}
    return f"python {description.version[0]}.{description.version[1]}", *sorted(named)


def circumstances(files: Iterable[Path]) -> dict[str, Any]:
    """The data, besides some files, that verdicts on their functions depend on: plain data, for a manifest.

    Keys: `tests` (SHA-256 over test files, `conftest.py` and settings of tools, by project), `interpreter`
    and `installed` (package to version), by project.
    """
    projects = {layout_of(file).project: file for file in sorted(files, reverse=True)}
    facts: dict[str, Any] = {"tests": {}, "interpreter": {}, "installed": {}}
    for project, file in sorted(projects.items()):
        suite = Suite(project)
        shared = [path for path in suite.sources if path.name == "conftest.py"]
        total = hashlib.sha256()
        for path in sorted({*suite.tests, *shared, *suite.notable}):
            content = hashlib.sha256(_content(path)).hexdigest()
            total.update(f"{path.relative_to(project).as_posix()}\0{content}\n".encode())
        python, *packages = installed_packages(interpreter_for(file))
        facts["tests"][project.name] = total.hexdigest()
        facts["interpreter"][project.name] = python
        parts = (package.rpartition("-") for package in packages)
        facts["installed"][project.name] = {name or version: version for name, _, version in parts}
    return facts


def _python_files(project: Path) -> Iterator[Path]:
    whole = is_project(project)
    for where, folders, files in os.walk(project.resolve()):
        folder = Path(where)
        folders[:] = [name for name in folders if _belongs(folder / name, whole=whole)]
        for name in files:
            if name.endswith(".py") and not name.startswith("."):
                path = folder / name
                # Resolving every path would take most of the time; only a link leads elsewhere.
                if not path.is_symlink():
                    if path.is_file():
                        yield path
                elif is_inside(path, project):
                    yield path.resolve()


def _belongs(folder: Path, *, whole: bool) -> bool:
    """Whether a folder is a part of the project; an unmarked project has only its packages and its tests."""
    name = folder.name
    if name.startswith(".") or name.endswith(".egg") or name in _SKIPPED or (folder / "pyvenv.cfg").is_file():
        return False
    return whole or name in TEST_FOLDERS or (folder / "__init__.py").is_file()


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path, LARGEST)
    except OSError:
        return b""


def _pytest_settings(project: Path) -> Mapping[str, Any]:
    """The project's pytest settings, from the files that pytest reads; empty if there are no valid ones."""
    for name, section in SETTINGS.items():
        try:
            text = read_text(project / name, LARGEST)
            if section:
                parser = configparser.ConfigParser(interpolation=None)
                parser.read_string(text)
                return dict(parser[section])
            options = parse_toml(text)["tool"]["pytest"]
            options = options.get("ini_options", options)
        except (OSError, ValueError, KeyError, AttributeError, configparser.Error):
            continue
        if isinstance(options, dict):
            return options
    return {}


def _words(value: Any) -> Sequence[str]:
    if isinstance(value, str):
        return value.split()
    return [str(word) for word in value] if isinstance(value, list) else []
