"""The margins of a model: for each kind the gain in likelihood that makes an alternative a mark.

    counterlens check --fit PATH... -m MODEL

fits those of a model on code that is right, and keeps them in the user's data folder. Those of the embedded
model are below. A kind that has none is silent: the model's preference shows too little there. So are all
kinds of a model for which nothing was fitted, because its probabilities may be more or less spread out.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import platformdirs

from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.errors import ModelError
from counterlens.models.base import ModelInfo
from counterlens.models.files import EMBEDDED_SHA256

SILENT = math.inf

Margins = Mapping[str, float]
"""Nats, by the id of the kind."""

EMBEDDED: Margins = MappingProxyType(
    {
        "arithmetic": 8.5,
        "boolean": 4.5,
        "membership": 6.5,
        "augmented": 7.0,
        "boundary": 12.0,
        "order": 6.5,
        "variable": 18.0,
        "index": 4.5,
        "attribute": 22.5,
        "branches": 15.0,
        "exits": 2.5,
        "exception": 8.5,
    }
)
"""Of the embedded model: `python benchmarks/doubt.py --data DATA` fits them."""

FITTED: Mapping[str, Margins] = MappingProxyType({EMBEDDED_SHA256: EMBEDDED})
"""By the identity of the model."""

_FORMAT, _VERSION = "counterlens-margins", 1


def margins_of(model: ModelInfo, *, folder: Path | None = None) -> Margins | None:
    """The margins of a model: those that the user fitted, else those it comes with; None if there are none.

    Args:
        model: The model.
        folder: Where the user's are kept; by default in the user's data folder.
    """
    try:
        kept = json.loads(margins_file(model, folder).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        kept = None
    read = _read(kept, model)
    return FITTED.get(model.identity) if read is None else read


def save_margins(model: ModelInfo, margins: Margins, lines: int, *, folder: Path | None = None) -> Path:
    """Keep the margins of a model in the place of those before, all or nothing; returns where.

    Args:
        model: The model.
        margins: Its margins.
        lines: Of the code on which they were fitted.
        folder: Where they are kept; by default in the user's data folder.

    Raises:
        ModelError: they cannot be written.
    """
    path = margins_file(model, folder)
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "model": {"identity": model.identity, "name": model.name},
        "lines": lines,
        "margins": dict(margins),
    }
    temporary = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise ModelError(f"the margins cannot be written to {path.parent}: {error.strerror}") from error
    return path


def margins_file(model: ModelInfo, folder: Path | None = None) -> Path:
    """The path of the margins that a user fitted for a model."""
    folder = folder or Path(platformdirs.user_data_dir("counterlens")) / "margins"
    return folder / f"{hashlib.sha256(model.identity.encode()).hexdigest()[:32]}.json"


def _read(kept: Any, model: ModelInfo) -> Margins | None:
    """The margins in a file; None if it is another's, or damaged."""
    try:
        fits = (kept["format"], kept["version"], kept["model"]["identity"])
        margins = {str(kind): float(margin) for kind, margin in kept["margins"].items()}
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    if fits != (_FORMAT, _VERSION, model.identity) or not all(margin > 0 for margin in margins.values()):
        return None
    return {kind: margin for kind, margin in margins.items() if kind in DOUBT_KINDS}
