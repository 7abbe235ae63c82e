"""Read files that other programs may have replaced: a pipe or a device among them must not block or flood."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 64 << 20
"""Default size limit in bytes."""


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file, also behind a link.

    Args:
        most: Maximum size in bytes.

    Raises:
        OSError: it cannot be read, is larger, or is something else than a file, such as a pipe or a device.
    """
    # Without the flag, opening a pipe waits for a writer; a regular file ignores it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, f"{path} is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(most + 1)
        if len(content) > most:
            raise OSError(0, f"{path} is larger than {most} bytes")
        return content


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """The content of a regular file in UTF-8; see `read_bytes`.

    Raises:
        OSError: as `read_bytes`.
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_bytes(path, most).decode("utf-8")


def check_database(path: Path) -> None:
    """Continue only if SQLite may open a path: opening a pipe or a device among its files would block.

    Raises:
        OSError: at the path, or beside it, is something else than a file.
    """
    for beside in ("", "-wal", "-shm", "-journal"):
        if not _is_absent_or_regular(path.with_name(path.name + beside)):
            raise OSError(0, f"{path.name}{beside} is not a regular file")


def _is_absent_or_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return not path.is_symlink()
    except OSError:
        return False
