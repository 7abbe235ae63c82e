"""Exported models: a folder with an ONNX graph, run by ONNX Runtime in a child process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from counterlens.errors import ModelError
from counterlens.models.base import (
    RUNS_ON,
    Api,
    Capability,
    ModelInfo,
    Progress,
)
from counterlens.models.hub import fetch_folder
from counterlens.models.local.model import DEFAULT_CONTEXT, LocalModel
from counterlens.models.local.process import ModelProcess
from counterlens.models.onnx.export import (
    POOLING,
    SETTINGS,
    SUBFOLDERS,
    WEIGHTS,
    Export,
    Reading,
    export_name,
)
from counterlens.models.onnx.protocol import Masking, OpenedExport, OpenExport
from counterlens.processes import processors

WORKER = "counterlens.models.onnx.worker"
_NEEDED = ("onnxruntime", "tokenizers")


class ExportedModel(LocalModel):
    """An export that runs in a child process.

    Args:
        spec: The user's name for it.
        threads: Threads to compute with; 0 means one per available processor, at most eight.
        context: Maximum number of tokens of context; limited by the model's training context.
        api: Prompt format; exports are only scored, as plain text.
        mask: The unit that a masked model masks: `word` or `piece`.
        progress: Unused: ONNX Runtime does not report loading progress.

    Raises:
        ModelError: a package is missing, or the export cannot be loaded, or does not support the API.
    """

    def __init__(
        self,
        export: Export,
        *,
        spec: str,
        threads: int = 0,
        context: int = DEFAULT_CONTEXT,
        api: str = "completions",
        mask: str = "word",
        progress: Progress | None = None,
    ) -> None:
        for package in _NEEDED:
            if importlib.util.find_spec(package) is None:
                raise ModelError(
                    f"{package} is not installed, so ONNX models cannot run",
                    "Install it with: pip install 'counterlens[onnx]'",
                )
        if Api.named(api) is not Api.COMPLETIONS:
            raise ModelError(
                f"an ONNX model cannot be used with {api}",
                "Use completions, or choose a GGUF file or a remote model",
            )
        masking = Masking.named(mask)
        threads = threads or min(processors(), 8)
        sha256 = export.identity
        size = sum(file.stat().st_size for file in export.files)
        super().__init__(ModelProcess(WORKER, OpenExport(export, threads, context, masking, sha256)), size)
        opened: OpenedExport = self._process.start(progress)
        masked = opened.reading is Reading.MASKED
        self._info = ModelInfo(
            id=spec,
            name=export_name(str(export.folder)),
            identity=sha256,
            where="local",
            capabilities=opened.capabilities,
            context=opened.context,
            engine=f"onnxruntime {opened.version} {opened.provider}",
            scoring=f"pseudo-log-likelihood, {masking}" if masked else None,
            decoding="",
            details=(
                ("engine", f"ONNX Runtime {opened.version}"),
                (RUNS_ON, opened.provider),
                ("architecture", export.architecture),
                ("reads", f"both sides, masked by {masking}" if masked else "forward"),
                (
                    "cache",
                    "keys and values" if opened.cached else "none",
                ),
                ("file", export.weights.name),
                ("threads", str(threads)),
            ),
        )

    @property
    def info(self) -> ModelInfo:
        """Identity of the model."""
        return self._info

    def lack(self, capability: Capability) -> ModelError | None:
        """Say what an export cannot do."""
        name = self._info.name
        errors = {
            Capability.COMPLETE: ModelError(
                f"{name} cannot complete: exported models are only scored",
                "Probes that complete need a GGUF file or a remote model",
            ),
            Capability.SCORE: ModelError(
                f"{name} returns no token probabilities",
                "Export it with its head: --task text-generation-with-past or fill-mask",
            ),
            Capability.EMBED: ModelError(
                f"{name} returns no embeddings: its hidden states were not exported",
                "Export it with --task feature-extraction",
            ),
        }
        return None if capability in self._info.capabilities else errors.get(capability)


def find_export(name: str) -> Export:
    """The export with a name: a folder, an ONNX file, or a repository of the Hugging Face hub.

    Args:
        name: As after `onnx:`. An existing path takes precedence.

    Raises:
        ModelError: there is no such export, or it cannot be downloaded.
    """
    path = Path(name).expanduser().absolute()
    parts = name.split("/")
    if path.exists() or len(parts) != 2 or not all(parts) or name.startswith(("~", ".")):
        return Export.at(path)
    graphs = [
        f"{folder}/{weights}{more}" if folder else f"{weights}{more}"
        for folder in SUBFOLDERS
        for weights in WEIGHTS[:2]
        for more in ("", "_data*", ".data*")
    ]
    return Export.at(fetch_folder(name, [*SETTINGS, POOLING, *graphs], f"onnx:{name}"))
