"""Surprisal in bits per byte, which is comparable across tokenizers.

A token's surprisal, the negative binary logarithm of its probability, is spread evenly over its non-blank
bytes (over all its bytes, if all are blank). So the bits of a range are a sum over its bytes: those of a
node's parts add up to the node's, a token that spans two nodes is shared between them and counted once, and
bits per byte mean the same for every tokenizer.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from counterlens.confidence.alignment import blank
from counterlens.models.base import TokenScores


class Surprisal:
    """The surprisal of every byte range of a scored text."""

    def __init__(self, scores: TokenScores) -> None:
        data = scores.text.encode("utf-8", "surrogatepass")
        at = np.arange(len(data))
        token = np.searchsorted(scores.end, at, side="right")
        held = token < len(scores)
        token = np.minimum(token, max(len(scores) - 1, 0))
        if len(scores):
            held &= (scores.start[token] <= at) & ~np.isnan(scores.logprob[token])
        solid = held & ~blank(data)
        n = max(len(scores), 1)
        solids, bytes_ = np.bincount(token[solid], minlength=n), np.bincount(token[held], minlength=n)
        bits = np.nan_to_num(scores.logprob / -math.log(2)) if len(scores) else np.zeros(1)
        each = bits / np.maximum(np.where(solids > 0, solids, bytes_), 1)
        bearing = solid | (held & (solids[token] == 0))
        self._bits = np.concatenate([[0.0], np.cumsum(np.where(bearing, each[token], 0.0))])
        self._scored = np.concatenate([[0], np.cumsum(held)])

    def bits(
        self, start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """The bits of m byte ranges, and the number of their scored bytes.

        Args:
            start: (m,) first bytes.
            end: (m,) bytes after the last.

        Returns:
            (m,) float64 bits, not negative; (m,) int64 number of bytes in scored tokens.
        """
        return np.maximum(self._bits[end] - self._bits[start], 0.0), self._scored[end] - self._scored[start]
