"""Logits to scores (paper 001, section II): one chunk at a time, nothing of vocabulary size kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.llama.native import CHUNK, Engine
from counterlens.models.llama.protocol import Scored

_LARGEST_GAP = 1024
"""Bytes without a token that are tolerated in one place."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The scores of some consecutive tokens."""

    logprob: npt.NDArray[np.float64]
    entropy: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int64]
    best: npt.NDArray[np.int64]
    best_logprob: npt.NDArray[np.float64]


class Scorer:
    """Scores texts with one engine, and keeps the last scores: successive edits share a long prefix."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tokens: list[int] = []
        self._rows: list[_Rows] = []  # one a chunk, of the first window of `_tokens`
        self._alternatives = 0

    def score(self, text: bytes, alternatives: int, progress: Callable[[int, int], None]) -> Scored:
        """Score every token of a text given what precedes it.

        A text longer than the context is scored in windows that overlap by half: every token sees at
        least half a context.

        Raises:
            Cancelled, ModelError: as `Engine.decode`.
        """
        engine = self._engine
        tokens = engine.tokenize(text)
        ends = _ends(engine, tokens, text)
        lead = [engine.bos] if engine.adds_bos else []
        sequence = lead + tokens
        n, k = len(tokens), alternatives
        rows, context = self._score_sequence(sequence, k, progress)
        scored = len(sequence) - 1 if sequence else 0
        unscored = n - scored  # 1 without BOS, 0 with
        best = _column(rows, "best", (0, k), np.int64)
        return Scored(
            end=ends,
            logprob=np.concatenate([np.full(unscored, np.nan), _column(rows, "logprob", (0,), np.float64)]),
            entropy=np.concatenate([np.full(unscored, np.nan), _column(rows, "entropy", (0,), np.float64)]),
            rank=np.concatenate([np.full(unscored, -1), _column(rows, "rank", (0,), np.int64)]),
            alternative_logprob=np.concatenate(
                [np.full((unscored, k), np.nan), _column(rows, "best_logprob", (0, k), np.float64)]
            ),
            alternatives=[()] * unscored + [tuple(engine.pieces[t] for t in row) for row in best.tolist()],
            context=np.concatenate([np.zeros(unscored, np.int64), context]),
        )

    def _score_sequence(
        self, sequence: list[int], k: int, progress: Callable[[int, int], None]
    ) -> tuple[list[_Rows], npt.NDArray[np.int64]]:
        """The scores of `sequence[1:]`, and how many tokens each of them was given."""
        window = self._engine.context
        rows = self._first_window(sequence[:window], k, progress, len(sequence))
        context = [np.arange(1, min(len(sequence), window), dtype=np.int64)]
        at, half = window, window // 2
        while at < len(sequence):
            start, stop = at - half, min(at + half, len(sequence))
            self._engine.keep_prefix((), 0)
            self._engine_context(sequence[start : at - 1])
            for low in range(at - 1, stop - 1, CHUNK):
                high = min(low + CHUNK, stop - 1)
                rows.append(self._chunk(sequence[low:high], sequence[low + 1 : high + 1], k))
                progress(high + 1, len(sequence))
            context.append(np.arange(at - start, stop - start, dtype=np.int64))
            at = stop
        return rows, np.concatenate(context)

    def _first_window(
        self, sequence: list[int], k: int, progress: Callable[[int, int], None], total: int
    ) -> list[_Rows]:
        """Score the first window, reusing the chunks that the last text began with as well.

        Chunks are anchored at the start, so that equal prefixes are decoded in equal groups.
        """
        shared = 0
        if k == self._alternatives:
            limit = min(len(sequence), len(self._tokens))
            while shared < limit and sequence[shared] == self._tokens[shared]:
                shared += 1
        # A chunk scores the token after its last, so that one must be shared as well.
        ready = min(max(shared - 1, 0) // CHUNK, len(self._rows))
        kept = self._engine.keep_prefix(sequence, ready * CHUNK, multiple_of=CHUNK)
        self._engine_context(sequence[kept : ready * CHUNK])
        rows = self._rows[:ready]
        self._tokens, self._rows, self._alternatives = sequence, rows, k
        for low in range(ready * CHUNK, len(sequence) - 1, CHUNK):
            high = min(low + CHUNK, len(sequence) - 1)
            chunk = self._chunk(sequence[low:high], sequence[low + 1 : high + 1], k)
            rows = [*rows, chunk]
            if high - low == CHUNK:
                self._rows = rows
            progress(high + 1, total)
        return list(rows)

    def _engine_context(self, tokens: list[int]) -> None:
        """Decode tokens that only serve as context, in the groups in which scored ones are."""
        for low in range(0, len(tokens), CHUNK):
            part = tokens[low : low + CHUNK]
            self._engine.decode(part, logits_from=len(part))

    def _chunk(self, tokens: list[int], targets: list[int], k: int) -> _Rows:
        return reduce(self._engine.decode(tokens, logits_from=0), np.asarray(targets, np.int64), k)


def reduce(logits: npt.NDArray[np.float32], targets: npt.NDArray[np.int64], k: int) -> _Rows:
    """Reduce (m, vocabulary) logits to the scores of the m tokens that followed.

    Args:
        logits: (m, v) float32.
        targets: (m,) the tokens that came.
        k: How many of the most likely tokens to keep.
    """
    lines = np.arange(len(targets))
    top = logits.max(axis=1, keepdims=True)
    shifted = logits - top
    exponentials = np.exp(shifted)
    # float32 sums over 10^5 positive terms are good to 1e-5; a float64 copy would cost twice the memory
    mass = exponentials.sum(axis=1, dtype=np.float64)
    log_mass = np.log(mass)
    chosen = shifted[lines, targets].astype(np.float64)
    entropy = log_mass - np.einsum("ij,ij->i", exponentials, shifted, dtype=np.float64) / mass
    rank = (logits > logits[lines, targets][:, None]).sum(axis=1)
    if k:
        best = np.argpartition(logits, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(logits, best, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(best, order, axis=1)
    else:
        best = np.empty((len(targets), 0), np.int64)
    return _Rows(
        logprob=chosen - log_mass,
        entropy=entropy,
        rank=rank.astype(np.int64),
        best=best.astype(np.int64),
        best_logprob=np.take_along_axis(shifted, best, axis=1).astype(np.float64) - log_mass[:, None],
    )


def _ends(engine: Engine, tokens: list[int], text: bytes) -> npt.NDArray[np.int64]:
    """The byte after each token, so that the tokens tile the text.

    Two things keep the pieces from joining to the text. A tokenizer may put a blank before it
    (SentencePiece); and a vocabulary may lack the bytes of a rare character, which then has no token at all
    and is counted with the token after it.

    Raises:
        ModelError: the pieces are not in the text.
    """
    pieces = [engine.pieces[token] for token in tokens]
    if pieces and not text.startswith(pieces[0]) and text.startswith(pieces[0][1:]):
        pieces[0] = pieces[0][1:]
    ends = np.empty(len(pieces), np.int64)
    at = 0
    for i, piece in enumerate(pieces):
        found = text.find(piece, at, at + len(piece) + _LARGEST_GAP)
        if found < 0:
            raise ModelError(
                "the model's tokenizer does not give this text back byte for byte",
                "Scores could not be placed on the code; choose another model",
            )
        at = found + len(piece)
        ends[i] = at
    if pieces:
        ends[-1] = len(text)
    return ends


def _column(
    rows: list[_Rows], name: str, empty: tuple[int, ...], kind: type[np.generic]
) -> npt.NDArray[np.generic]:
    return np.concatenate([getattr(row, name) for row in rows]) if rows else np.empty(empty, kind)
