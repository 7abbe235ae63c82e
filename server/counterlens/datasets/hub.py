"""Datasets of the Hugging Face hub, through the `datasets` library: downloaded once, then found by name."""

from __future__ import annotations

import contextlib
import importlib.util
import json
from pathlib import Path
from typing import Any

from counterlens.atomic_file import make_folder
from counterlens.datasets.base import Loader
from counterlens.errors import DataError

EXTRA = "counterlens[data]"


def bring(loader: Loader, folder: Path, *, repository: str | None = None) -> Path:
    """Download a dataset, and store it as JSON lines in the format of its loader.

    Args:
        folder: The target; an earlier copy is replaced when the new one is complete.
        repository: Its source, if it differs from the loader's: a hub repository or a folder.

    Returns:
        The file.

    Raises:
        DataError: the library is missing, the hub cannot be reached, or its data has another format.
    """
    if loader.hub is None:
        raise DataError(
            f"{loader.title} is not on the hub", f"Get it from {loader.source}, and give its path"
        )
    if importlib.util.find_spec("datasets") is None:
        raise DataError("the library that downloads datasets is not installed", f"pip install '{EXTRA}'")
    name, configuration, split = loader.hub
    rows = _rows(repository or name, configuration if repository is None else None, split)
    make_folder(folder)
    path, part = folder / f"{loader.id}.jsonl", folder / f".{loader.id}.part.jsonl"
    try:
        part.unlink(missing_ok=True)  # a pipe in its place would block
        with part.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
        if not loader.recognises(part):
            raise DataError(
                f"{repository or name} is not in the format of {loader.title}",
                f"The hub's copy may have changed; get it from {loader.source}, and give its path",
            )
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    return path


def _rows(name: str, configuration: str | None, split: str) -> Any:
    import datasets

    try:
        return datasets.load_dataset(name, configuration, split=split)
    except Exception as error:  # the library raises the exceptions of its many back ends
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise DataError(
            f"{name} could not be downloaded: {reason}", "Check the network, or give the path of a copy"
        ) from error
