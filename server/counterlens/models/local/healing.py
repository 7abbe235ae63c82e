"""Token healing: a prompt is cut back to a token boundary, and the removed bytes constrain the first tokens.

If a prompt ends in the middle of what the tokenizer would make one token (a newline before its indentation,
half a word), the model has to continue a text that it has never seen. Therefore the trailing blanks and the
last token are removed, and at first only tokens that spell the removed bytes are allowed.
"""

from __future__ import annotations

import bisect
from functools import cached_property

import numpy as np
import numpy.typing as npt

from counterlens.models.local.engine import TokenEngine


def split(engine: TokenEngine, prompt: bytes) -> tuple[list[int], bytes]:
    """The tokens to feed, and the bytes that the completion must begin with."""
    body = prompt.rstrip(b" \t\r\n")
    tokens = engine.tokenize(body)
    lead = [engine.bos] if engine.adds_bos else []
    if not tokens or (len(tokens) == 1 and not lead):
        return lead + engine.tokenize(prompt), b""  # nothing would be left to condition on
    required = engine.pieces[tokens[-1]] + prompt[len(body) :]
    return lead + tokens[:-1], required


class Constraint:
    """Restricts the next tokens while bytes of the prompt remain to be spelled.

    Args:
        pieces: The bytes of every token of the vocabulary.
    """

    def __init__(self, pieces: list[bytes]) -> None:
        self._vocabulary = pieces

    @cached_property
    def _sorted(self) -> tuple[list[bytes], npt.NDArray[np.int64]]:
        """The tokens that spell something, by their bytes; sorted for the first completion."""
        usable = sorted((piece, token) for token, piece in enumerate(self._vocabulary) if piece)
        return [piece for piece, _ in usable], np.array([token for _, token in usable], np.int64)

    def allowed(self, required: bytes) -> npt.NDArray[np.int64]:
        """The tokens that are a prefix of `required`, or that begin with it."""
        pieces, tokens = self._sorted
        low = bisect.bisect_left(pieces, required)
        high = bisect.bisect_left(pieces, required + b"\xff" * 8, low)
        ranges = [tokens[low:high]]
        for length in range(1, len(required)):
            part = required[:length]
            start = bisect.bisect_left(pieces, part)
            stop = bisect.bisect_right(pieces, part, start)
            ranges.append(tokens[start:stop])
        return np.concatenate(ranges)
