"""The margins of a model: for each kind, the gain in likelihood above which an alternative is a mark.

    counterlens check --fit PATH... -m MODEL

fits those of a model on code that is right, and stores them in the user's data folder. Those of three
models are below. A kind without a margin is silent: the model's preference shows too little there. So are all
kinds of a model without fitted margins, because its probabilities may be more or less spread out.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.errors import ModelError
from counterlens.models.base import ModelInfo
from counterlens.models.files import EMBEDDED_SHA256
from counterlens.nested_text import read_json

SILENT = math.inf

Margins = Mapping[str, float]
"""Margins in nats, by kind id."""

EMBEDDED: Margins = MappingProxyType(
    {
        "arithmetic": 8.5,
        "boolean": 4.5,
        "augmented": 7.0,
        "boundary": 12.0,
        "order": 5.0,
        "variable": 18.0,
        "index": 4.5,
        "attribute": 22.5,
        "branches": 15.0,
        "exits": 2.5,
        "exception": 8.5,
    }
)
"""Margins of the embedded model, fitted by `python benchmarks/doubt.py --data DATA`."""

QWEN_CODER: Margins = MappingProxyType(
    {
        "comparison": 11.5,
        "arithmetic": 11.5,
        "boolean": 7.0,
        "membership": 8.0,
        "augmented": 10.5,
        "boundary": 15.0,
        "order": 8.5,
        "variable": 18.0,
        "index": 8.5,
        "attribute": 20.0,
        "branches": 12.5,
        "exits": 5.5,
        "await": 11.5,
        "return": 6.5,
        "receiver": 7.0,
        "strings": 21.0,
        "counterpart": 11.5,
    }
)
"""Margins of Qwen2.5-Coder 0.5B Instruct, Q4_K_M: also `--model qwen2.5-coder-0.5b --functions 135`.

Those of `variable` (fitted: 12.5) and `attribute` (15) are higher, since a model knows the names of code that
it has seen: all three false marks in 640 lines of five packages were of these kinds. The 1.5B model has the
same margins, which find more with it, and mark none of 500 right lines (docs/results/doubt.md).
"""

FITTED: Mapping[str, Margins] = MappingProxyType(
    {
        EMBEDDED_SHA256: EMBEDDED,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32": QWEN_CODER,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046": QWEN_CODER,
    }
)
"""Margins by model identity: the SHA-256 of its file."""

_FORMAT, _VERSION = "counterlens-margins", 1


def margins_of(model: ModelInfo, *, folder: Path | None = None) -> Margins | None:
    """The margins of a model: those that the user fitted, else the built-in ones; None if there are none.

    Args:
        folder: Folder of the user's margins; by default in the user's data folder.
    """
    try:
        kept = read_json(margins_file(model, folder))
    except (OSError, ValueError):
        kept = None
    read = _read(kept, model)
    return FITTED.get(model.identity) if read is None else read


def save_margins(model: ModelInfo, margins: Margins, lines: int, *, folder: Path | None = None) -> Path:
    """Replace the stored margins of a model atomically; returns their path.

    Args:
        lines: Number of lines of code on which they were fitted.
        folder: Folder for the margins; by default in the user's data folder.

    Raises:
        ModelError: the margins cannot be written.
    """
    path = margins_file(model, folder)
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "model": {"identity": model.identity, "name": model.name},
        "lines": lines,
        "margins": dict(margins),
    }
    try:
        replace_file(path, json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise ModelError(f"the margins cannot be written to {path.parent}: {error.strerror}") from error
    return path


def margins_file(model: ModelInfo, folder: Path | None = None) -> Path:
    """The path of the margins that a user fitted for a model."""
    folder = folder or Path(platformdirs.user_data_dir("counterlens")) / "margins"
    return folder / f"{hashlib.sha256(model.identity.encode()).hexdigest()[:32]}.json"


def _read(kept: Any, model: ModelInfo) -> Margins | None:
    """The margins in a file; None if they are another model's, or damaged."""
    try:
        fits = (kept["format"], kept["version"], kept["model"]["identity"])
        margins = {str(kind): float(margin) for kind, margin in kept["margins"].items()}
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    if fits != (_FORMAT, _VERSION, model.identity) or not all(margin > 0 for margin in margins.values()):
        return None
    return {kind: margin for kind, margin in margins.items() if kind in DOUBT_KINDS}
