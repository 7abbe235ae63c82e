"""Local models: a GGUF file, run by llama.cpp in a child process."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Unpack

from counterlens.errors import ModelError
from counterlens.models.base import (
    COMPLETIONS,
    RUNS_ON,
    Api,
    Capability,
    Completion,
    ModelInfo,
    Progress,
    Prompt,
)
from counterlens.models.files import check_gguf, identity
from counterlens.models.llama.devices import Hardware
from counterlens.models.llama.protocol import (
    SEQUENCES,
    CountWork,
    FillTrial,
    FindHardware,
    Open,
    Opened,
    Settle,
    TryFilling,
    Work,
)
from counterlens.models.local.model import DEFAULT_CONTEXT, LocalModel
from counterlens.models.local.process import ModelProcess
from counterlens.models.parameters import PARAMETERS
from counterlens.processes import processors
from counterlens.progress import RequestOptions

WORKER = "counterlens.models.llama.worker"


def hardware() -> Hardware:
    """What llama.cpp can offload to on this machine; asks a child process.

    Raises:
        ModelError: llama.cpp is not installed, or its child process died.
    """
    _require_llama()
    process = ModelProcess(WORKER, FindHardware())
    try:
        answer: Hardware = process.start()
    finally:
        process.close()
    return answer


def _require_llama() -> None:
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelError(
            "llama.cpp is not installed, so local models cannot run",
            "Install it with: pip install 'counterlens[local]' (needs a C++ compiler and cmake, "
            "takes about five minutes), or choose a remote model",
        )


class LlamaModel(LocalModel):
    """A GGUF file that a child process loads.

    Args:
        spec: The user's name for it.
        name: Its display name; by default the file's name.
        threads: Threads to decode with; 0 means one per available processor, at most eight.
        context: Maximum number of tokens of context; limited by the model's training context.
        sha256: Identity of the file, if known.
        api: Prompt format: `completions`, `fill` (in the middle) or `chat` (with its own template).
        gpu_layers: Number of layers to offload to the devices of llama.cpp, `all`, or `auto` for as many as
            fit into their free memory.

    Raises:
        ModelError: the file is missing, truncated or not a GGUF, or llama.cpp is not installed, or cannot
            offload the layers.
    """

    def __init__(
        self,
        path: Path,
        *,
        spec: str,
        name: str | None = None,
        threads: int = 0,
        context: int = DEFAULT_CONTEXT,
        sha256: str | None = None,
        api: str = "completions",
        gpu_layers: str = "auto",
        progress: Progress | None = None,
    ) -> None:
        _require_llama()
        check_gguf(path)
        api = Api.named(api)
        threads = threads or min(processors(), 8)
        sha256 = sha256 or identity(path)
        request = Open(str(path.absolute()), threads, context, api, sha256, gpu_layers)
        super().__init__(ModelProcess(WORKER, request), path.stat().st_size)
        opened: Opened = self._process.start(progress)
        offload = opened.offload
        # Another child must be the same model, whatever memory is free by then.
        self._process.opening = replace(request, gpu_layers=str(offload.count))
        self._info = ModelInfo(
            id=spec,
            name=name or path.stem,
            identity=sha256,
            where="local",
            # Exactness is unknown before the first test.
            capabilities=frozenset(Capability)
            - {Capability.EXACT, Capability.MASKED, *([] if opened.has_template else [Capability.INSTRUCT])},
            context=opened.context,
            api=api,
            engine="llama.cpp",
            device=str(offload) if offload.devices else "",
            details=(
                ("engine", "llama.cpp"),
                ("api", api),
                ("architecture", opened.description),
                (PARAMETERS, str(opened.parameters)),
                ("file", path.name),
                (RUNS_ON, str(offload)),
                ("threads", str(threads)),
                ("system", opened.system),
            ),
        )

    @property
    def info(self) -> ModelInfo:
        """Identity of the model; exactness is included once it was tested."""
        return self._info

    @property
    def together(self) -> int:
        """Like `Model.together`: the rows of a step."""
        return SEQUENCES

    def offers(self, capability: Capability, *, retest: bool = False, cancel: Event | None = None) -> bool:
        """Like `Model.offers`; the first call for a model tests exact decoding, which takes some seconds."""
        if capability is Capability.EXACT and self._info.decoding is None:
            how: str = self._process.ask(Settle(), cancel=cancel)
            state = "exact" if how else "not exact"
            self._info = replace(
                self._info,
                capabilities=self._info.capabilities | ({Capability.EXACT} if how else set()),
                details=(*self._info.details, (COMPLETIONS, state)),
                decoding=how,
            )
        return super().offers(capability, retest=retest, cancel=cancel)

    def work(self) -> Work:
        """What its process has decoded since it was started.

        Raises:
            ModelError: the engine failed.
        """
        work: Work = self._process.ask(CountWork())
        return work

    def fill_trial(self, *, cancel: Event | None = None) -> FillTrial | None:
        """How likely it finds the text of holes in code; None if its file names no tokens for filling.

        Takes some seconds the first time; a model that fails it is refused with the format `fill`.

        Raises:
            ModelError: the engine failed.
            Cancelled: `cancel` was set.
        """
        trial: FillTrial | None = self._process.ask(TryFilling(), cancel=cancel)
        return trial

    def complete(self, prompts: Sequence[Prompt], **options: Unpack[RequestOptions]) -> list[Completion]:
        """Like `Model.complete`: the prompts of one call decode together; progress counts prompts."""
        if prompts:
            self.offers(Capability.EXACT, cancel=options.get("cancel"))
        return super().complete(prompts, **options)
