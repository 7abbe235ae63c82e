"""The files of Python's own standard library, as many programs to try things on."""

from __future__ import annotations

import ast
import os
from pathlib import Path

LIBRARY = Path(ast.__file__).parent


def library_files(skipped: set[str]) -> list[Path]:
    """Its modules in order, without those in folders of some names, which are not entered."""
    found = []
    for folder, within, files in os.walk(LIBRARY):
        within[:] = sorted(set(within) - skipped)
        found += [Path(folder, name) for name in files if name.endswith(".py")]
    return sorted(found)
