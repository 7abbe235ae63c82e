"""Replace files atomically: another process reads the old content or the new, never a part of it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from threading import get_ident


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file, and the folders above it if they are missing.

    Args:
        content: Its new content; text is encoded as UTF-8.

    Raises:
        OSError: it cannot be written, and keeps its old content.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
