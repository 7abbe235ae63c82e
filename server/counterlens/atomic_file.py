"""Replace files atomically: another process reads the old content or the new, never a part of it."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from threading import get_ident


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, but not the user's home.

    Raises:
        OSError: it cannot be made; also if it is below a home that does not exist, perhaps not yet mounted.
    """
    home = Path("~").expanduser()
    if home in (path, *path.parents) and not home.exists():
        raise FileNotFoundError(errno.ENOENT, "the home folder is missing", str(home))
    path.mkdir(parents=True, exist_ok=True)


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file, and the folders above it if they are missing.

    Args:
        content: Its new content; text is encoded as UTF-8.

    Raises:
        OSError: it cannot be written, and keeps its old content.
    """
    make_folder(path.parent)
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
