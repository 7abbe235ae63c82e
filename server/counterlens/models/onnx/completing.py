"""Completion by exported models: sequences are read one by one and continued together.

A model that reads both sides scores by pseudo-log-likelihood (Salazar et al. 2020, section 2).

Each token is masked and predicted from all others: alone (`piece`), or together with the other pieces of its
word (`word`), so that the rest of a word does not give a piece away. Ahmed et al. 2024 mask an operator in
this way, all its pieces at once. The sum of the logarithms is not a probability of the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError, UnscorableError
from counterlens.models.base import Progress, Prompt
from counterlens.models.local.completing import Completer, Decoder, Logits
from counterlens.models.local.encoded_prompt import Constraint, EncodedPrompt, encode_plain
from counterlens.models.local.engine import TokenEngine
from counterlens.models.local.messages import Scored
from counterlens.models.local.scoring import Rows, gather, reduce, tokenize
from counterlens.models.onnx.protocol import Masking
from counterlens.models.onnx.session import LOGITS_BYTES, ExportEngine, Past, stack

_LOGITS_BYTES = 256 << 20
_AT_ONCE = 16
"""Maximum number of copies of a window read together: more gain little, and each takes memory."""


@dataclass(frozen=True, slots=True)
class _Text:
    """The text to read and score.

    Attributes:
        tokens: The tokens of the context and the text.
        first: Index of the first scored token.
        ends: The byte of the text after each scored token.
        words: The word of each token.
    """

    tokens: list[int]
    first: int
    ends: npt.NDArray[np.int64]
    words: list[int]


class MaskedScorer:
    """Scores texts with one export that reads both sides.

    Args:
        mask: The mask token.
        masking: The unit that is masked.
    """

    def __init__(self, engine: ExportEngine, mask: int, masking: Masking) -> None:
        self._engine, self._mask, self._masking = engine, mask, masking

    @property
    def _window(self) -> int:
        """Maximum number of tokens of a text read at once."""
        return self._engine.context - sum(map(len, self._engine.around))

    @property
    def _longest(self) -> int:
        """Maximum number of tokens masked together."""
        return max(1, self._window // 2)

    def score(self, text: bytes, context: bytes, alternatives: int, progress: Progress) -> Scored:
        """Score every token of a text given all text around it, including the context before it.

        A masked word is read in the middle of as much of the rest as fits into the window.

        Args:
            text: UTF-8.
            context: The text before it; not scored.
            alternatives: Number of likeliest tokens to return per token.
            progress: Called with (finished tokens, all tokens).

        Raises:
            Cancelled, ModelError: as `Session.run`.
        """
        read = self._read(text, context)
        return self._score(read, self._spans(read), alternatives, progress)

    def score_span(self, text: bytes, start: int, end: int, alternatives: int) -> tuple[int, Scored]:
        """Score the tokens that overlap a span of a text, all masked at once.

        Args:
            text: UTF-8.
            start: First byte of the span.
            end: The byte after the span.
            alternatives: Number of likeliest tokens to return per token.

        Returns:
            The first byte of the first of these tokens, and their scores.

        Raises:
            Cancelled, ModelError: as `Session.run`; or the span has no token, or too many.
        """
        read = self._read(text, b"")
        starts = np.concatenate([[0], read.ends[:-1]])
        inside = np.flatnonzero((starts < end) & (read.ends > start))
        if not 0 < len(inside) <= self._longest:
            raise ModelError(f"a span of {len(inside)} tokens cannot be masked", "Name a shorter one")
        low, high = int(inside[0]), int(inside[-1]) + 1
        masked = _Text(read.tokens, low, read.ends[low:high], read.words)
        return int(starts[low]), self._score(masked, [range(low, high)], alternatives, lambda *_: None)

    def _score(self, read: _Text, spans: list[range], alternatives: int, progress: Progress) -> Scored:
        """The scores of consecutive spans, from the first scored token on."""
        total = sum(map(len, spans))
        rows: list[Rows] = []
        width = min(len(read.tokens), self._window)
        at_once = max(1, min(_AT_ONCE, self._engine.rows_of(_LOGITS_BYTES) // max(1, width)))
        starts: list[int] = []
        last = len(read.tokens) - width
        for low in range(0, len(spans), at_once):
            part = spans[low : low + at_once]
            begins = [min(max(0, (span[0] + span[-1]) // 2 - width // 2), last) for span in part]
            rows.append(self._predict(read, part, begins, width, alternatives))
            starts += [begin for begin, span in zip(begins, part, strict=True) for _ in span]
            progress(len(starts), total)
        seen = np.arange(read.first, read.first + total) - np.array(starts, np.int64)
        return gather(rows, read.ends, seen, alternatives, self._engine.pieces)

    def _predict(self, read: _Text, spans: list[range], begins: list[int], width: int, k: int) -> Rows:
        """The scores of some masked spans, each from a copy of its window."""
        before, after = self._engine.around
        ids = np.array([[*before, *read.tokens[begin : begin + width], *after] for begin in begins], np.int64)
        at = [[len(before) + i - begin for i in span] for span, begin in zip(spans, begins, strict=True)]
        for row, places in enumerate(at):
            ids[row, places] = self._mask
        logits, _ = self._engine.session.run(ids)
        picked = np.concatenate([logits[row, places] for row, places in enumerate(at)])
        targets = np.array([read.tokens[i] for span in spans for i in span], np.int64)
        return reduce(picked, targets, k)

    def _spans(self, read: _Text) -> list[range]:
        """The groups of scored tokens that are masked together, in order."""
        places = range(read.first, len(read.tokens))
        if self._masking is Masking.PIECE:
            return [range(i, i + 1) for i in places]
        spans: list[range] = []
        for i in places:
            last = spans[-1] if spans else None
            if last and read.words[i] == read.words[last[-1]] and len(last) < self._longest:
                spans[-1] = range(last[0], i + 1)
            else:
                spans.append(range(i, i + 1))
        return spans

    def _read(self, text: bytes, context: bytes) -> _Text:
        """The tokens of a context and a text; by the tokenizer's offsets if pieces do not join."""
        tokenizer = self._engine.tokenizer
        try:
            before, tokens, ends = tokenize(self._engine, context, text)
        except UnscorableError:
            parts = [tokenizer.encode(part) for part in (context, text)]
            words = [*parts[0].words, *(-1_000_000 - word for word in parts[1].words)]
            tokens = parts[0].tokens + parts[1].tokens
            return _Text(tokens, len(parts[0].tokens), np.array(parts[1].ends, np.int64), words)
        together = tokenizer.encode(context + text)
        if together.tokens == before + tokens:
            words = together.words
        else:  # a token would have spanned the two
            apart = [tokenizer.encode(context).words, tokenizer.encode(text).words]
            words = [*apart[0], *(-1_000_000 - word for word in apart[1])]
        return _Text(before + tokens, len(before), ends, words)


MOST = 16
"""Maximum number of sequences continued together."""

_CACHE_BYTES = 512 << 20


class PlainEncoder:
    """Encodes prompts without a chat template, for an export."""

    def __init__(self, engine: ExportEngine) -> None:
        self._engine = engine

    def encode(self, prompt: Prompt) -> EncodedPrompt:
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
        del needs  # memory grows as needed
        self._tokens = [list(sequence) for sequence in sequences]
        return self._run(range(len(sequences)))

    def step(self, tokens: Mapping[int, int]) -> Logits:
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
