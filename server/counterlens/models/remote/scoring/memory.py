"""Remembers between runs which endpoints give token probabilities, and how."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import platformdirs

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
        self._file = file or Path(platformdirs.user_cache_dir("counterlens")) / "remote-abilities.json"
        self._clock = clock

    def recall(self, identity: str) -> Ability | None:
        """Return the stored result for an endpoint and model, unless it is too old."""
        entry = self._entries().get(identity)
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
        entries = self._entries()
        entries.pop(identity, None)
        if ability.certain:
            entries[identity] = {
                "dialect": ability.dialect,
                "correction": ability.correction.value,
                "reasons": list(ability.reasons),
                "tested": self._clock(),
            }
        temporary = self._file.with_suffix(".tmp")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps({"version": VERSION, "endpoints": entries}, indent=1))
            temporary.replace(self._file)
        except OSError:
            pass  # a read-only cache costs a few requests, nothing else

    def _entries(self) -> dict[str, Any]:
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(content, dict) or content.get("version") != VERSION:
            return {}
        entries = content.get("endpoints")
        return entries if isinstance(entries, dict) else {}
