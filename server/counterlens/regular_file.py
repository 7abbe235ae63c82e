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
        path: Its path.
        most: Maximum size in bytes.

    Raises:
        OSError: it cannot be read, is larger, or is something else than a file, such as a pipe or a device.
    """
    # Without the flag, opening a pipe waits for a writer; a regular file ignores it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(f"{path} is not a regular file")
        content = file.read(most + 1)
        if len(content) > most:
            raise OSError(f"{path} is larger than {most} bytes")
        return content


def is_replaceable(path: Path) -> bool:
    """Whether a database can be at a path: nothing is there yet, or a regular file, also behind a link."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return not path.is_symlink()
    except OSError:
        return False
