"""The child process of llama.cpp: `python -m counterlens.child counterlens.models.llama.worker PARENT`.

Text embeddings: a model's last hidden states, one per token, pooled to one per text.

An embedding model's file says how its states are pooled. A completion model has no vector for a whole text;
the mean of its last hidden states replaces it.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import IO, Any

import llama_cpp as llama
import numpy as np
import numpy.typing as npt
import platformdirs

from counterlens.atomic_file import make_folder
from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Api, Progress
from counterlens.models.llama.completing import LlamaCompleter, Request
from counterlens.models.llama.continuations import ContinuationScorer
from counterlens.models.llama.decoding import ALONE
from counterlens.models.llama.devices import Offload, choose_offload, find_hardware
from counterlens.models.llama.exactness import build, calls_of
from counterlens.models.llama.filling import fill_trial, require_filling
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.protocol import CountWork, FindHardware, Open, Opened, Settle, TryFilling, Work
from counterlens.models.llama.rounding import layer_sizes, rounding_of
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local.encoded_prompt import Constraint
from counterlens.models.local.messages import Complete, Embed, Failed, Score, ScoreContinuations
from counterlens.models.local.scoring import Scorer
from counterlens.models.local.worker import LATER, Pooling, Worker, pool, serve
from counterlens.regular_file import check_database

_PATIENCE = 300.0  # seconds after which a process no longer waits for one that may be suspended
_LOOKING = 0.2  # seconds between two checks whether the wait was cancelled

_STEP = 256  # memory is allocated in such portions


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
        if isinstance(request, Open):
            return self._open(request, progress)
        if isinstance(request, FindHardware):
            return find_hardware()
        if isinstance(request, Score) and self._scorer:
            return self._scorer.score(request.text, request.context, request.alternatives, progress)
        if isinstance(request, TryFilling) and self._completer:
            return fill_trial(self._completer.engine, self._identity)
        if isinstance(request, Settle) and self._completer:
            return self._exactness(self._completer)
        if isinstance(request, Complete) and self._completer:
            self._settle(self._completer)
            self._completions[number] = self._completer.submit(request.prompts, progress)
            return LATER
        if isinstance(request, ScoreContinuations) and self._continuations:
            return self._continuations.score(request, progress)
        if isinstance(request, CountWork):
            return self._completer.work if self._completer else Work()
        if isinstance(request, Embed) and self._embedder:
            return self._embedder.embed(request.texts, progress)
        return Failed("no model is loaded")

    def joins(self, request: Any) -> bool:
        """Like `Worker.joins`: these need none of the sequences of completions."""
        tried = isinstance(request, Settle) and self._settled
        return tried or isinstance(request, Complete | Score | ScoreContinuations | Embed | CountWork)

    def advance(self, withdrawn: Callable[[int], bool]) -> Mapping[int, Callable[[], Any]]:
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

    def _exactness(self, completer: LlamaCompleter) -> str:
        """How completions are exact; empty if they are not."""
        self._settle(completer)
        if completer.calls == ALONE and completer.engine.offload.devices:
            return ""  # nothing has tried whether single rows are exact on this device
        return f"one row {build()} ties {completer.rounding:g}"

    def _settle(self, completer: LlamaCompleter) -> None:
        """Find what may share calls, the rounding, and whether it fills; takes the first process a while."""
        if not self._settled:
            engine = completer.engine
            with one_process(f"settle {self._identity}", engine.cancelled):
                completer.calls = calls_of(engine, self._identity)
                completer.rounding = rounding_of(engine, self._identity)
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
        encoder = PromptEncoder(engine, request.api)
        self._completer = LlamaCompleter(encoder, engine, Constraint(engine.pieces))
        self._continuations = ContinuationScorer(engine, SequenceBatch(engine))
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
            has_template=bool(llama.llama_model_chat_template(engine.model, None)),
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


class Embedder:
    """Embeds texts with one engine, one by one, so that a vector depends on its text alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def pooling(self) -> Pooling:
        """Pool as the model's file specifies; by the mean if it does not.

        Raises:
            ModelError: the file specifies a pooling that gives no vectors, such as a re-ranker's.
        """
        architecture = self._engine.metadata("general.architecture") or ""
        said = self._engine.metadata(f"{architecture}.pooling_type") or "0"
        number = int(said) if said.isdecimal() else -1
        try:
            return Pooling(number or Pooling.MEAN)
        except ValueError:
            raise ModelError("this model returns no embeddings", "Choose another one") from None

    @property
    def _at_once(self) -> bool:
        """Whether each token attends to all others, so that a text has to be decoded as a whole."""
        architecture = self._engine.metadata("general.architecture") or ""
        return self._engine.metadata(f"{architecture}.attention.causal") == "false"

    def embed(self, texts: Sequence[bytes], progress: Callable[[int, int], None]) -> npt.NDArray[np.float32]:
        """The vectors of texts, (n, dimensions), with the lengths that the model gives.

        Raises:
            Cancelled, ModelError: as `Engine.run`; or a text does not fit into the model's window.
        """
        engine, pooling = self._engine, self.pooling
        tokens = [engine.tokenize(text, ends=True) for text in texts]
        longest = max(map(len, tokens))
        if longest > engine.context:
            raise ModelError(
                f"a text of {longest} tokens does not fit into the model's window of {engine.context}",
                "Choose a smaller function, or a model with a larger context",
            )
        if not min(map(len, tokens)):
            raise ModelError("a text without tokens has no embedding")
        room = min(-(-longest // _STEP) * _STEP, engine.context)
        group = room if self._at_once else engine.chunk
        context = engine.open_context(room, states=group)
        batch = llama.llama_batch_init(group, 0, 1)
        try:
            vectors = []
            for number, text_tokens in enumerate(tokens):
                progress(number, len(tokens))
                vectors.append(pool(self._states(context, batch, text_tokens, group), pooling))
            return np.array(vectors, np.float32)
        finally:
            llama.llama_batch_free(batch)
            llama.llama_free(context)

    def _states(self, context: Any, batch: Any, tokens: Sequence[int], group: int) -> npt.NDArray[np.float32]:
        """The last hidden state at each token, (n, dimensions)."""
        memory = llama.llama_get_memory(context)
        if memory:  # an encoder has no memory
            llama.llama_memory_clear(memory, True)
        width, parts = self._engine.width, []
        for low in range(0, len(tokens), group):
            part = tokens[low : low + group]
            batch.n_tokens = len(part)
            for i, token in enumerate(part):
                batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, low + i, 1
                batch.seq_id[i][0], batch.logits[i] = 0, True
            self._engine.run(context, batch)
            states = np.ctypeslib.as_array(llama.llama_get_embeddings(context), (len(part), width))
            parts.append(states.copy())
        return np.concatenate(parts)


@contextmanager
def one_process(purpose: str, cancelled: Event, patience: float = _PATIENCE) -> Iterator[None]:
    """Wait until no other process of this user is in this block for the same purpose.

    The lock ends with its process, however that ends. No process waits if the cache cannot be written, which
    only costs time.

    Args:
        purpose: The name of the computation.
        cancelled: Set from another thread to cancel the wait.
        patience: The longest wait in seconds; after it the block is entered without the lock.

    Raises:
        Cancelled: `cancelled` was set during the wait.
    """
    name = hashlib.sha256(purpose.encode()).hexdigest()[:16]
    path = Path(platformdirs.user_cache_dir("counterlens")) / "locks" / f"{name}.sqlite"
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, sqlite3.Error):
            make_folder(path.parent)
            check_database(path)
            connection = sqlite3.connect(path, timeout=_LOOKING, isolation_level=None)
            stack.callback(connection.close)
            _wait(connection, cancelled, time.monotonic() + patience)
        yield


def _wait(connection: sqlite3.Connection, cancelled: Event, until: float) -> None:
    while True:
        try:
            connection.execute("BEGIN EXCLUSIVE")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        if cancelled.is_set():
            raise Cancelled


def main() -> None:
    """Run the child process."""
    serve(LlamaWorker)
