"""The child process of llama.cpp: `python -m counterlens.models.llama.worker`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Api, Progress
from counterlens.models.llama.completing import LlamaCompleter, Request
from counterlens.models.llama.continuations import ContinuationScorer
from counterlens.models.llama.decoding import ALONE
from counterlens.models.llama.devices import Offload, choose_offload, find_hardware
from counterlens.models.llama.embedding import Embedder
from counterlens.models.llama.exactness import build, calls_of
from counterlens.models.llama.filling import fill_trial, require_filling
from counterlens.models.llama.layer_sizes import layer_sizes
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.protocol import FindHardware, Open, Opened, Settle, TryFilling
from counterlens.models.llama.rounding import rounding_of
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local.healing import Constraint
from counterlens.models.local.messages import Complete, Embed, Failed, Score, ScoreContinuations
from counterlens.models.local.scoring import Scorer
from counterlens.models.local.worker import LATER, Worker, serve
from counterlens.models.one_process import one_process


class LlamaWorker(Worker):
    """Handles requests with llama.cpp."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        super().__init__(requests, answers)
        self._scorer: Scorer | None = None
        self._completer: LlamaCompleter | None = None
        self._continuations: ContinuationScorer | None = None
        self._embedder: Embedder | None = None
        self._identity = ""
        self._settled = self._fills = False
        self._completions: dict[int, Request] = {}

    def answer(self, number: int, request: Any, progress: Progress) -> Any:
        """Like `Worker.answer`."""
        if isinstance(request, Open):
            return self._open(request, progress)
        if isinstance(request, FindHardware):
            return find_hardware()
        if isinstance(request, Score) and self._scorer:
            return self._scorer.score(request.text, request.context, request.alternatives, progress)
        if isinstance(request, TryFilling) and self._completer:
            return fill_trial(self._completer.engine, self._identity)
        if isinstance(request, Settle) and self._completer:
            self._settle(self._completer)
            if self._completer.calls == ALONE and self._completer.engine.offload.devices:
                return ""  # nothing has tried whether single rows are exact on this device
            return f"one row {build()} ties {self._completer.rounding:g}"
        if isinstance(request, Complete) and self._completer:
            self._settle(self._completer)
            self._completions[number] = self._completer.submit(request.prompts, progress)
            return LATER
        if isinstance(request, ScoreContinuations) and self._continuations:
            return self._continuations.score(request, progress)
        if isinstance(request, Embed) and self._embedder:
            return self._embedder.embed(request.texts, progress)
        return Failed("no model is loaded")

    def prepare(self) -> bool:
        """Like `Worker.prepare`: the trials before the first completion."""
        if self._completer is None:
            return False
        self._settle(self._completer)
        return True

    def is_prepared_for(self, request: Any) -> bool:
        """Like `Worker.is_prepared_for`."""
        return isinstance(request, Complete | Settle)

    def joins(self, request: Any) -> bool:
        """Like `Worker.joins`: scores and embeddings need none of the sequences of completions."""
        return isinstance(request, Complete | Score | Embed)

    def advance(self, withdrawn: Callable[[int], bool]) -> Mapping[int, Callable[[], Any]]:
        """Like `Worker.advance`."""
        completer = self._completer
        if completer is None:
            return {}
        for number, request in self._completions.items():
            if withdrawn(number):
                completer.withdraw(request, Cancelled())
        try:
            completer.advance()
        except Exception as error:  # a failed call must not end the process
            message = f"the model process failed: {type(error).__name__}: {error}"
            for request in self._completions.values():
                completer.withdraw(request, ModelError(message))
        done = {number: request for number, request in self._completions.items() if request.is_done}
        for number in done:
            del self._completions[number]
        return {number: request.result for number, request in done.items()}

    def _settle(self, completer: LlamaCompleter) -> None:
        """Find what may share calls, the rounding, and whether it fills; takes the first process a while."""
        if not self._settled:
            engine, batch = completer.engine, completer.batch
            with one_process(f"settle {self._identity}", engine.cancelled):
                completer.calls = calls_of(engine, batch, self._identity)
                completer.rounding = rounding_of(engine, batch, self._identity)
                if self._fills:
                    require_filling(engine, self._identity)
            self._settled = True

    def _open(self, request: Open, progress: Progress) -> Opened:
        import llama_cpp

        engine = _engine(request, progress)
        self.cancelled, self._identity = engine.cancelled, request.identity
        self._fills = request.api is Api.FILL
        if engine.offload.devices:  # what holds on one device need not hold on another
            self._identity += f" {engine.offload}"
        self._scorer = Scorer(engine)
        batch, encoder = SequenceBatch(engine), PromptEncoder(engine, request.api)
        self._completer = LlamaCompleter(encoder, engine, Constraint(engine.pieces), batch)
        self._continuations = ContinuationScorer(engine, batch)
        self._embedder = Embedder(engine)
        return Opened(
            description=engine.description,
            context=engine.context,
            trained_context=engine.trained_context,
            vocabulary=engine.vocabulary,
            adds_bos=engine.adds_bos,
            system=llama_cpp.llama_print_system_info().decode("utf-8", "replace").strip(),
            parameters=engine.parameters,
            offload=engine.offload,
        )


def _engine(request: Open, progress: Progress) -> Engine:
    """The engine with the requested layers on a device; `auto` means the processor if that fails."""
    path, hardware = Path(request.path), find_hardware()
    sizes = layer_sizes(path, request.context) if hardware.devices else []
    offload = choose_offload(request.gpu_layers, hardware, sizes)
    open_with = partial(Engine, path, threads=request.threads, context=request.context, progress=progress)
    try:
        return open_with(offload=offload)
    except ModelError as error:
        if request.gpu_layers != "auto" or not offload.count:
            raise
        return open_with(offload=Offload(reason=f"the processor: {error.message}"))


if __name__ == "__main__":
    serve(LlamaWorker)
