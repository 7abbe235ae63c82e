"""Expands paths to source files: files themselves, and the files of known languages in folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.languages.registry import suffixes
from counterlens.trust import is_inside

_PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages"})
"""Folders of third-party code; hidden folders and virtual environments are skipped, too."""


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Return the named files, and the files of known languages in the named folders, each once.

    Raises:
        SourceError: a path does not exist, or there is nothing to score in any of them.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            files |= dict.fromkeys(_in_folder(path))
        elif path.exists():
            files[path] = None
        else:
            raise SourceError(f"there is no file {path}")
    if not files:
        raise SourceError(
            f"there is nothing to score in {', '.join(map(str, paths))}",
            f"Known file extensions: {', '.join(sorted(suffixes()))}",
        )
    return list(files)


def _in_folder(folder: Path) -> Iterator[Path]:
    endings = suffixes()
    for where, folders, names in os.walk(folder):
        here = Path(where)
        folders[:] = sorted(name for name in folders if not _passed_over(here / name))
        chosen = (here / name for name in sorted(names) if Path(name).suffix.lower() in endings)
        yield from (path for path in chosen if is_inside(path, folder))


def _passed_over(folder: Path) -> bool:
    return folder.name in _PASSED_OVER or folder.name.startswith(".") or (folder / "pyvenv.cfg").exists()
