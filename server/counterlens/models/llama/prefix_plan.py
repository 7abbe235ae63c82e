"""Plan for sequences that share prefixes: the parent of each sequence, and its KV-cache slot.

The plan is made before decoding, and depends on the sequences alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Fork:
    """The fork of one sequence from another.

    Attributes:
        parent: The sequence whose prefix it shares; None if it is read from its start.
        start: Length of the shared prefix, in tokens.
        slot: Its slot in the KV cache.
    """

    parent: int | None
    start: int
    slot: int


def plan_prefixes(sequences: Sequence[Sequence[int]]) -> list[Fork]:
    """Plan how to read sequences in step, with each shared token read once.

    A sequence forks from its parent one token before they differ, because the logits after that token are
    compared with another target; so each sequence reads at least one token itself. A slot is free again when
    its sequence has ended.

    Args:
        sequences: (n,) sequences of tokens; the parent of a sequence comes before it.
    """
    starts: list[tuple[int | None, int]] = []
    arrays = [np.asarray(sequence, np.int64) for sequence in sequences]
    for i, sequence in enumerate(arrays):
        shared = [_shared(sequence, other) for other in arrays[:i]]
        most = max(shared, default=0)
        # The first of those with the longest shared prefix is still in its own slot at the fork.
        starts.append((shared.index(most), most - 1) if most > 1 else (None, 0))
    slots = [0] * len(sequences)
    ends: list[int] = []  # end of the sequence in each slot
    for i in sorted(range(len(sequences)), key=lambda i: (starts[i][1], i)):
        start, end = starts[i][1], len(sequences[i])
        slot = next((at for at, until in enumerate(ends) if until <= start), len(ends))
        ends[slot : slot + 1] = [end]
        slots[i] = slot
    return [Fork(parent, start, slot) for (parent, start), slot in zip(starts, slots, strict=True)]


def _shared(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> int:
    """Length of the common prefix of two sequences."""
    most = min(len(first), len(second))
    different = np.flatnonzero(first[:most] != second[:most])
    return int(different[0]) if len(different) else most
