"""Files outside of the sandbox that a program asked for, and that a plain run would have found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import counterlens
from counterlens.sandbox.base import JobOutcome
from counterlens.text import printable

_OWN = Path(counterlens.__file__).parent


def refused_files(outcome: JobOutcome) -> Iterator[str]:
    """What the program might have done with files but for the sandbox, each as `it may …`.

    See `sandboxed/file_watch.py` for the lines.
    """
    for line in outcome.result.split(b"\n"):
        word, _, text = line.partition(b" ")
        if word not in {b"reads", b"writes", b"moves"}:
            continue
        try:
            name = json.loads(text)
        except (ValueError, RecursionError):
            continue
        use = word[:-1].decode()
        if isinstance(name, str) and "\0" not in name and _is_possible(use, name):
            yield f"it may not {use} {printable(name)}"


def _is_possible(use: str, name: str) -> bool:
    """Whether this process, which is in no sandbox, could do it."""
    if use == "read":  # a traceback reads the lines of our own runner, if it finds them
        return not Path(name).is_relative_to(_OWN) and os.access(name, os.R_OK)
    if use == "move":
        return Path(name).is_dir()
    return os.access(name if os.path.lexists(name) else Path(name).parent, os.W_OK)
