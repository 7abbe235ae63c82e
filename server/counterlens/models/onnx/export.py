"""The files of a model exported to ONNX, in the layout of `optimum-cli export onnx`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

from counterlens.errors import ModelError
from counterlens.models.files import identity
from counterlens.nested_text import read_json

WEIGHTS = ("model.onnx", "decoder_model_merged.onnx", "decoder_model.onnx")
"""File names of the graph, in order of preference."""
SUBFOLDERS = ("", "onnx")
"""Folders of the graph; repositories of the hub have it in `onnx`."""
SETTINGS = (
    "config.json",
    "tokenizer.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
"""Files besides the graph that affect the model's output."""
POOLING = "1_Pooling/config.json"
"""The pooling of an embedding model, if the export specifies it."""

_CACHED = re.compile(r"models--(?P<owner>[^/\\]+?)--(?P<repository>[^/\\]+)[/\\]snapshots\b")
"""The folder of a repository in the hub's cache."""
_WINDOWS = ("max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_seq_len")
_OFFSET = {"roberta", "xlm-roberta", "camembert", "roberta-prelayernorm", "xlm-roberta-xl", "data2vec-text"}
"""Model types that count positions from the id of the padding token."""


def export_name(path: str) -> str:
    """The display name of an export: its folder, its graph, or its repository."""
    if cached := _CACHED.search(path):
        return f"{cached['owner']}/{cached['repository']}"
    there = PurePath(path)
    if there.suffix == ".onnx":
        there = there.parent.parent if there.parent.name == "onnx" else there.parent
    return path if len(there.parts) == 2 and not there.is_absolute() else there.name or path


class Reading(StrEnum):
    """The tokens that a model sees when it predicts one."""

    CAUSAL = "causal"
    """The tokens before it."""
    MASKED = "masked"
    """The tokens on both sides of a masked one."""


@dataclass(frozen=True, slots=True)
class Export:
    """A folder with an exported model.

    Attributes:
        folder: Folder of its configuration files.
        weights: The ONNX graph.
    """

    folder: Path
    weights: Path

    @classmethod
    def at(cls, path: Path) -> Export:
        """The export in a folder, or the one with the given ONNX file.

        Raises:
            ModelError: a file is missing; the message names it.
        """
        if path.suffix == ".onnx":
            if not path.is_file():
                raise ModelError(f"there is no model file {path}", "Check the path")
            inside = path.parent.name == "onnx" and not (path.parent / "config.json").is_file()
            export = cls(path.parent.parent if inside else path.parent, path)
        elif not path.is_dir():
            raise ModelError(f"there is no model folder {path}", "Check the path")
        else:
            candidates = [path / subfolder / name for name in WEIGHTS for subfolder in SUBFOLDERS]
            weights = next((candidate for candidate in candidates if candidate.is_file()), None)
            if weights is None:
                raise ModelError(
                    f"the model folder {path} has no {WEIGHTS[0]}",
                    "Export the model with: optimum-cli export onnx -m MODEL FOLDER",
                )
            export = cls(path, weights)
        for name in SETTINGS[:2]:
            if not (export.folder / name).is_file():
                raise ModelError(
                    f"the model folder {export.folder} has no {name}",
                    "Export the model again, or save a fast tokenizer beside it",
                )
        export.settings()  # an unreadable file is reported before anything is loaded
        return export

    @property
    def files(self) -> list[Path]:
        """All files that affect what the model computes."""
        data = sorted(self.weights.parent.glob(f"{self.weights.name}_data*"))
        data += sorted(self.weights.parent.glob(f"{self.weights.name}.data*"))
        settings = [self.folder / name for name in (*SETTINGS, POOLING)]
        return [self.weights, *data, *(path for path in settings if path.is_file())]

    @property
    def identity(self) -> str:
        """SHA-256 of the names and the contents of its files."""
        digest = hashlib.sha256()
        for path in self.files:
            digest.update(f"{path.name} {identity(path)}\n".encode())
        return digest.hexdigest()

    def settings(self, name: str = "config.json") -> dict[str, Any]:
        """The content of one of the files; empty if the file is missing.

        Raises:
            ModelError: the file is not a JSON object.
        """
        path = self.folder / name
        if not path.is_file():
            return {}
        try:
            settings = read_json(path)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"the model's settings {path} cannot be read: {error}", "Export the model again"
            ) from error
        if not isinstance(settings, dict):
            raise ModelError(f"the model's settings {path} are not a JSON object", "Export the model again")
        return settings

    @property
    def architecture(self) -> str:
        """The architecture in `config.json`, such as `GPTNeoForCausalLM`."""
        config = self.settings()
        named = config.get("architectures") or [config.get("model_type") or ""]
        return str(named[0])

    @property
    def reading(self) -> Reading | None:
        """The reading direction of the architecture; None if its name does not say."""
        name = self.architecture
        if name.endswith(("ForCausalLM", "LMHeadModel")):
            return Reading.CAUSAL
        return Reading.MASKED if name.endswith(("ForMaskedLM", "ForPreTraining")) else None

    @property
    def window(self) -> int | None:
        """The model's window in training, in tokens; None if `config.json` does not say."""
        config = self.settings()
        value = next((config[name] for name in _WINDOWS if isinstance(config.get(name), int)), None)
        if value is None or config.get("model_type") not in _OFFSET:
            return value
        padding = config.get("pad_token_id")
        return int(value) - (padding if isinstance(padding, int) else 1) - 1

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a text."""
        tokens: set[int] = set()
        for name in ("config.json", "generation_config.json"):
            value = self.settings(name).get("eos_token_id")
            tokens |= {
                token for token in (value if isinstance(value, list) else [value]) if isinstance(token, int)
            }
        return frozenset(tokens)
