"""Kinds of marks that the user found not useful: they weigh less in this workspace, until that is undone.

Kept in the user's state folder, by workspace and model, and never in the repository. A kind gets the gain
of the mark that was not useful, and a little more, as its least gain. Marks that failing tests support are
facts, and always shown.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.doubt.blaming import is_failing
from counterlens.doubt.marking import Doubt, Mark
from counterlens.regular_file import read_text
from counterlens.trust import repository_of

MORE = 1.25
"""A mark of the kind must gain this many times what the one that was not useful gained."""


class Usefulness:
    """What the user said about kinds of marks in one workspace. Used only on the server's event loop.

    Args:
        place: A file or folder of the workspace.
        folder: The folder for the state; by default in the user's state folder.
    """

    def __init__(self, place: Path, folder: Path | None = None) -> None:
        root = str(repository_of(place))
        name = hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        folder = folder or Path(platformdirs.user_state_dir("counterlens")) / "usefulness"
        self._file = folder / f"{name}.json"
        self._least = self._read()

    def shows(self, mark: Mark, model: str) -> bool:
        """Whether a mark is shown."""
        if is_failing(mark) or not isinstance(mark, Doubt):
            return True
        return mark.trial.gain > self._least.get(model, {}).get(mark.alternative.kind, 0.0)

    def weighs_less(self, kind: str, model: str) -> bool:
        """Whether a kind weighs less."""
        return kind in self._least.get(model, {})

    def lessen(self, mark: Doubt, model: str) -> None:
        """Show fewer marks of the kind of this one.

        Raises:
            OSError: the state cannot be written.
        """
        kinds = self._least.setdefault(model, {})
        kind = mark.alternative.kind
        kinds[kind] = max(kinds.get(kind, 0.0), MORE * mark.trial.gain)
        self._write()

    def restore(self, kind: str, model: str) -> None:
        """Show all marks of a kind again.

        Raises:
            OSError: the state cannot be written.
        """
        self._least.get(model, {}).pop(kind, None)
        self._write()

    def _read(self) -> dict[str, dict[str, float]]:
        try:
            kept: Any = json.loads(read_text(self._file))
            return {
                str(model): {str(kind): float(least) for kind, least in kinds.items()}
                for model, kinds in kept["least"].items()
            }
        except (AttributeError, KeyError, OSError, OverflowError, RecursionError, TypeError, ValueError):
            return {}

    def _write(self) -> None:
        replace_file(self._file, json.dumps({"least": self._least}, indent=1) + "\n")
