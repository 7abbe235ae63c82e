"""The child process: `python -m counterlens.models.llama.worker`, requests on stdin, answers on stdout."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from counterlens.errors import Cancelled, CounterlensError
from counterlens.models.base import Progress
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.continuations import ContinuationScorer
from counterlens.models.llama.decoding import Shape
from counterlens.models.llama.embedding import Embedder
from counterlens.models.llama.exactness import build, shape_of
from counterlens.models.llama.healing import Constraint
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.protocol import (
    Advanced,
    Cancel,
    Complete,
    Embed,
    Envelope,
    Failed,
    Open,
    Opened,
    Score,
    ScoreContinuations,
    Settle,
    receive,
    send,
)
from counterlens.models.llama.rounding import rounding_of
from counterlens.models.llama.scoring import Scorer
from counterlens.models.llama.sequences import SequenceBatch


class Worker:
    """Answers one request after the other; a second thread listens for cancellation."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._queue: SimpleQueue[Envelope] = SimpleQueue()
        self._lock = threading.Lock()
        self._current = 0
        self._withdrawn: set[int] = set()
        self._engine: Engine | None = None
        self._scorer: Scorer | None = None
        self._completer: LlamaCompleter | None = None
        self._continuations: ContinuationScorer | None = None
        self._embedder: Embedder | None = None
        self._identity = ""
        self._settled = False

    def run(self) -> None:
        """Serve until the parent is gone."""
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            envelope = self._queue.get()
            try:
                self._begin(envelope.number)
                answer = self._answer(envelope)
            except Cancelled:
                answer = Failed("cancelled", cancelled=True)
            except CounterlensError as error:
                answer = Failed(error.message, error.hint)
            except Exception as error:  # one request's failure must not end the process
                answer = Failed(f"the model process failed: {type(error).__name__}: {error}")
            send(self._answers, Envelope(envelope.number, answer))

    def _listen(self) -> None:
        while (message := receive(self._requests)) is not None:
            if isinstance(message, Cancel):
                with self._lock:
                    self._withdrawn.add(message.number)
                    if message.number == self._current and self._engine:
                        self._engine.cancelled.set()
            else:
                self._queue.put(message)
        os._exit(0)  # the parent is gone, and the engine may be in the middle of a decode

    def _begin(self, number: int) -> None:
        with self._lock:
            self._current = number
            if self._engine:
                self._engine.cancelled.clear()
            if number in self._withdrawn:
                raise Cancelled
            self._withdrawn = {other for other in self._withdrawn if other > number}

    def _answer(self, envelope: Envelope) -> Any:
        request = envelope.content

        def progress(done: int, total: int) -> None:
            send(self._answers, Envelope(envelope.number, Advanced(done, total)))

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
        """Find out in which shapes completions are exact, which takes a while the first time."""
        if not self._settled:
            engine, batch = completer.engine, completer.batch
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
        self._engine, self._identity = engine, request.identity
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


def main() -> None:
    """Take over the standard streams, so that nothing that a library prints can end up among the answers."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - for the life of the process
    if hasattr(os, "nice"):
        os.nice(5)  # the editor comes first
    Worker(requests, answers).run()


if __name__ == "__main__":
    main()
