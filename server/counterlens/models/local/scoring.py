"""Logits to scores (Palacio et al. 2023, section II), chunk by chunk; no array of vocabulary size is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import UnscorableError
from counterlens.models.local.engine import SequenceEngine, TokenEngine
from counterlens.models.local.messages import Scored

_BLOCK = 256
"""Tokens of the vocabulary searched together for the most likely ones."""

_LARGEST_GAP = 1024
"""Maximum number of consecutive bytes without a token."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The scores of some consecutive tokens."""

    logprob: npt.NDArray[np.float64]
    entropy: npt.NDArray[np.float64]
    deviation: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int64]
    best: npt.NDArray[np.int64]
    best_logprob: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """The cached state of the last text: successive edits share a long prefix.

    Attributes:
        lead: Tokens before it, unscored.
        alternatives: Number of alternatives requested.
        rows: Scores of its whole chunks, from the start of the text.
    """

    lead: list[int]
    tokens: list[int]
    alternatives: int
    rows: list[Rows]


class Scorer:
    """Scores texts with one engine.

    Chunks are counted from the start of the scored text: an unchanged context and beginning are decoded in
    the same groups, round in the same way, and get the same scores.
    """

    def __init__(self, engine: SequenceEngine) -> None:
        self._engine = engine
        self._last: _Scored | None = None

    def score(
        self, text: bytes, context: bytes, alternatives: int, progress: Callable[[int, int], None]
    ) -> Scored:
        """Score every token of a text given the context and the tokens before it.

        A text longer than the model's window is scored in windows that overlap by half: every token sees at
        least half a window. The oldest tokens of a context longer than a quarter of the window are dropped.

        Raises:
            Cancelled, ModelError: as `SequenceEngine.decode`.
        """
        engine, k = self._engine, alternatives
        before, tokens, ends = tokenize(engine, context, text)
        lead = ([engine.bos] if engine.adds_bos else []) + before[-(engine.context // 4) :]
        if not lead:
            lead, tokens = tokens[:1], tokens[1:]  # the first token cannot be predicted from anything
        unscored = len(ends) - len(tokens)
        rows, seen = self._score(lead, tokens, k, progress)
        return gather(rows, ends, seen, k, engine.pieces, unscored=unscored)

    def _score(
        self, lead: list[int], tokens: list[int], k: int, progress: Callable[[int, int], None]
    ) -> tuple[list[Rows], npt.NDArray[np.int64]]:
        """The scores of `tokens` after `lead`, and the number of tokens before each of them."""
        first = self._engine.context - len(lead)  # number of tokens that the first window scores
        rows = self._first_window(lead, tokens[:first], k, progress, len(tokens))
        seen = [np.arange(len(lead), len(lead) + min(first, len(tokens)), dtype=np.int64)]
        at, half = first, self._engine.context // 2
        while at < len(tokens):
            stop = min(at + half, len(tokens))
            self._engine.keep_prefix((), 0)
            self._read(tokens[at - half : at - 1])
            rows += self._chunks(tokens, at, stop, k, lambda done: progress(done, len(tokens)))
            seen.append(np.arange(half, half + stop - at, dtype=np.int64))
            at = stop
        return rows, np.concatenate(seen)

    def _first_window(
        self,
        lead: list[int],
        tokens: list[int],
        k: int,
        progress: Callable[[int, int], None],
        total: int,
    ) -> list[Rows]:
        """Score the first window; chunks that also began the last text are taken from the cache."""
        last, chunk = self._last, self._engine.chunk
        last_rows = last.rows if last and last.lead == lead and last.alternatives == k else []
        ready = min(_common_prefix(tokens, last.tokens) // chunk, len(last_rows)) if last else 0
        # The chunk that scores tokens[a:b] decodes the token before each of them.
        sequence = lead + tokens
        start = len(lead) - 1 + ready * chunk
        kept = self._engine.keep_prefix(sequence, start, same_groups_from=len(lead) - 1, group=chunk)
        for low, high in ((kept, len(lead) - 1), (max(kept, len(lead) - 1), start)):
            self._read(sequence[low:high])
        rows = last_rows[:ready]
        self._last = _Scored(lead, tokens, k, rows)
        for part in self._chunks(
            sequence,
            len(lead) + ready * chunk,
            len(sequence),
            k,
            lambda done: progress(done - len(lead), total),
        ):
            rows.append(part)
        scored = list(rows)
        if rows and len(rows[-1].logprob) < chunk:
            del rows[-1]  # in a longer text the last group would be a different one
        return scored

    def _chunks(
        self, sequence: list[int], start: int, stop: int, k: int, progress: Callable[[int], None]
    ) -> Iterator[Rows]:
        """The scores of `sequence[start:stop]`, chunk by chunk; all before `start - 1` has been read."""
        for low in range(start, stop, self._engine.chunk):
            high = min(low + self._engine.chunk, stop)
            logits = self._engine.decode(sequence[low - 1 : high - 1], logits_from=0)
            yield reduce(logits, np.asarray(sequence[low:high], np.int64), k)
            progress(high)

    def _read(self, tokens: list[int]) -> None:
        """Decode tokens that serve only as context, in the groups of scored ones."""
        for low in range(0, len(tokens), self._engine.chunk):
            part = tokens[low : low + self._engine.chunk]
            self._engine.decode(part, logits_from=len(part))


def _common_prefix(first: list[int], second: list[int]) -> int:
    """Length of the common prefix of two texts, in tokens."""
    for i, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return i
    return min(len(first), len(second))


def reduce(logits: npt.NDArray[np.float32], targets: npt.NDArray[np.int64], k: int) -> Rows:
    """Reduce (m, vocabulary) logits to the scores of the m tokens that followed.

    Row by row, so that the data stays in the processor's cache and no copy of the logits is made. Sums are
    float32 with many accumulators (pairwise, and BLAS dot products) over values relative to the largest:
    accurate to about 1e-6 for 10^5 terms.

    Args:
        logits: (m, v) float32.
        targets: (m,) the actual tokens.
        k: Number of most likely tokens to keep.
    """
    m, size = logits.shape
    starts = np.arange(0, size, _BLOCK)
    maxima = np.empty((m, len(starts)), np.float32)
    mass, expected, squared = np.empty(m), np.empty(m), np.empty(m)
    rank = np.empty(m, np.int64)
    shifted, weights = np.empty(size, np.float32), np.empty(size, np.float32)
    for i, (row, target) in enumerate(zip(logits, targets.tolist(), strict=True)):
        np.maximum.reduceat(row, starts, out=maxima[i])
        np.subtract(row, maxima[i].max(), out=shifted)
        np.exp(shifted, out=weights)
        mass[i] = weights.sum()
        expected[i] = np.dot(weights, shifted)
        np.multiply(weights, shifted, out=weights)
        squared[i] = np.dot(weights, shifted)
        rank[i] = np.count_nonzero(row > row[target])
    log_mass = np.log(mass) + maxima.max(axis=1)
    best = _best(logits, maxima, min(k, size))
    return Rows(
        logprob=np.minimum(logits[np.arange(m), targets] - log_mass, 0.0),
        entropy=np.maximum(np.log(mass) - expected / mass, 0.0),
        deviation=np.sqrt(np.maximum(squared / mass - (expected / mass) ** 2, 0.0)),
        rank=rank,
        best=best,
        best_logprob=np.take_along_axis(logits, best, axis=1).astype(np.float64) - log_mass[:, None],
    )


def _best(logits: npt.NDArray[np.float32], maxima: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.int64]:
    """The k most likely tokens of each row, best first.

    They are in the k blocks with the largest maxima, so only those blocks are searched.
    """
    m, size = logits.shape
    if k == 0:
        return np.empty((m, 0), np.int64)
    blocks = np.argsort(-maxima, axis=1, kind="stable")[:, :k]
    candidates = (blocks[:, :, None] * _BLOCK + np.arange(_BLOCK)).reshape(m, -1)
    values = np.take_along_axis(logits, np.minimum(candidates, size - 1), axis=1)
    values[candidates >= size] = -np.inf
    order = np.argpartition(-values, k - 1, axis=1)[:, :k]
    best = np.take_along_axis(candidates, order, axis=1)
    ranked = np.argsort(-np.take_along_axis(values, order, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, ranked, axis=1)


def gather(
    rows: list[Rows],
    ends: npt.NDArray[np.int64],
    seen: npt.NDArray[np.int64],
    k: int,
    pieces: list[bytes],
    *,
    unscored: int = 0,
) -> Scored:
    """Join the scores of a text's parts.

    Args:
        rows: The parts, in order.
        ends: (n,) the byte after each token.
        seen: Number of tokens before each scored one.
        k: Number of alternatives per token.
        pieces: The bytes of every token of the vocabulary.
        unscored: Number of tokens at the start without scores.
    """
    best = _column(rows, "best", (0, k), np.int64)
    return Scored(
        end=ends,
        logprob=np.concatenate([np.full(unscored, np.nan), _column(rows, "logprob", (0,), np.float64)]),
        entropy=np.concatenate([np.full(unscored, np.nan), _column(rows, "entropy", (0,), np.float64)]),
        rank=np.concatenate([np.full(unscored, -1), _column(rows, "rank", (0,), np.int64)]),
        alternative_logprob=np.concatenate(
            [np.full((unscored, k), np.nan), _column(rows, "best_logprob", (0, k), np.float64)]
        ),
        alternatives=[()] * unscored + [tuple(pieces[t] for t in row) for row in best.tolist()],
        context=np.concatenate([np.zeros(unscored, np.int64), seen]),
        deviation=np.concatenate([np.full(unscored, np.nan), _column(rows, "deviation", (0,), np.float64)]),
    )


def tokenize(
    engine: TokenEngine, context: bytes, text: bytes
) -> tuple[list[int], list[int], npt.NDArray[np.int64]]:
    """The tokens of a context and of the text after it, and the byte of the text after each of its tokens.

    They are tokenized together, because a tokenizer's result for the end of the context depends on what
    follows. Only if one token would span the two are they tokenized separately.
    """
    if not context:
        tokens = engine.tokenize(text)
        return [], tokens, _ends(engine, tokens, text)
    together = engine.tokenize(context + text)
    ends = _ends(engine, together, context + text)
    split = int(np.searchsorted(ends, len(context), side="right"))
    if text and split and ends[split - 1] == len(context):
        return together[:split], together[split:], ends[split:] - len(context)
    tokens = engine.tokenize(text)
    return engine.tokenize(context), tokens, _ends(engine, tokens, text)


def _ends(engine: TokenEngine, tokens: list[int], text: bytes) -> npt.NDArray[np.int64]:
    """The byte after each token, so that the tokens tile the text.

    The pieces may differ from the text in two ways. A tokenizer may put a blank before it (SentencePiece);
    and a vocabulary may lack the bytes of a rare character, which then has no token and is counted with the
    token after it.

    Raises:
        UnscorableError: the pieces are not in the text.
    """
    pieces = [engine.pieces[token] for token in tokens]
    if pieces and not text.startswith(pieces[0]) and text.startswith(pieces[0][1:]):
        pieces[0] = pieces[0][1:]
    ends = np.empty(len(pieces), np.int64)
    at = 0
    for i, piece in enumerate(pieces):
        start = text.find(piece, at, at + len(piece) + _LARGEST_GAP)
        if start < 0:
            raise UnscorableError(
                "the model's tokenizer does not reproduce this text byte for byte",
                "Scores could not be mapped to the code; choose another model",
            )
        at = start + len(piece)
        ends[i] = at
    if pieces:
        ends[-1] = len(text)
    return ends


def _column(
    rows: list[Rows], name: str, empty: tuple[int, ...], kind: type[np.generic]
) -> npt.NDArray[np.generic]:
    return np.concatenate([getattr(row, name) for row in rows]) if rows else np.empty(empty, kind)
