"""The interface of every dataset: problems, one at a time, and their source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from counterlens.datasets.files import digest
from counterlens.errors import DataError

UNKNOWN = "unknown"
"""The version of data that is not a published one."""


class TestForm(StrEnum):
    """How the tests of a problem are written down."""

    __test__ = False  # no test class, whatever a test runner thinks of its name

    PYTHON = "python"  # statements that run after the program, in its namespace, and raise where it is wrong
    JAVA_MAIN = "java-main"  # a class `Main` whose `main` throws where the program is wrong
    STDIO = "stdio"  # what the program reads from standard input, and what it then prints


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a whole program: what it reads from standard input, and what it must print."""

    input: str
    output: str


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of a problem.

    Attributes:
        form: How they are written.
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
        id: Its name in the dataset, such as `HumanEval/0`.
        dataset: The id of the loader, such as `humaneval`.
        language: `python` or `java`.
        source: The whole program, with the reference solution. Line ends as they are in the dataset.
        function: The qualified name of the function that the tests are about; None if that is the program.
        prompt: The start of the program that the dataset shows to a model: `source` starts with it.
        description: The task, in natural language.
        tests: The judge of a program; None if the dataset has no tests.
        call: A call of the function, such as `f([1, 2])`, if the dataset gives one input.
        output: The result of the call, as a literal.
        buggy: The whole program with a wrong solution, if the dataset has one.
        details: Further facts, such as `bug_type`.
        file: The program's path, if the tests are to be found beside it.
        unusable: Why nothing can be asked about it, such as a program in Python 2; it is never drawn.
        lines: The lines that are asked about, as first and last, 1-based; empty for all.
    """

    id: str
    dataset: str
    language: str
    source: str
    function: str | None = None
    prompt: str | None = None
    description: str = ""
    tests: Tests | None = None
    call: str | None = None
    output: str | None = None
    buggy: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    unusable: str = ""
    lines: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Provenance:
    """The source of problems: what a manifest needs to name them again.

    Attributes:
        dataset: The id of the loader.
        title: Its usual name.
        source: Its publication.
        licence: Its licence, as an SPDX expression where there is one.
        version: Which of its published versions this is; `unknown` when the content is none of them.
        sha256: Of the file; of a folder, over the names and contents of the files that were read.
        records: How many problems there are.
        path: Its folder.
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
        id: The name that users type.
        family: The id of the format that this one is another form of; its name finds both.
        title: Its usual name.
        source: Its publication.
        licence: Of the data.
        published: SHA-256 of the published files, and which version each of them is.
        hub: Its address for the `datasets` library: (repository, configuration, split); None for nowhere.
    """

    id: ClassVar[str]
    family: ClassVar[str | None] = None
    title: ClassVar[str]
    source: ClassVar[str]
    licence: ClassVar[str]
    published: ClassVar[Mapping[str, str]] = {}
    hub: ClassVar[tuple[str, str | None, str] | None] = None

    @abstractmethod
    def recognises(self, path: Path) -> int:
        """How surely a file or folder is in this format; 0 for not at all, the greatest of all loaders wins.

        Looks at the first record only, and never raises.
        """

    @abstractmethod
    def problems(self, path: Path) -> Iterator[Problem]:
        """The problems of a file or folder, in its order, read as they are asked for.

        Raises:
            DataError: it cannot be read, or a record is malformed; says which and why.
        """

    def installed(self) -> Path | None:
        """The place of the data in an installed Python package, if there is one."""
        return None

    def version(self, path: Path, sha256: str) -> str:  # noqa: ARG002 - some loaders know it from the path
        """Return the published version that some data is, if any."""
        return self.published.get(sha256, UNKNOWN)


@dataclass(frozen=True)
class Dataset:
    """Data of one format in one place; iterate over it for its problems.

    Attributes:
        loader: The format.
        path: The file or folder.
    """

    loader: Loader
    path: Path

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
        """Its origin; reads all of it once.

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
