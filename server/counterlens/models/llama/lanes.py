"""Several sequences side by side in one llama.cpp context: what they begin with in common is decoded once.

A decode of nine sequences costs far less than nine decodes. Each sequence has its own share of the KV cache
(`kv_unified` false), and everything starts from an empty one or from a beginning that was decoded in the very
groups in which it would be decoded now, so that what comes out is a function of what went in and of nothing
that ran before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, ModelError
from counterlens.models.llama.native import BATCH, Engine

MOST = 16
"""Sequences that are decoded together at most; beyond that a processor gains little."""

HELD = 64
"""Tokens in a group of the beginning that is held for the next request: fewer read less of it twice."""

_CACHE_BYTES = 512 << 20
_STEP = 256  # room is given in such portions, so that similar requests use the same context again


@dataclass(frozen=True, slots=True)
class Row:
    """One token to append to a lane.

    Attributes:
        lane: Which.
        token: What.
        wanted: Whether the logits after it are.
    """

    lane: int
    token: int
    wanted: bool


class Lanes:
    """The sequences of one request at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._context: Any = None
        self._shape = (0, 0)
        self._batch = llama.llama_batch_init(BATCH, 0, 1)
        self._length: list[int] = []
        self._held: list[int] = []  # what lane 0 holds for later requests

    def groups(self, needs: Sequence[int]) -> list[range]:
        """Split sequences into groups that fit into memory together, in their order.

        At most half a gigabyte of cache is used, or as much as the model's own context takes.

        Args:
            needs: How many tokens each may come to hold.
        """
        most = max(1, min(MOST, self._room // _rounded(max(needs))))
        count = -(-len(needs) // most)
        edges = [len(needs) * i // count for i in range(count + 1)]
        return [range(low, high) for low, high in pairwise(edges)]

    def fits(self, lanes: int, tokens: int) -> bool:
        """Whether so many lanes of so many tokens are few enough, and fit into memory together."""
        return lanes <= MOST + 1 and lanes * _rounded(tokens) <= self._room

    def start(self, needs: Sequence[int]) -> None:
        """Begin with one empty lane for each of `needs`, which says how many tokens it must hold."""
        shape = len(needs), _rounded(max(needs))
        if shape != self._shape:
            self._open(shape)
        self._forget()

    def reserve(self, lanes: int, tokens: int) -> None:
        """Have at least so many lanes that hold so many tokens each; what lane 0 holds stays if it can.

        What the other lanes hold is undefined.
        """
        (have, each), room = self._shape, _rounded(tokens)
        if lanes > have or not room <= each <= 2 * room:  # a lane is copied as a whole: none is far too long
            more = max(have, -(-lanes // 4) * 4)
            self._open((more if self.fits(more, room) else lanes, room))
            self._forget()

    def hold(self, tokens: Sequence[int]) -> None:
        """Fill lane 0; what it holds already is not decoded again.

        Its tokens are always decoded alone and in groups of `HELD` from the first one on, the last group
        being what is left: nothing that is computed later can tell whether they were held.

        Args:
            tokens: What it is to hold.

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

    def cut(self, lane: int, length: int) -> None:
        """Drop what a lane holds behind its first tokens."""
        llama.llama_memory_seq_rm(llama.llama_get_memory(self._context), lane, length, -1)
        self._length[lane] = length

    def copy(self, source: int, target: int) -> None:
        """Let one lane hold what another one does."""
        llama.llama_memory_seq_cp(llama.llama_get_memory(self._context), source, target, -1, -1)
        self._length[target] = self._length[source]

    def read(self, sequences: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float32]]:
        """Fill each empty lane with a sequence.

        Returns:
            The logits after the last token of each: (vocabulary,) float32.

        Raises:
            Cancelled, ModelError: as `decode`.
        """
        at = self.read_shared(sequences, min(len(sequence) for sequence in sequences) - 1)
        last: dict[int, npt.NDArray[np.float32]] = {}
        pending = {lane: list(sequence[at:]) for lane, sequence in enumerate(sequences)}
        while pending:
            portion = BATCH // len(pending)
            rows = [
                Row(lane, token, wanted=i + 1 == len(rest))
                for lane, rest in pending.items()
                for i, token in enumerate(rest[:portion])
            ]
            logits = self.decode(rows)
            done = [row.lane for row in rows if row.wanted]
            last |= {lane: logits[i].copy() for i, lane in enumerate(done)}
            pending = {lane: rest[portion:] for lane, rest in pending.items() if len(rest) > portion}
        return [last[lane] for lane in range(len(sequences))]

    def read_shared(self, sequences: Sequence[Sequence[int]], at_most: int) -> int:
        """Fill each empty lane with what all sequences begin with, and say how many tokens that is.

        Raises:
            Cancelled, ModelError: as `decode`.
        """
        if len(sequences) > 1 and not self._engine.keeps_prefixes:
            return 0
        first, shared = sequences[0], at_most
        for other in sequences[1:]:
            shared = next((i for i in range(shared) if first[i] != other[i]), shared)
        for low in range(0, shared, BATCH):
            self.decode([Row(0, token, wanted=False) for token in first[low : min(low + BATCH, shared)]])
        if shared:
            for lane in range(1, len(sequences)):
                self.copy(0, lane)
        return shared

    def decode(self, rows: Sequence[Row]) -> npt.NDArray[np.float32]:
        """Append tokens to lanes.

        Args:
            rows: At most 512; the logits of at most `Engine.chunk` of them may be wanted.

        Returns:
            (wanted rows, vocabulary) float32 in the order of the rows, a view that the next call overwrites.

        Raises:
            Cancelled: the engine's `cancelled` was set.
            ModelError: llama.cpp failed.
        """
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, row in enumerate(rows):
            batch.token[i] = row.token
            batch.pos[i] = self._length[row.lane]
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = row.lane
            batch.logits[i] = row.wanted
            self._length[row.lane] += 1
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

    def close(self) -> None:
        """Give the memory back."""
        if self._context:
            llama.llama_free(self._context)
            self._context, self._shape = None, (0, 0)

    @property
    def _room(self) -> int:
        """Tokens that all lanes may hold together: half a gigabyte, or as many as the model's context."""
        return max(self._engine.context, _CACHE_BYTES // self._engine.cache_bytes)

    def _open(self, shape: tuple[int, int]) -> None:
        self.close()
        self._context = self._engine.open_context(shape[0] * shape[1], shape[0])
        self._shape = shape

    def _forget(self) -> None:
        llama.llama_memory_clear(llama.llama_get_memory(self._context), True)
        self._length = [0] * self._shape[0]
        self._held = []


def _rounded(tokens: int) -> int:
    return -(-tokens // _STEP) * _STEP
