"""A batch of sequences in one llama.cpp context; a shared prefix is decoded once.

Decoding nine sequences together costs far less than decoding them one by one. Each sequence has its own share
of the KV cache (`kv_unified` false), and starts empty or from a prefix that was decoded in the same groups as
it would be now: results depend on the request alone, not on earlier ones.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.llama.native import Engine
from counterlens.models.llama.protocol import SEQUENCES

ROWS = 128
"""Maximum number of rows of a call."""

HELD = 64
"""Tokens per group of the prefix kept for the next request: smaller groups read less of it twice."""

CACHE_BYTES = 384 << 20
"""Memory of the sequences of a batch."""

_STEP = 256  # room is allocated in such portions, so that similar requests reuse the context


@dataclass(frozen=True, slots=True)
class Row:
    """One token to append to a sequence.

    Attributes:
        wanted: Whether the logits after it are needed.
    """

    seq_id: int
    token: int
    wanted: bool


class SequenceBatch:
    """Sequences of one user, numbered from 0 (llama.cpp's `seq_id`).

    Args:
        plain: As in `Engine.open_context`.
    """

    def __init__(self, engine: Engine, *, plain: bool = True) -> None:
        self._engine, self._plain = engine, plain
        self._context: Any = None
        self._threads = engine.threads
        self._shape = (0, 0)
        self._batch = llama.llama_batch_init(ROWS, 0, 1)
        self._length: list[int] = []
        self._held: list[int] = []  # content of sequence 0, kept for later requests

    @property
    def keeps_prefixes(self) -> bool:
        return self._engine.keeps_prefixes

    def fits(self, sequences: int, tokens: int) -> bool:
        """Whether `sequences` sequences of `tokens` tokens are few enough and fit into memory together."""
        return sequences <= SEQUENCES + 1 and sequences * _round_up(tokens) <= self._engine.tokens_in(
            CACHE_BYTES
        )

    def start(self, needs: Sequence[int]) -> None:
        """Begin with one empty sequence for each of `needs`, its maximum number of tokens."""
        shape = len(needs), _round_up(max(needs))
        if shape != self._shape:
            self._open(shape)
        self._forget()

    def widen(self, sequences: int) -> bool:
        """Make room for more sequences; the content of those that there are is copied, bit for bit.

        A state of llama.cpp begins with a mark, the number of its sequence and that of all sequences, and has
        a count of tokens for each of them: none for those that are new.

        Returns:
            Whether it was done: other versions, and recurrent models, may have another form of a state.

        Raises:
            ModelError: there is too little memory; nothing has changed.
        """
        (have, room), wider = self._shape, self._new_context((sequences, self._shape[1]))
        for seq_id in (seq_id for seq_id, tokens in enumerate(self._length) if tokens):
            size = llama.llama_state_seq_get_size(self._context, seq_id)
            state = (ctypes.c_uint8 * (size + 4 * (sequences - have)))()
            llama.llama_state_seq_get_data(self._context, state, size, seq_id)
            counts = np.frombuffer(state, np.uint32, 3)
            is_known = counts[2] == have
            counts[2] = sequences
            if not (is_known and llama.llama_state_seq_set_data(wider, state, len(state), seq_id)):
                llama.llama_free(wider)
                return False
        llama.llama_free(self._context)
        self._context, self._shape = wider, (sequences, room)
        self._use_threads(self._threads)
        self._length += [0] * (sequences - have)
        return True

    def reserve(self, sequences: int, tokens: int) -> None:
        """Make room for at least `sequences` sequences of `tokens` tokens; keeps sequence 0 if possible.

        The content of the others is undefined.
        """
        (have, each), room = self._shape, _round_up(tokens)
        # A sequence is copied as a whole, so its room must not be far too large.
        if sequences > have or not room <= each <= 2 * room:
            more = max(have, -(-sequences // 4) * 4)
            self._open((more if self.fits(more, room) else sequences, room))
            self._forget()

    def hold(self, tokens: Sequence[int]) -> None:
        """Fill sequence 0; tokens that it already holds are not decoded again.

        Its tokens are always decoded alone and in groups of `HELD`, counted from the first; the last group
        may be shorter: no later result depends on whether they were kept.

        Args:
            tokens: Its required content.

        Raises:
            Cancelled, ModelError: as `decode`.
        """
        if self._held == tokens:
            self.cut(0, len(self._held))
            return
        pairs = enumerate(zip(self._held, tokens, strict=False))
        same = next((i for i, (a, b) in pairs if a != b), min(len(self._held), len(tokens)))
        same -= same % HELD
        self.cut(0, same)
        del self._held[same:]
        for low in range(same, len(tokens), HELD):
            self.decode([Row(0, token, wanted=False) for token in tokens[low : low + HELD]])
            self._held += tokens[low : low + HELD]

    def cut(self, seq_id: int, length: int) -> None:
        """Drop all but the first `length` tokens of a sequence."""
        llama.llama_memory_seq_rm(llama.llama_get_memory(self._context), seq_id, length, -1)
        self._length[seq_id] = length

    def copy(self, source: int, target: int) -> None:
        """Copy one sequence to another."""
        llama.llama_memory_seq_cp(llama.llama_get_memory(self._context), source, target, -1, -1)
        self._length[target] = self._length[source]

    def decode(self, rows: Sequence[Row]) -> npt.NDArray[np.float32]:
        """Append tokens to sequences.

        Args:
            rows: At most `ROWS` rows; at most `Engine.chunk` of them with `wanted` logits.

        Returns:
            (wanted rows, vocabulary) float32 in the order of the rows, a view that the next call overwrites.

        Raises:
            Cancelled: `cancelled` of the engine was set.
            ModelError: llama.cpp failed.
        """
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, row in enumerate(rows):
            batch.token[i] = row.token
            batch.pos[i] = self._length[row.seq_id]
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = row.seq_id
            batch.logits[i] = row.wanted
            self._length[row.seq_id] += 1
        try:
            self._engine.run(self._context, batch)
        except (Cancelled, ModelError):
            self._forget()
            raise
        wanted = sum(row.wanted for row in rows)
        if not wanted:
            return np.empty((0, self._engine.vocabulary), np.float32)
        pointer = llama.llama_get_logits(self._context)
        return np.ctypeslib.as_array(pointer, (wanted, self._engine.vocabulary))

    @contextmanager
    def threads(self, count: int) -> Iterator[None]:
        """Decode with `count` threads while the context lasts."""
        self._use_threads(count)
        try:
            yield
        finally:
            self._use_threads(self._engine.threads)

    def _use_threads(self, count: int) -> None:
        self._threads = count
        if self._context:
            llama.llama_set_n_threads(self._context, count, count)

    def close(self) -> None:
        """Free the memory."""
        if self._context:
            llama.llama_free(self._context)
            self._context, self._shape = None, (0, 0)

    def _open(self, shape: tuple[int, int]) -> None:
        self.close()
        self._context, self._shape = self._new_context(shape), shape
        self._use_threads(self._threads)

    def _new_context(self, shape: tuple[int, int]) -> Any:
        return self._engine.open_context(shape[0] * shape[1], shape[0], rows=ROWS, plain=self._plain)

    def _forget(self) -> None:
        llama.llama_memory_clear(llama.llama_get_memory(self._context), True)
        self._length = [0] * self._shape[0]
        self._held = []


def _round_up(tokens: int) -> int:
    return -(-tokens // _STEP) * _STEP
