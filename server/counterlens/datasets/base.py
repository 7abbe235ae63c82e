"""The interface of every dataset: problems, one at a time, and their source."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from counterlens.errors import DataError
from counterlens.regular_file import reason_of, sha256_of_file

PREFIX = "repo:"
"""The beginning of the name of a repository's tested functions."""
UNKNOWN = "unknown"
"""The version of data that is not published."""


class TestForm(StrEnum):
    """The format of a problem's tests."""

    __test__ = False  # not a test class, whatever its name suggests to a test runner

    PYTHON = "python"  # statements that run after the program, in its namespace, and raise if it is wrong
    JAVA_MAIN = "java-main"  # a class `Main` whose `main` throws if the program is wrong
    STDIO = "stdio"  # the program's standard input, and its expected output


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a whole program: its standard input, and its expected output."""

    input: str
    output: str


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of a problem.

    Attributes:
        text: The code; empty for `TestForm.STDIO`.
        cases: The runs; empty for the other forms.
    """

    __test__ = False

    form: TestForm
    text: str = ""
    cases: tuple[Case, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One record of a dataset.

    Attributes:
        id: Its id in the dataset, such as `HumanEval/0`.
        dataset: The id of the loader, such as `humaneval`.
        language: `python` or `java`.
        source: The whole program, with the reference solution. Line ends as they are in the dataset.
        function: Qualified name of the tested function; None if the whole program is tested.
        prompt: The start of the program that the dataset shows to a model: `source` starts with it.
        description: The task, in natural language.
        tests: The tests; None if the dataset has none.
        base_tests: The tests of the dataset that this one extends; None if it extends none.
        call: A call of the function, such as `f([1, 2])`, if the dataset gives one input.
        output: The result of the call, as a literal.
        buggy: The whole program with a wrong solution, if the dataset has one.
        details: Further facts, such as `bug_type`.
        file: The program's path, if its tests are searched beside it.
        unusable: Why it cannot be probed, for example because it is Python 2; it is never sampled.
        lines: The lines to probe, as first and last, 1-based; empty for all.
        task: Its id without the language, the same in every language that the dataset is in; empty if it is
            in one.
    """

    id: str
    dataset: str
    language: str
    source: str
    function: str | None = None
    prompt: str | None = None
    description: str = ""
    tests: Tests | None = None
    base_tests: Tests | None = None
    call: str | None = None
    output: str | None = None
    buggy: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    unusable: str = ""
    lines: tuple[tuple[int, int], ...] = ()
    task: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The source of problems: the facts with which a manifest identifies them.

    Attributes:
        dataset: The id of the loader.
        title: Its usual name.
        source: Its publication.
        licence: Its licence, as an SPDX expression if there is one.
        version: The published version; `unknown` if the content is none of them.
        sha256: Hash of the file; for a folder, over the names and contents of the files that were read.
        records: Number of problems.
    """

    dataset: str
    title: str
    source: str
    licence: str
    version: str
    sha256: str
    records: int
    path: Path


class Loader(ABC):
    """Reads one published format. To add a dataset: write its file, and add a line to the registry.

    Attributes:
        id: Its name on the command line.
        family: The id of the format of which this is a variant; its name finds both.
        whole: The id of the format whose data this selects a part of; it is never recognised, only named.
        title: Its usual name.
        licence: Licence of the data.
        published: SHA-256 of the published files, with the version of each.
        hub: Its address for the `datasets` library: (repository, configuration, split); None if it is not
            there.
    """

    id: ClassVar[str]
    family: ClassVar[str | None] = None
    whole: ClassVar[str | None] = None
    title: ClassVar[str]
    source: ClassVar[str]
    licence: ClassVar[str]
    published: ClassVar[Mapping[str, str]] = {}
    hub: ClassVar[tuple[str, str | None, str] | None] = None

    @abstractmethod
    def recognises(self, path: Path) -> int:
        """The certainty that a file or folder has this format; 0 if it does not, and the greatest one wins.

        It reads the first record only, and never raises.
        """

    @abstractmethod
    def problems(self, path: Path) -> Iterator[Problem]:
        """The problems of a file or folder, in order, read on demand.

        Raises:
            DataError: it cannot be read, or a record is malformed; the message says which and why.
        """

    def installed(self) -> Path | None:
        """The path of the data in an installed Python package, if there is one."""
        return None

    def version(self, path: Path, sha256: str) -> str:  # noqa: ARG002 - some loaders know it from the path
        """The published version of some data, if any."""
        return self.published.get(sha256, UNKNOWN)


@dataclass(frozen=True)
class Dataset:
    """Data of one format in one place; an iterable of its problems.

    Attributes:
        path: The file or folder.
        alike: The data of the same format in other languages at the place that the user named.
    """

    loader: Loader
    path: Path
    alike: tuple[Path, ...] = field(default=(), compare=False)

    @property
    def id(self) -> str:
        """The id of the loader."""
        return self.loader.id

    def __iter__(self) -> Iterator[Problem]:
        return self.loader.problems(self.path)

    @cached_property
    def language(self) -> str | None:
        """The language of its first problem; None if there is none, or it cannot be read."""
        try:
            return next((problem.language for problem in self), None)
        except DataError:
            return None

    @cached_property
    def provenance(self) -> Provenance:
        """Its origin; reads all of the data once.

        Raises:
            DataError: as `Loader.problems`.
        """
        loader, sha256 = self.loader, digest(self.path)
        return Provenance(
            dataset=loader.id,
            title=loader.title,
            source=loader.source,
            licence=loader.licence,
            version=loader.version(self.path, sha256),
            sha256=sha256,
            records=sum(1 for _ in self),
            path=self.path,
        )


def digest(path: Path) -> str:
    """The SHA-256 of a file; for a folder, over the names and digests of its files, sorted by name.

    Raises:
        DataError: it cannot be read.
    """
    try:
        if not path.is_dir():
            return sha256_of_file(path)
        total = hashlib.sha256()
        for file in sorted(entry for entry in path.rglob("*") if entry.is_file()):
            total.update(f"{file.relative_to(path).as_posix()}\0{sha256_of_file(file)}\n".encode())
        return total.hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {reason_of(error)}") from error
