"""The parameters that endpoints accept, remembered between runs in a small file of the user's cache.

A file that cannot be read or written behaves as an empty one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from counterlens.models.remote.endpoint_file import EndpointFile
from counterlens.models.remote.taking import LIMIT, NEW_LIMIT, Taken, Temperature

_VERSION: Final = 1  # version of the file; another version is ignored
_KEPT: Final = 7 * 86_400.0  # seconds; the models behind a name change


class TakenMemory:
    """The parameters that endpoints accept, remembered between runs.

    Args:
        file: Path of the file; by default in the user's cache.
        clock: Returns the seconds since the epoch.
    """

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._file = EndpointFile(file or "remote-parameters.json", _VERSION)
        self._clock = clock

    def recall(self, identity: str) -> Taken:
        """Return the stored result for an endpoint and model, unless it is too old."""
        try:
            entry = self._file.entries()[identity]
            if not 0 <= self._clock() - float(entry["learned"]) < _KEPT:
                return Taken()
            several = entry["several"]
            return Taken(
                NEW_LIMIT if entry["limit"] == NEW_LIMIT else LIMIT,
                Temperature(entry["temperature"]),
                frozenset(map(str, entry["refused"])),
                several if several is None else bool(several),
            )
        except (LookupError, TypeError, ValueError):
            return Taken()

    def remember(self, identity: str, taken: Taken) -> None:
        """Store a result."""
        entries = self._file.entries() | {
            identity: {
                "limit": taken.limit,
                "temperature": str(taken.temperature),
                "refused": sorted(taken.refused),
                "several": taken.several,
                "learned": self._clock(),
            }
        }
        self._file.write(entries)
