"""A small file of the user's cache with what is known about endpoints: an entry per endpoint and model."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.regular_file import read_text


class EndpointFile:
    """Entries remembered between runs; a file that cannot be read or written behaves as an empty one.

    Args:
        path: Its path, or the name of a file in the user's cache.
        version: Version of the entries; entries of another version are ignored.
    """

    def __init__(self, path: Path | str, version: int) -> None:
        self._path = Path(platformdirs.user_cache_dir("counterlens")) / path
        self._version = version

    def entries(self) -> dict[str, Any]:
        """All entries, by the identity of their endpoint and model."""
        try:
            content = json.loads(read_text(self._path))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(content, dict) or content.get("version") != self._version:
            return {}
        entries = content.get("endpoints")
        return entries if isinstance(entries, dict) else {}

    def write(self, entries: Mapping[str, Any]) -> None:
        """Replace all entries."""
        document = {"version": self._version, "endpoints": dict(entries)}
        with contextlib.suppress(OSError):  # a read-only cache costs a few requests, nothing else
            replace_file(self._path, json.dumps(document, indent=1))
