"""Sequences that begin alike: which one is taken over from which other, and where each of them is kept.

A pure plan, made before anything is decoded: it depends on the sequences alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Branch:
    """How one sequence comes to be.

    Attributes:
        parent: The sequence that it begins like; None for one that is read from its start.
        start: How many tokens it takes over.
        lane: Where it is kept.
    """

    parent: int | None
    start: int
    lane: int


def branches(sequences: Sequence[Sequence[int]]) -> list[Branch]:
    """Plan how to read some sequences in step, each token that several begin with once.

    A sequence leaves its parent one token before it differs from it, because what follows that token is
    judged by another target; so each reads at least one token of its own. A lane is free again once its
    sequence has ended.

    Args:
        sequences: (n,) tokens; the parent of a sequence stands before it.
    """
    starts: list[tuple[int | None, int]] = []
    arrays = [np.asarray(sequence, np.int64) for sequence in sequences]
    for i, sequence in enumerate(arrays):
        alike = [_alike(sequence, other) for other in arrays[:i]]
        most = max(alike, default=0)
        # The first of those that are alike for longest is still on its own lane where this one leaves it.
        starts.append((alike.index(most), most - 1) if most > 1 else (None, 0))
    lanes = [0] * len(sequences)
    ends: list[int] = []  # where the sequence in each lane ends
    for i in sorted(range(len(sequences)), key=lambda i: (starts[i][1], i)):
        start, end = starts[i][1], len(sequences[i])
        lane = next((at for at, until in enumerate(ends) if until <= start), len(ends))
        ends[lane : lane + 1] = [end]
        lanes[i] = lane
    return [Branch(parent, start, lane) for (parent, start), lane in zip(starts, lanes, strict=True)]


def _alike(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> int:
    """How many tokens two sequences begin with alike."""
    most = min(len(one), len(other))
    different = np.flatnonzero(one[:most] != other[:most])
    return int(different[0]) if len(different) else most
