"""Lists in the user's configuration, such as the trusted repositories: JSON, written atomically."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterlens.atomic_file import replace_file
from counterlens.nested_text import read_json


def read_list(path: Path) -> list[Any]:
    """The entries of a list; empty if there is no readable file."""
    try:
        listed = read_json(path)
    except (OSError, ValueError):
        return []
    return listed if isinstance(listed, list) else []


def write_list(path: Path, entries: Sequence[Any]) -> None:
    """Replace a list.

    Raises:
        OSError: it cannot be written.
    """
    replace_file(path, json.dumps(entries, indent=1) + "\n")
