"""A causal export that reads and continues a sequence of tokens. Imported only in the child process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.local.engine import kept_prefix
from counterlens.models.onnx.export import Export
from counterlens.models.onnx.session import Past, Session, cut
from counterlens.models.onnx.tokenizer import ExportTokenizer

LOGITS_BYTES = 512 << 20
"""Memory limit of the logits of one run: an export returns the logits of all positions that it reads."""
_CHUNK_BYTES = 64 << 20
_CHUNK = 256
_LEAST_WINDOW = 64
_SAME = 0.1  # 8-bit weights round according to the rest of the call


class ExportEngine:
    """One export and one sequence of tokens. Implements `SequenceEngine`.

    With a cache, a text is read in chunks, and its prefix is kept for the next; without one, each call of
    `decode` with logits reads all of it in one pass.

    Args:
        session: Its graph, with logits as an output.
        context: Maximum number of tokens of the window.

    Attributes:
        around: The tokens before and after a text in training.
        cancelled: Set from another thread to end the current run.
    """

    def __init__(self, export: Export, session: Session, tokenizer: ExportTokenizer, context: int) -> None:
        self.session, self.tokenizer = session, tokenizer
        self.cancelled = session.cancelled
        self.around = tokenizer.around
        self.adds_bos = bool(self.around[0])
        self.bos = self.around[0][0] if self.adds_bos else -1
        self.ends = export.ends
        self._tokens: list[int] = []
        self._past: Past = [tensor.empty() for tensor in session.past]
        first = tokenizer.tokenize(b"x") or [0]
        logits, _ = session.run(np.array([first], np.int64))
        self.vocabulary = int(logits.shape[-1])
        pieces = tokenizer.pieces[: self.vocabulary]
        self.pieces = pieces + [b""] * (self.vocabulary - len(pieces))
        window = min(context, export.window or context)
        if session.past:
            self.chunk = min(_CHUNK, 1 << (self.rows_of(_CHUNK_BYTES).bit_length() - 1))
        else:
            window = min(window, self.rows_of(LOGITS_BYTES))
            self.chunk = window
        self.context = window
        if window < _LEAST_WINDOW:
            raise ModelError(f"a context of {window} tokens is too small for a model", "Choose a larger one")

    def rows_of(self, size: int) -> int:
        """Number of positions whose logits fit into `size` bytes; at least one."""
        return max(1, size // (4 * self.vocabulary))

    def tokenize(self, text: bytes) -> list[int]:
        """Like `TokenEngine.tokenize`."""
        return self.tokenizer.tokenize(text)

    def keep_prefix(
        self, tokens: Sequence[int], at_most: int, *, same_groups_from: int = 0, group: int = 1
    ) -> int:
        """Like `SequenceEngine.keep_prefix`."""
        kept = kept_prefix(self._tokens, tokens, at_most, same_groups_from=same_groups_from, group=group)
        self._past = cut(self._past, self.session.past, kept)
        del self._tokens[kept:]
        return kept

    def decode(self, tokens: Sequence[int], *, logits_from: int) -> npt.NDArray[np.float32]:
        """Like `SequenceEngine.decode`; without a cache, all rows are read together."""
        wanted = len(tokens) - logits_from
        if not self.session.past:
            self._tokens.extend(tokens)
            if not wanted:
                return np.empty((0, self.vocabulary), np.float32)
            logits, _ = self.session.run(np.array([self._tokens], np.int64))
            return logits[0, -wanted:]
        if not tokens:
            return np.empty((0, self.vocabulary), np.float32)
        logits, self._past = self.session.run(np.array([tokens], np.int64), past=self._past)
        self._tokens.extend(tokens)
        return logits[0, logits_from:]

    def read(self, tokens: Sequence[int], past: Past) -> tuple[npt.NDArray[np.float32], Past]:
        """Read tokens after a cached past, in chunks; the sequence of the engine is unchanged.

        Args:
            tokens: The tokens, at least one.
            past: Keys and values of the earlier tokens.

        Returns:
            The logits after the last token, (vocabulary,), and the keys and values of all tokens.

        Raises:
            Cancelled, ModelError: as `Session.run`.
        """
        logits = np.empty((1, 1, 0), np.float32)
        for low in range(0, len(tokens), self.chunk):
            logits, past = self.session.run(np.array([tokens[low : low + self.chunk]], np.int64), past=past)
        return logits[0, -1], past


def reads_forward(session: Session, tokenizer: ExportTokenizer) -> bool:
    """Whether the logits of a token are independent of the tokens after it: tested on the model."""
    first, second = tokenizer.tokenize(b"x = 1"), tokenizer.tokenize(b"def f")
    logits = [
        session.run(np.array([[first[0], *rest[:1]]], np.int64))[0][0, 0] for rest in (first[1:], second)
    ]
    scale = float(np.abs(logits[0]).max()) or 1.0
    return float(np.abs(logits[0] - logits[1]).max()) < _SAME * scale
