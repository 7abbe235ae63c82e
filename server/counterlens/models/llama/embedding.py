"""Text embeddings: a model's last hidden states, one per token, pooled to one per text.

An embedding model's file says how its states are pooled. A completion model has no vector for a whole text;
the mean of its last hidden states replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.llama.native import Engine
from counterlens.models.local.pooling import Pooling, pooled

_STEP = 256  # memory is allocated in such portions


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
                vectors.append(pooled(self._states(context, batch, text_tokens, group), pooling))
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
