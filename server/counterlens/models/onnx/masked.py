"""Scores of an exported model that reads both sides: pseudo-log-likelihood (Salazar et al. 2020, section 2).

Each token is masked and predicted from all others: alone (`piece`), or together with the other pieces of its
word (`word`), so that the rest of a word does not give a piece away. Ahmed et al. 2024 mask an operator in
this way, all its pieces at once. The sum of the logarithms is not a probability of the text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError, UnscorableError
from counterlens.models.base import Progress
from counterlens.models.local.messages import Scored
from counterlens.models.local.scoring import Rows, gather, reduce, tokenize
from counterlens.models.onnx.protocol import Masking
from counterlens.models.onnx.session import ExportEngine

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
