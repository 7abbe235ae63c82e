"""Remembers between runs which endpoints give token probabilities, and how."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from counterlens.models.remote.endpoint_file import EndpointFile
from counterlens.models.remote.scoring.dialect import Correction
from counterlens.models.remote.scoring.dialects import dialect_named
from counterlens.models.remote.scoring.probing import Ability

VERSION: Final = 1  # version of the test and of this file; entries of another version are ignored
KEPT: Final = 7 * 86_400.0  # seconds, for a method that works
KEPT_NEGATIVE: Final = 86_400.0  # seconds, if none works: servers are restarted with other options


class Memory:
    """A small JSON file; one that cannot be read or written behaves as an empty one.

    Args:
        file: Path of the file; by default in the user's cache.
        clock: Returns the seconds since the epoch.
    """

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._file = EndpointFile(file or "remote-abilities.json", VERSION)
        self._clock = clock

    def recall(self, identity: str) -> Ability | None:
        """Return the stored result for an endpoint and model, unless it is too old."""
        entry = self._file.entries().get(identity)
        try:
            assert entry is not None
            ability = Ability(
                str(entry["dialect"]),
                Correction(entry["correction"]),
                tuple(str(reason) for reason in entry["reasons"]),
            )
            age = self._clock() - float(entry["tested"])
        except (AssertionError, LookupError, TypeError, ValueError):
            return None
        if dialect_named(ability.dialect) is None:
            return None
        return ability if 0 <= age < (KEPT if ability.scores else KEPT_NEGATIVE) else None

    def remember(self, identity: str, ability: Ability) -> None:
        """Store a result, if it is valid for the next time."""
        entries = self._file.entries()
        entries.pop(identity, None)
        if ability.certain:
            entries[identity] = {
                "dialect": ability.dialect,
                "correction": ability.correction.value,
                "reasons": list(ability.reasons),
                "tested": self._clock(),
            }
        self._file.write(entries)
