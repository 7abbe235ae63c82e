"""Programs in separate folders, in a folder or a tar archive."""

from __future__ import annotations

import tarfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from counterlens.datasets.base import Loader, Problem
from counterlens.errors import DataError
from counterlens.regular_file import open_inflated, read_bytes, reason_of

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
PROGRAMS = {"main.py": "python", "Main.java": "java"}
_LOOK_AT = 200  # entries of an archive or a folder that are read to recognise it
_BROKEN = (OSError, tarfile.TarError)


@dataclass(frozen=True, slots=True)
class Folder:
    """One program's folder.

    Attributes:
        name: Its path in the data.
        files: The files in it, by relative path.
    """

    name: str
    files: Mapping[str, bytes]

    def text(self, file: str) -> str:
        """A file as text, with unchanged line ends.

        Raises:
            DataError: it is missing, or not UTF-8.
        """
        if file not in self.files:
            raise DataError(f"{self.name}: {file} is missing; the folder has {', '.join(sorted(self.files))}")
        try:
            return self.files[file].decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{self.name}/{file}: not valid UTF-8 at byte {error.start}") from None

    @property
    def program(self) -> tuple[str, str]:
        """The name of the program's file, and its language.

        Raises:
            DataError: there is none.
        """
        for file, language in PROGRAMS.items():
            if file in self.files:
                return file, language
        raise DataError(f"{self.name}: it has no {' or '.join(PROGRAMS)}")


class FolderLoader(Loader):
    """A format in which every problem is a folder with a program in it.

    Attributes:
        marker: The mark of the format: a file beside every program.
    """

    marker: ClassVar[str]

    @abstractmethod
    def problem(self, folder: Folder) -> Problem:
        """The problem of one folder.

        Raises:
            DataError: it is malformed; the message says where and why.
        """

    def recognises(self, path: Path) -> int:
        """Like `Loader.recognises`: higher than any format of records if the first program's folder fits."""
        try:
            names = {PurePosixPath(name) for name in _names(path, _LOOK_AT)}
        except _BROKEN:
            return 0
        first = min((name.parent for name in names if name.name in PROGRAMS), default=None)
        return 100 if first is not None and first / self.marker in names else 0

    def problems(self, path: Path) -> Iterator[Problem]:
        for folder in folders(path):
            yield self.problem(folder)


def folders(path: Path) -> Iterator[Folder]:
    """The folders with a program, sorted by name.

    Raises:
        DataError: the folder or archive cannot be read.
    """
    try:
        if path.is_dir():
            yield from _directories(path)
        else:
            yield from _archive_folder(path)
    except _BROKEN as error:
        raise DataError(f"{path} cannot be read: {reason_of(error)}") from error


def _directories(path: Path) -> Iterator[Folder]:
    for place in sorted({program.parent for name in PROGRAMS for program in path.rglob(name)}):
        files = {
            file.relative_to(place).as_posix(): read_bytes(file)
            for file in sorted(place.rglob("*"))
            if file.is_file()
        }
        yield Folder(place.relative_to(path).as_posix(), files)


def _archive_folder(path: Path) -> Iterator[Folder]:
    with _open_archive(path) as archive:
        members = {PurePosixPath(member.name): member for member in archive if member.isfile()}
        places = {name.parent for name in members if name.name in PROGRAMS}
        inside: dict[PurePosixPath, list[PurePosixPath]] = {}
        for name in members:
            place = next((parent for parent in name.parents if parent in places), None)
            if place is not None:
                inside.setdefault(place, []).append(name)
        for place, names in sorted(inside.items()):
            files: dict[str, bytes] = {}
            for name in names:
                content = archive.extractfile(members[name])
                files[name.relative_to(place).as_posix()] = content.read() if content else b""
            yield Folder(place.as_posix(), files)


@contextmanager
def _open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    with open_inflated(path) as file, tarfile.open(fileobj=file, mode="r:") as archive:
        yield archive


def _names(path: Path, limit: int) -> Iterator[str]:
    """The paths of the first files of a folder or archive."""
    if path.is_dir():
        for i, file in enumerate(path.rglob("*")):
            if i >= limit * 10:
                return
            yield file.relative_to(path).as_posix()
    elif path.name.endswith(ARCHIVES):
        with _open_archive(path) as archive:
            for i, member in enumerate(archive):
                if i >= limit:
                    return
                yield member.name
