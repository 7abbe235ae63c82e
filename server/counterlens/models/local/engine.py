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
        context: Tokens that the window holds.
        vocabulary: How many tokens there are.
        adds_bos: Whether a text begins with the token `bos`.
        bos: That token; undefined where `adds_bos` is false.
        pieces: The bytes of every token.
        ends: The tokens that end a text.
        cancelled: Set from another thread to give up what is under way.
    """

    context: int
    vocabulary: int
    adds_bos: bool
    bos: int
    pieces: list[bytes]
    ends: frozenset[int]
    cancelled: Event

    def tokenize(self, text: bytes) -> list[int]:
        """The tokens of a text; special tokens in it are text."""


class SequenceEngine(TokenEngine, Protocol):
    """A model that reads one sequence of tokens and says what follows each.

    Attributes:
        chunk: Positions whose logits are wanted in one decode, at most.
    """

    chunk: int

    def keep_prefix(
        self, tokens: Sequence[int], at_most: int, *, same_groups_from: int = 0, group: int = 1
    ) -> int:
        """Drop everything but the common prefix with `tokens` from the sequence; return its length.

        Args:
            tokens: The tokens to decode.
            at_most: Limit the number of entries.
            same_groups_from: The starts of groups of `group` tokens. The kept state ends with a whole group,
                so that what follows is decoded in the same groups as if nothing had been kept: other groups,
                other rounding. Before it groups start at 0.
            group: Tokens in a group.
        """

    def decode(self, tokens: Sequence[int], *, logits_from: int) -> npt.NDArray[np.float32]:
        """Append tokens to the sequence.

        Args:
            tokens: At most as many as a decode takes.
            logits_from: Index of the first of them whose logits are wanted; at most `chunk` are.

        Returns:
            (len(tokens) - logits_from, vocabulary) float32, a view that the next call overwrites.

        Raises:
            Cancelled: `cancelled` was set.
            ModelError: the engine failed.
        """


def kept_prefix(
    held: Sequence[int], tokens: Sequence[int], at_most: int, *, same_groups_from: int, group: int
) -> int:
    """How many of the held tokens stay, as `SequenceEngine.keep_prefix` says."""
    kept = 0
    limit = min(len(held), len(tokens), at_most)
    while kept < limit and held[kept] == tokens[kept]:
        kept += 1
    origin = same_groups_from if kept >= same_groups_from else 0
    return kept - (kept - origin) % group
