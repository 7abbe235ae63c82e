"""Lists in the user's configuration, such as the trusted repositories: JSON, written atomically."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def read_list(path: Path) -> list[Any]:
    """The entries of a list; empty if there is no readable file."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return listed if isinstance(listed, list) else []


def write_list(path: Path, entries: Sequence[Any]) -> None:
    """Replace a list.

    Raises:
        OSError: it cannot be written.
    """
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)
