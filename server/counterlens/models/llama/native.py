"""A loaded llama.cpp model with one context and one sequence, over the low-level API.

Imported only inside the child process. Not thread-safe, except for `Engine.cancelled`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Progress
from counterlens.models.llama.devices import NOTHING, Offload, device_list
from counterlens.models.local.engine import kept_prefix

CHUNK = 128
"""Maximum number of positions with logits at once: 128 rows of a 49k vocabulary are 25 MB."""

LOGITS_BYTES = 32 << 20
"""Memory limit of the logits in use; llama.cpp holds them twice, for its graph and its output."""

BATCH = 512
"""Maximum number of tokens in one decode."""

TILED = "GGML_CPU_TILED_MM"
"""Environment variable of llama.cpp, read before its first product; 0: no tiled kernels."""
_FEWER_LAYERS = "There may be too little memory; choose fewer GPU layers, or auto"

_LOG_LINES: list[str] = []


def _log(level: int, text: bytes, _data: object) -> None:
    if level in (3, 4):  # warnings and errors of ggml
        _LOG_LINES.append(text.decode("utf-8", "replace").strip())
        del _LOG_LINES[:-20]


_LOG_CALLBACK = llama.llama_log_callback(_log)  # llama.cpp keeps only the address: it must stay alive


def chunk_of(vocabulary: int) -> int:
    """Number of positions with logits at once, so that memory is bounded for any vocabulary.

    A power of two, at most `CHUNK`: 128 for 49k tokens, 32 for 262k.
    """
    fitting = max(1, LOGITS_BYTES // (4 * vocabulary))
    return min(CHUNK, 1 << (fitting.bit_length() - 1))


def _choose_kernels(width: int, description: str) -> None:
    """Turn llama.cpp's tiled kernels for K-quants off where few weights are K-quants.

    From eight rows on, they round differently than the products of single rows, so that sequences could not
    share calls. They make models of K-quants read prompts 1.7 times as fast. A matrix whose width is no
    multiple of 256 cannot be a K-quant.
    """
    if width % 256 or not ("_K" in description or "IQ" in description):
        os.environ.setdefault(TILED, "0")


def _percent(progress: Progress | None) -> Any:
    """A callback of llama.cpp that reports the loaded percentage, each number once."""
    last = -1

    def loaded(share: float, _data: object) -> bool:
        nonlocal last
        percent = int(100 * share)
        if progress and percent > last:
            last = percent
            progress(percent, 100)
        return True  # continue loading

    return llama.llama_progress_callback(loaded)


class Engine:
    """One model, one context, one sequence of tokens in the KV cache.

    Attributes:
        chunk: Maximum number of positions with logits in one decode.
        threads: Threads to decode with.
        offload: Where the model is computed.
        pieces: The bytes of every token of the vocabulary.
        cancelled: Set from another thread to abort the current decode.
    """

    def __init__(
        self,
        path: Path,
        *,
        threads: int,
        context: int,
        progress: Progress | None = None,
        offload: Offload = NOTHING,
    ) -> None:
        llama.llama_log_set(_LOG_CALLBACK, ctypes.c_void_p(0))
        llama.llama_backend_init()
        self.cancelled = Event()
        self.offload = offload
        parameters = llama.llama_model_default_params()
        # Repacked weights are multiplied in groups of rows, each of which rounds in its own way.
        parameters.use_extra_bufts = False
        devices = device_list(offload.devices)  # must outlive the load
        parameters.devices, parameters.n_gpu_layers = ctypes.addressof(devices), offload.count
        loading = _percent(progress)  # must outlive the load
        parameters.progress_callback = loading
        self._model = llama.llama_model_load_from_file(str(path).encode(), parameters)
        if not self._model:
            if offload.count:
                raise ModelError(
                    f"llama.cpp cannot load {path.name} on {offload}: {_last_error()}", _FEWER_LAYERS
                )
            raise ModelError(
                f"llama.cpp cannot load {path.name}: {_last_error()}",
                "The file may be truncated or of a newer format; download it again or choose another one",
            )
        _choose_kernels(self.width, self.description)
        self._vocab = llama.llama_model_get_vocab(self._model)
        self.vocabulary = llama.llama_vocab_n_tokens(self._vocab)
        self.chunk = chunk_of(self.vocabulary)
        self.trained_context = llama.llama_model_n_ctx_train(self._model)
        self.parameters = int(llama.llama_model_n_params(self._model))
        self.context = min(context, self.trained_context) if self.trained_context > 0 else context
        self.threads = threads
        # The callback must outlive every context, or llama.cpp calls into freed memory.
        self._abort = llama.ggml_abort_callback(lambda _data: self.cancelled.is_set())
        try:
            self._context = self.open_context(self.context)
        except ModelError:
            llama.llama_model_free(self._model)
            raise
        self._memory = llama.llama_get_memory(self._context)
        self._batch = llama.llama_batch_init(BATCH, 0, 1)
        self._tokens: list[int] = []  # content of the KV cache
        self.adds_bos = bool(llama.llama_vocab_get_add_bos(self._vocab))
        self.bos = llama.llama_vocab_bos(self._vocab)
        self.pieces = self._read_pieces()
        self.ends = frozenset(
            token for token in range(self.vocabulary) if llama.llama_vocab_is_eog(self._vocab, token)
        )

    def open_context(
        self, tokens: int, sequences: int = 1, *, rows: int = BATCH, plain: bool = False, states: int = 0
    ) -> Any:
        """Create a llama.cpp context; the caller frees it.

        Args:
            tokens: Number of tokens that it can hold, all sequences together.
            sequences: Maximum number of sequences; each gets an equal share of the room.
            rows: Maximum number of tokens per decode.
            plain: Whether attention is computed by matrix products. The fused kernel changes with the number
                of rows and of threads; the products change only from one row of a sequence to several.
            states: Maximum number of tokens per decode whose last hidden states are needed.

        Raises:
            ModelError: there is too little memory.
        """
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = tokens
        parameters.n_batch = parameters.n_ubatch = rows
        # Bounds the compute buffer: outputs x vocabulary floats.
        parameters.n_outputs_max = parameters.n_outputs_max_per_seq = max(self.chunk, sequences)
        parameters.n_threads = parameters.n_threads_batch = self.threads
        parameters.n_seq_max = sequences
        if states:
            parameters.embeddings, parameters.pooling_type = True, llama.LLAMA_POOLING_TYPE_NONE
            parameters.n_batch = parameters.n_ubatch = max(states, 1)
            parameters.n_outputs_max = parameters.n_outputs_max_per_seq = states
        if plain:
            parameters.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_DISABLED
        parameters.kv_unified = False  # sequences that share cells affect each other's rounding
        context = llama.llama_init_from_model(self._model, parameters)
        if not context:
            raise ModelError(
                f"llama.cpp cannot create a context of {tokens} tokens: {_last_error()}",
                "There may be too little memory; choose a smaller model or context",
            )
        llama.llama_set_abort_callback(context, self._abort, None)
        return context

    @property
    def keeps_prefixes(self) -> bool:
        """Whether a sequence can be continued from a copy; recurrent models decode it again."""
        return not (llama.llama_model_is_recurrent(self._model) or llama.llama_model_is_hybrid(self._model))

    @property
    def cache_bytes(self) -> int:
        """Maximum number of bytes per token in the KV cache: keys and values in 16 bits."""
        heads = max(1, llama.llama_model_n_head(self._model))
        width = llama.llama_model_n_embd(self._model) // heads * llama.llama_model_n_head_kv(self._model)
        return max(1, int(2 * 2 * llama.llama_model_n_layer(self._model) * width))

    def tokens_in(self, memory: int) -> int:
        """Tokens that fit into some bytes of the KV cache; at least the model's context."""
        return max(self.context, memory // self.cache_bytes)

    @property
    def vocab(self) -> object:
        """llama.cpp's handle on the vocabulary."""
        return self._vocab

    @property
    def description(self) -> str:
        """Architecture, size and quantisation, as llama.cpp describes them."""
        buffer = ctypes.create_string_buffer(256)
        llama.llama_model_desc(self._model, buffer, 256)
        return buffer.value.decode("utf-8", "replace")

    @property
    def model(self) -> Any:
        """llama.cpp's handle on the model."""
        return self._model

    @property
    def width(self) -> int:
        """Dimensions of a hidden state."""
        return int(llama.llama_model_n_embd(self._model))

    def metadata(self, key: str) -> str | None:
        """The value of a key in the model's file."""
        buffer = ctypes.create_string_buffer(256)
        length = llama.llama_model_meta_val_str(self._model, key.encode(), buffer, 256)
        return buffer.value.decode("utf-8", "replace") if length >= 0 else None

    @property
    def fill_marks(self) -> tuple[int, int, int] | None:
        """The tokens before prefix, suffix and middle, if the model was trained to fill in the middle."""
        find = (llama.llama_vocab_fim_pre, llama.llama_vocab_fim_suf, llama.llama_vocab_fim_mid)
        before, suffix, middle = (int(each(self._vocab)) for each in find)
        return (before, suffix, middle) if min(before, suffix, middle) >= 0 else None

    def tokenize(self, text: bytes, *, marks: bool = False, ends: bool = False) -> list[int]:
        """The tokens of a text.

        Args:
            text: UTF-8.
            marks: Whether special tokens are recognised; never in a text from elsewhere.
            ends: Whether to add the tokens with which the model was trained to begin and end a text.

        Raises:
            ModelError: the tokens do not give the text back byte for byte.
        """
        if not text:
            return []
        size = len(text) + 16
        buffer = (ctypes.c_int32 * size)()
        count = llama.llama_tokenize(self._vocab, text, len(text), buffer, size, ends, marks)
        if count < 0:
            raise ModelError(f"the tokenizer failed on a text of {len(text)} bytes")
        return list(buffer[:count])

    def keep_prefix(
        self, tokens: Sequence[int], at_most: int, *, same_groups_from: int = 0, group: int = 1
    ) -> int:
        kept = kept_prefix(self._tokens, tokens, at_most, same_groups_from=same_groups_from, group=group)
        if not llama.llama_memory_seq_rm(self._memory, 0, kept, -1):
            llama.llama_memory_clear(self._memory, True)  # recurrent models cannot drop a suffix
            kept = 0
        del self._tokens[kept:]
        return kept

    def decode(self, tokens: Sequence[int], *, logits_from: int) -> npt.NDArray[np.float32]:
        """Append tokens to the sequence.

        Args:
            tokens: The tokens, at most 512.
            logits_from: Index of the first token with logits; at most `chunk` tokens have logits.

        Returns:
            (len(tokens) - logits_from, vocabulary) float32, a view that the next call overwrites.

        Raises:
            Cancelled: `cancelled` was set.
            ModelError: llama.cpp failed.
        """
        batch, start = self._batch, len(self._tokens)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = start + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = i >= logits_from
        try:
            self.run(self._context, batch)
        except (Cancelled, ModelError):
            self.forget()
            raise
        self._tokens.extend(tokens)
        rows = len(tokens) - logits_from
        if rows <= 0:
            return np.empty((0, self.vocabulary), np.float32)
        pointer = llama.llama_get_logits(self._context)
        return np.ctypeslib.as_array(pointer, (rows, self.vocabulary))

    def run(self, context: Any, batch: Any) -> None:
        """Decode a batch in a context of this model; after a failure the content of the context is undefined.

        Raises:
            Cancelled: `cancelled` was set.
            ModelError: llama.cpp failed.
        """
        status = llama.llama_decode(context, batch)
        if status != 0:
            if self.cancelled.is_set():
                raise Cancelled
            raise ModelError(f"llama.cpp failed to decode (status {status}): {_last_error()}")

    def forget(self) -> None:
        """Empty the KV cache."""
        llama.llama_memory_clear(self._memory, True)
        self._tokens.clear()

    def _read_pieces(self) -> list[bytes]:
        """The bytes of every token; one buffer serves all, since some vocabularies have 150,000."""
        buffer = ctypes.create_string_buffer(64)
        read, vocab, pieces = llama.llama_token_to_piece, self._vocab, []
        for token in range(self.vocabulary):
            length = read(vocab, token, buffer, len(buffer), 0, True)
            if length < 0:  # the buffer is too small
                buffer = ctypes.create_string_buffer(-length)
                length = read(vocab, token, buffer, -length, 0, True)
            pieces.append(buffer.raw[:length])
        return pieces


def _last_error() -> str:
    return _LOG_LINES[-1] if _LOG_LINES else "no reason given"
