"""`repo:PATH`: the user's own repository as a benchmark: its Python functions that have tests.

A function counts if its docstring has examples or a test runs it. With a sandbox, the whole suite runs once
to find such tests; without one, or if the suite cannot run, tests that mention the function count. The tests
that judge a version of a function are chosen by `judging.registry.find_judge`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from counterlens.datasets import git
from counterlens.datasets.base import PREFIX, Dataset, Loader, Problem, Provenance
from counterlens.datasets.changes import Lines, changed_lines
from counterlens.errors import DataError, SourceError
from counterlens.judging.base import LIMITS, MAP_SECONDS, Setting
from counterlens.judging.languages import WhyTested, judging_of
from counterlens.judging.projects import interpreter_for
from counterlens.progress import ProgressCallback
from counterlens.regular_file import sha256_of_file
from counterlens.sandbox.base import Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions
from counterlens.trust import is_inside

_PASSED_OVER = {"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env"}
_TESTS = re.compile(r"(^|/)(tests?/|test_[^/]*\.py$|[^/]*_test\.py$|conftest\.py$)")


class NothingChosenError(DataError):
    """The request has no function to probe: not an error of the repository or of the data."""


class Repository(Loader):
    """A folder of Python files with tests. Never recognised by content: the user writes `repo:PATH`.

    Args:
        since: Only functions that differ from this revision of git.
        patterns: Only files whose relative path is one of these, is in one, or matches one.
        sandbox: The sandbox for one run of the tests, to find the functions that they reach; None to use only
            those that they mention.
        progress: Called with each file, and while tests run.
        map_timeout: Time limit for running the whole suite once, in seconds; 0 for no such run.
        excluded: Patterns of tests that are never used.
    """

    id = "repo"
    title = "repository"
    source = "this machine"
    licence = "as the repository says"
    published: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        since: str | None = None,
        patterns: Sequence[str] = (),
        sandbox: Sandbox | None = None,
        progress: ProgressCallback | None = None,
        map_timeout: float = MAP_SECONDS,
        excluded: Sequence[str] = (),
    ) -> None:
        self._since, self._patterns, self._sandbox = since, tuple(patterns), sandbox
        self._progress, self._map_timeout, self._excluded = progress, map_timeout, tuple(excluded)

    def recognises(self, path: Path) -> int:  # noqa: ARG002 - a folder of code may be anything
        """Always 0: a folder of code is a benchmark only if the user says so."""
        return 0

    def files(self, path: Path) -> list[Path]:
        """The Python files that may have problems, sorted by path.

        Raises:
            DataError: there are none; the message says what was skipped.
        """
        everything = program_files(path)
        if not everything:
            raise DataError(
                f"{path} has no Python files besides tests",
                "Give the folder of a Python project; hidden folders, environments, build results and files "
                "that git ignores are skipped",
            )
        chosen = [file for file in everything if self._wanted(file)]
        if not chosen:
            raise NothingChosenError(
                f"none of the {len(everything)} Python files of {path} matches {', '.join(self._patterns)}",
                f"Patterns are relative to the repository, such as {everything[0]}",
            )
        return [path / file for file in chosen]

    def problems(self, path: Path) -> Iterator[Problem]:
        """The tested functions, file by file.

        Raises:
            DataError: there are no files, git does not know the revision, or nothing has changed since.
        """
        changed = changed_lines(path, self._since) if self._since is not None else None
        files = [candidate for candidate in self.files(path) if changed is None or candidate in changed]
        if not files:
            raise NothingChosenError(
                f"no selected Python file of {path} differs from {self._since}",
                "Give an earlier revision, such as HEAD~1 or main",
            )
        why_tested = judging_of("python").find_why_tested()
        for number, file in enumerate(files):
            if self._progress:
                self._progress(f"looking for tests of {file.relative_to(path)}", number, len(files))
            try:
                document = Document.read(file, "python")
            except SourceError:
                continue  # not text, so there is nothing to probe
            wanted = [
                function
                for function in outermost(document)
                if changed is None or changed[file].overlaps(function.start_line, function.end_line)
            ]
            if wanted:
                lines = changed[file].ranges if changed is not None else None
                yield from self._tested(document, file, path, wanted, lines or (), why_tested)

    def _tested(
        self,
        document: Document,
        file: Path,
        path: Path,
        wanted: Sequence[Function],
        lines: tuple[tuple[int, int], ...],
        why_tested: WhyTested,
    ) -> Iterator[Problem]:
        setting = self._setting(document)
        for function in wanted:
            why = why_tested(document, function, setting)
            if why is None:
                continue
            name = file.relative_to(path).as_posix().encode("utf-8", "backslashreplace").decode()
            yield Problem(
                id=f"{name}::{function.qualname}",
                dataset=self.id,
                language="python",
                source=document.text,
                function=function.qualname,
                details={"tests": why},
                file=file,
                lines=tuple(
                    span for span in lines if Lines((span,)).overlaps(function.start_line, function.end_line)
                ),
            )

    def _setting(self, document: Document) -> Setting | None:
        """The setting for one run of all tests; None if they are not to be run."""
        if self._sandbox is None or document.path is None:
            return None
        return Setting(
            self._sandbox,
            interpreter_for(document.path),
            LIMITS,
            report=self._report,
            vetted=True,
            map_timeout=self._map_timeout,
            excluded=self._excluded,
        )

    def _report(self, what: str) -> None:
        if self._progress:
            self._progress(what, 0, 1)

    def _wanted(self, name: str) -> bool:
        return not self._patterns or any(
            name == pattern or name.startswith(pattern.rstrip("/") + "/") or fnmatch(name, pattern)
            for pattern in self._patterns
        )


@dataclass(frozen=True)
class RepositoryDataset(Dataset):
    """The functions of a repository, searched once."""

    loader: Repository

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    @cached_property
    def provenance(self) -> Provenance:
        """Their origin: the commit, and a hash over the files with problems."""
        total = hashlib.sha256()
        for file in sorted({problem.file for problem in self._found if problem.file is not None}):
            content = sha256_of_file(file)
            total.update(os.fsencode(f"{file.relative_to(self.path).as_posix()}\0{content}\n"))
        return Provenance(
            dataset=self.loader.id,
            title=self.path.name,
            source=self.loader.source,
            licence=self.loader.licence,
            version=git.commit(self.path),
            sha256=total.hexdigest(),
            records=len(self._found),
            path=self.path,
        )

    @cached_property
    def _found(self) -> list[Problem]:
        problems = list(self.loader.problems(self.path))
        if not problems:
            raise NothingChosenError(
                f"no selected function of {self.path} has tests",
                "Add a doctest, or a test_*.py that calls it; --since and --paths exclude all other files",
            )
        return problems


def repository(
    spec: str,
    *,
    since: str | None = None,
    patterns: Sequence[str] = (),
    sandbox: Sandbox | None = None,
    progress: ProgressCallback | None = None,
    map_timeout: float = MAP_SECONDS,
    excluded: Sequence[str] = (),
) -> RepositoryDataset:
    """The dataset of `repo:PATH`; the arguments are those of `Repository`.

    Raises:
        DataError: there is no such folder.
    """
    path = Path(spec.removeprefix(PREFIX) or ".").expanduser()
    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise DataError(f"{path} {what}", "repo: takes the folder of a repository, such as repo:.")
    loader = Repository(since, patterns, sandbox, progress, map_timeout, excluded)
    return RepositoryDataset(loader, path.resolve())


def python_files(path: Path) -> list[str]:
    """The Python files of a folder that git does not ignore, or without git, that no usual rule ignores."""
    listed = git.list_files(path, "--cached", "--others", "--exclude-standard", "--", "*.py")
    if listed is None:
        listed = list(_walk(path))
    names = {name for name in listed if _ours(Path(name), path)}
    return sorted(name for name in names if _is_inside(path / name, path))


def program_files(path: Path) -> list[str]:
    """The Python files of a folder, as `python_files`, besides tests."""
    return [name for name in python_files(path) if not _TESTS.search(name)]


def _walk(path: Path) -> Iterator[str]:
    for where, folders, names in os.walk(path):
        here = Path(where)
        folders[:] = sorted(name for name in folders if _ours(Path(name) / "any.py", here))
        yield from ((here / name).relative_to(path).as_posix() for name in names if name.endswith(".py"))


def _is_inside(file: Path, path: Path) -> bool:
    """Whether a file is in the folder, and not a link to one elsewhere."""
    try:
        return file.is_file() and is_inside(file, path)
    except (OSError, RuntimeError):  # circular links
        return False


def _ours(name: Path, path: Path) -> bool:
    folders = name.parts[:-1]
    if any(part in _PASSED_OVER or part.startswith(".") for part in folders):
        return False
    return not any(_environment(path.joinpath(*folders[: i + 1])) for i in range(len(folders)))


def _environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").exists()


def outermost(document: Document) -> list[Function]:
    """Functions and methods that are not inside others; the last one of each name."""
    all_functions = functions(document)
    outer = [function for function in all_functions if not any(g.holds(function) for g in all_functions)]
    return list({function.qualname: function for function in outer}.values())
