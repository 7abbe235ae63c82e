"""Where files of the Hugging Face hub are stored: as the hub's own programs store them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from counterlens.regular_file import read_text

REVISION = "main"


def repository_folder(repository: str) -> Path:
    """The folder of a repository, `owner/repo`; `HF_HUB_CACHE` and `HF_HOME` have their meaning there."""
    environment = os.environ
    if environment.get("HF_HUB_CACHE"):
        cache = Path(environment["HF_HUB_CACHE"]).expanduser()
    else:
        home = Path(environment.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
        cache = Path(environment.get("HF_HOME") or home).expanduser() / "hub"
    return cache / f"models--{repository.replace('/', '--')}"


def cached_file(repository: str, file: str) -> Path | None:
    """The path of a repository's file on this machine; None if it is not downloaded."""
    folder = repository_folder(repository)
    with contextlib.suppress(OSError):
        commit = read_text(folder / "refs" / REVISION).strip()
        path = folder / "snapshots" / commit / file
        if path.is_file():
            return path
    others = sorted(folder.glob(f"snapshots/*/{file}"))
    return next((path for path in others if path.is_file()), None)
