"""The child process of llama.cpp: `python -m counterlens.models.llama.worker`."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from counterlens.models.base import Progress
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.continuations import ContinuationScorer
from counterlens.models.llama.decoding import Shape
from counterlens.models.llama.embedding import Embedder
from counterlens.models.llama.exactness import build, shape_of
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.protocol import Open, Opened, Settle
from counterlens.models.llama.rounding import rounding_of
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local.healing import Constraint
from counterlens.models.local.messages import Complete, Embed, Failed, Score, ScoreContinuations
from counterlens.models.local.scoring import Scorer
from counterlens.models.local.worker import Worker, serve
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
        self._settled = False

    def answer(self, request: Any, progress: Progress) -> Any:
        """Like `Worker.answer`."""
        if isinstance(request, Open):
            return self._open(request, progress)
        if isinstance(request, Score) and self._scorer:
            return self._scorer.score(request.text, request.context, request.alternatives, progress)
        if isinstance(request, Settle) and self._completer:
            shape = self._settle(self._completer)
            return f"{shape} {build()} ties {self._completer.rounding:g}" if shape else ""
        if isinstance(request, Complete) and self._completer:
            self._settle(self._completer)
            return self._completer.complete(request.prompts, progress)
        if isinstance(request, ScoreContinuations) and self._continuations:
            return self._continuations.score(request, progress)
        if isinstance(request, Embed) and self._embedder:
            return self._embedder.embed(request.texts, progress)
        return Failed("no model is loaded")

    def _settle(self, completer: LlamaCompleter) -> Shape | None:
        """Determine the shapes in which completions are exact, which takes the first process a while."""
        if not self._settled:
            engine, batch = completer.engine, completer.batch
            with one_process(f"settle {self._identity}", engine.cancelled):
                completer.shape = shape_of(engine, batch, self._identity)
                if completer.shape:
                    completer.rounding = rounding_of(engine, batch, completer.shape, self._identity)
            self._settled = True
        return completer.shape

    def _open(self, request: Open, progress: Progress) -> Opened:
        import llama_cpp

        engine = Engine(
            Path(request.path), threads=request.threads, context=request.context, progress=progress
        )
        self.cancelled, self._identity = engine.cancelled, request.identity
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
        )


if __name__ == "__main__":
    serve(LlamaWorker)
