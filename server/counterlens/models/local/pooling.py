"""Pooling of token vectors to one vector per text."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt


class Pooling(IntEnum):
    """The way to pool token vectors; the numbers are those of GGUF."""

    MEAN = 1
    FIRST = 2
    LAST = 3


def pool(states: npt.NDArray[np.float32], pooling: Pooling) -> npt.NDArray[np.float32]:
    """Pool (n, dimensions) states, n > 0, to one vector."""
    if pooling is Pooling.MEAN:
        return np.asarray(states.mean(axis=0, dtype=np.float64), np.float32)
    return np.asarray(states[0] if pooling is Pooling.FIRST else states[-1])
