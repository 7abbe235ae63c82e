"""Completion by exported models: sequences are read one by one and continued together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from counterlens.models.base import Prompt
from counterlens.models.local.completing import Completer, Decoder, Logits
from counterlens.models.local.encoded_prompt import EncodedPrompt, encode_plain
from counterlens.models.local.engine import TokenEngine
from counterlens.models.local.healing import Constraint
from counterlens.models.onnx.engine import LOGITS_BYTES, ExportEngine
from counterlens.models.onnx.session import Past, stack

MOST = 16
"""Maximum number of sequences continued together."""

_CACHE_BYTES = 512 << 20


class PlainEncoder:
    """Encodes prompts without a chat template, for an export."""

    def __init__(self, engine: ExportEngine) -> None:
        self._engine = engine

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        """Like `TokenEncoder.encode`."""
        return encode_plain(self._engine, prompt)


class CachedDecoder:
    """Continues sequences from their cached keys and values.

    Each sequence is read by itself, the common prefix once; then they are padded in front and continued
    together.
    """

    def __init__(self, engine: ExportEngine) -> None:
        self._engine = engine
        self._past: Past = []
        self._order: list[int] = []  # the sequence of each row
        self._lengths: list[int] = []  # length of each row, in tokens
        self._mask = np.empty((0, 0), np.int64)

    def read(self, sequences: Sequence[Sequence[int]], needs: Sequence[int]) -> Logits:
        """Like `Decoder.read`."""
        del needs  # memory grows as needed
        first, shared = sequences[0], min(map(len, sequences)) - 1
        for other in sequences[1:]:
            shared = next((i for i in range(shared) if first[i] != other[i]), shared)
        start: Past = [tensor.empty() for tensor in self._engine.session.past]
        if len(sequences) > 1 and shared:
            _, start = self._engine.read(first[:shared], start)
        else:
            shared = 0
        logits, pasts = {}, []
        for i, sequence in enumerate(sequences):
            logits[i], past = self._engine.read(sequence[shared:], start)
            pasts.append(past)
        self._past = stack(pasts, self._engine.session.past)
        self._order = list(range(len(sequences)))
        self._lengths = [len(sequence) for sequence in sequences]
        columns = np.arange(max(self._lengths))[None, ::-1]
        self._mask = (columns < np.array(self._lengths)[:, None]).astype(np.int64)
        return logits

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Like `Decoder.step`."""
        self._retire(tokens)
        self._mask = np.pad(self._mask, ((0, 0), (0, 1)), constant_values=1)
        logits, self._past = self._engine.session.run(
            np.array([[tokens[i]] for i in self._order], np.int64),
            mask=self._mask,
            positions=np.array(self._lengths, np.int64)[:, None],
            past=self._past,
        )
        self._lengths = [length + 1 for length in self._lengths]
        return {i: logits[row, -1] for row, i in enumerate(self._order)}

    def _retire(self, going_on: Mapping[int, int]) -> None:
        """Drop the rows of ended sequences."""
        rows = [row for row, i in enumerate(self._order) if i in going_on]
        if len(rows) < len(self._order):
            self._past = [values[rows] for values in self._past]
            self._mask = self._mask[rows]
            self._order = [self._order[row] for row in rows]
            self._lengths = [self._lengths[row] for row in rows]


class RereadingDecoder:
    """Continues sequences by reading them again for each token, padded at their ends.

    For exports without a cache.
    """

    def __init__(self, engine: ExportEngine) -> None:
        self._engine = engine
        self._tokens: list[list[int]] = []

    def read(self, sequences: Sequence[Sequence[int]], needs: Sequence[int]) -> Logits:
        """Like `Decoder.read`."""
        del needs  # memory grows as needed
        self._tokens = [list(sequence) for sequence in sequences]
        return self._run(range(len(sequences)))

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Like `Decoder.step`."""
        for i, token in tokens.items():
            self._tokens[i].append(token)
        return self._run(list(tokens))

    def _run(self, rows: Sequence[int]) -> Logits:
        lengths = np.array([len(self._tokens[i]) for i in rows])
        ids = np.zeros((len(rows), lengths.max()), np.int64)
        for row, i in enumerate(rows):
            ids[row, : lengths[row]] = self._tokens[i]
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        logits, _ = self._engine.session.run(ids, mask=mask)
        return {i: logits[row, length - 1] for row, (i, length) in enumerate(zip(rows, lengths, strict=True))}


class ExportCompleter(Completer):
    """Completes prompts with one export; the prompts of one call decode together."""

    def __init__(self, engine: ExportEngine) -> None:
        self.encoder = PlainEncoder(engine)
        self.engine: TokenEngine = engine
        self._export = engine
        self.constraint = Constraint(engine.pieces)
        self.rounding = 0.0

    def decoder(self) -> Decoder:
        """Like `Completer.decoder`."""
        return CachedDecoder(self._export) if self._export.session.past else RereadingDecoder(self._export)

    def groups(self, needs: Sequence[int]) -> list[range]:
        """Like `Completer.groups`: half a gigabyte of cache, or of logits if there is no cache."""
        past = self._export.session.past
        if past:
            # A run holds both the old cache and the new one, which contains it.
            room = _CACHE_BYTES // (2 * sum(tensor.width for tensor in past))
        else:
            room = self._export.rows_of(LOGITS_BYTES)
        most = max(1, min(MOST, room // max(needs)))
        if past and not self._export.session.pads:
            most = 1
        count = -(-len(needs) // most)
        edges = [len(needs) * i // count for i in range(count + 1)]
        return [range(low, high) for low, high in pairwise(edges)]
