"""A folder that several tests use in turn."""

from __future__ import annotations

import shutil
from pathlib import Path


def emptied(folder: Path) -> Path:
    """An existing folder, without its content.

    A waiting interpreter belongs to the folders that it sees: tests that share one need not start others.
    """
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return folder
