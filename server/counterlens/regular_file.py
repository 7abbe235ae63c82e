"""The door for files that other people or programs wrote: the only place that opens one to read it.

A pipe or a device in the place of a file must not block or flood, a size is what was read and not what the
file system says, and a compressed file is bounded as it is inflated. `tests/test_architecture.py` refuses
other ways to read.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

MOST_BYTES = 64 << 20
"""Default size limit in bytes."""
MOST_INFLATED = 256 << 20
"""Maximum bytes that a compressed file may hold."""
LONGEST_LINE = 32 << 20
"""Maximum bytes of a line."""

_PIECE = 1 << 20
_PACKERS = {".gz": "gzip", ".tgz": "gzip", ".xz": "lzma", ".bz2": "bz2"}
"""Modules by the suffix of the files that they inflate; loaded when needed, as some Pythons lack them."""


class UnreadableFileError(OSError):
    """Why a file is not read; `strerror` is worded to follow the words "cannot be read:"."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(0, reason, str(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def reason_of(error: Exception) -> str:
    """Why a file cannot be read, without its path."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """A regular file, also behind a link, opened to read its bytes as they are.

    Raises:
        OSError: it cannot be opened, or is something else, such as a pipe, a device or a folder.
    """
    # Without the flag, opening a pipe waits for a writer; a regular file ignores it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise UnreadableFileError(path, "it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        yield file


@contextmanager
def open_inflated(path: Path) -> Iterator[BinaryIO]:
    """The same; a file whose name says that it is compressed is inflated, up to `MOST_INFLATED`.

    Raises:
        OSError: as `open_file`; also when reading, if it is damaged or holds more.
    """
    with open_file(path) as file:
        if path.suffix not in _PACKERS:
            yield file
            return
        try:
            packer = import_module(_PACKERS[path.suffix])
        except ImportError:
            raise UnreadableFileError(path, f"this Python cannot inflate {path.suffix}") from None
        with packer.open(file) as inflated, io.BufferedReader(_Inflated(inflated, path), 1 << 16) as bounded:
            yield bounded


class _Inflated(io.RawIOBase):
    """The content of a compressed file, up to `MOST_INFLATED`."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            content = self._stream.read(len(buffer))
        except OSError:
            raise
        except Exception as error:  # each module has its own
            raise UnreadableFileError(self._path, f"it is damaged: {error}") from error
        self._check(self._stream.tell())
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:
            self._check(offset)  # before all that is skipped is inflated
        return self._check(self._stream.seek(offset, whence))

    def _check(self, position: int) -> int:
        if position > MOST_INFLATED:
            raise UnreadableFileError(self._path, f"it holds more than {MOST_INFLATED >> 20} MB")
        return position


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file, also behind a link.

    Args:
        most: Maximum size in bytes.

    Raises:
        OSError: it cannot be read, is larger, or is something else than a file, such as a pipe or a device.
    """
    with open_file(path) as file:
        return _whole(file, path, most)


def read_text(path: Path, most: int = MOST_BYTES, *, errors: str = "strict") -> str:
    """The content of a regular file in UTF-8; see `read_bytes`.

    Args:
        most: Maximum size in bytes.
        errors: What becomes of other bytes, as `bytes.decode` names it.

    Raises:
        OSError: as `read_bytes`, or it is not UTF-8.
    """
    try:
        return read_bytes(path, most).decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise UnreadableFileError(path, f"it is not valid UTF-8 at byte {error.start}") from None


def read_inflated(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a file, inflated if its name says that it is compressed; see `read_bytes`.

    Raises:
        OSError: as `read_bytes`, or it is damaged.
    """
    with open_inflated(path) as file:
        return _whole(file, path, most)


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers from 1; inflated as by `open_inflated`.

    Raises:
        OSError: as `read_inflated`, or a line is longer than `LONGEST_LINE`.
    """
    number, rest = 1, b""
    with open_inflated(path) as file:
        while piece := file.read(_PIECE):
            if not rest and not piece.strip():  # quickly: a small file may hold a great many
                number += piece.count(b"\n")
                continue
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.strip():
                    yield number, line
                number += 1
            if len(rest) > LONGEST_LINE:
                raise UnreadableFileError(path, f"line {number} is longer than {LONGEST_LINE >> 20} MB")
    if rest.strip():
        yield number, rest


def _whole(file: BinaryIO, path: Path, most: int) -> bytes:
    content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableFileError(path, f"it is larger than {most} bytes")
    return content


def sha256_of_file(path: Path) -> str:
    """The SHA-256 of a regular file of any size, as 64 hexadecimal digits.

    Raises:
        OSError: as `open_file`.
    """
    with open_file(path) as file:
        return hashlib.file_digest(cast(io.BufferedReader, file), "sha256").hexdigest()


def check_database(path: Path) -> None:
    """Continue only if SQLite may open a path: opening a pipe or a device among its files would block.

    Raises:
        OSError: at the path, or beside it, is something else than a file.
    """
    for beside in ("", "-wal", "-shm", "-journal"):
        if not _is_absent_or_regular(path.with_name(path.name + beside)):
            raise UnreadableFileError(path, f"{path.name}{beside} is not a regular file")


def _is_absent_or_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return not path.is_symlink()
    except OSError:
        return False
