"""The interface of a loaded model for scoring and completing."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Protocol

import numpy as np
import numpy.typing as npt


class TokenEngine(Protocol):
    """A vocabulary and a window.

    Attributes:
        context: Number of tokens that the window holds.
        vocabulary: Number of tokens of the vocabulary.
        adds_bos: Whether a text begins with the token `bos`.
        bos: The beginning-of-text token; undefined if `adds_bos` is false.
        ends: The tokens that end a text.
        cancelled: Set from another thread to cancel the current work.
    """

    context: int
    vocabulary: int
    adds_bos: bool
    bos: int
    pieces: list[bytes]
    ends: frozenset[int]
    cancelled: Event

    def tokenize(self, text: bytes) -> list[int]:
        """The tokens of a text; special tokens in it are treated as text."""


class SequenceEngine(TokenEngine, Protocol):
    """A model that reads one sequence of tokens and gives the logits after each.

    Attributes:
        chunk: Maximum number of positions with logits in one decode.
    """

    chunk: int

    def keep_prefix(
        self, tokens: Sequence[int], at_most: int, *, same_groups_from: int = 0, group: int = 1
    ) -> int:
        """Drop everything but the common prefix with `tokens` from the sequence; return its length.

        Args:
            tokens: The tokens to decode.
            at_most: Maximum number of tokens to keep.
            same_groups_from: The start of groups of `group` tokens. The kept prefix ends with a whole group,
                so that what follows is decoded in the same groups as if nothing had been kept: other groups
                give other rounding. Before it, groups start at 0.
        """

    def decode(self, tokens: Sequence[int], *, logits_from: int) -> npt.NDArray[np.float32]:
        """Append tokens to the sequence.

        Args:
            tokens: The tokens, at most as many as one decode takes.
            logits_from: Index of the first token with logits; at most `chunk` tokens have logits.

        Returns:
            (len(tokens) - logits_from, vocabulary) float32, a view that the next call overwrites.

        Raises:
            Cancelled: `cancelled` was set.
            ModelError: the engine failed.
        """


def kept_prefix(
    held: Sequence[int], tokens: Sequence[int], at_most: int, *, same_groups_from: int, group: int
) -> int:
    """Number of held tokens to keep, as `SequenceEngine.keep_prefix`."""
    kept = 0
    limit = min(len(held), len(tokens), at_most)
    while kept < limit and held[kept] == tokens[kept]:
        kept += 1
    origin = same_groups_from if kept >= same_groups_from else 0
    return kept - (kept - origin) % group
