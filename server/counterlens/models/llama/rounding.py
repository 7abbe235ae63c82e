"""The rounding of the gap between the two likeliest tokens: measured on the loaded model, and cached.

A greedy completion takes the likelier of two tokens, however small the gap between their logits. Other work
of llama.cpp in a call shifts that gap, so a gap below the largest such shift shows nothing about the model.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from counterlens.models.files import known, note
from counterlens.models.llama.decoding import ExactDecoder, FreeDecoder, Shape
from counterlens.models.llama.exactness import build, trial_texts
from counterlens.models.llama.native import Engine
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local.completing import Decoder

_MEMORY = "rounding.json"
_TRIALS = 1  # increase it when the trials change
_STEPS = 16
_NEIGHBOURS = (0, 7)
"""Numbers of other texts decoded beside the measured one."""


def rounding_of(engine: Engine, batch: SequenceBatch, shape: Shape, identity: str) -> float:
    """The largest observed shift of the gap between the two likeliest tokens, in nats.

    Takes some seconds the first time; kept in the user's cache, by model file, engine, processor and threads.
    One thread counts as two: it shifts the gap less.

    Args:
        engine: The model.
        batch: The batch of this model; a measurement discards its state.
        shape: The class of shapes in which it decodes exactly.
        identity: Identity of the model file.

    Raises:
        Cancelled, ModelError: as `SequenceBatch.decode`.
    """
    threads = max(engine.threads, 2)
    key = f"{identity} {build()} {shape} {threads} threads {_TRIALS}"
    found = known(_MEMORY, key)
    if isinstance(found, str):
        try:
            return float(found)
        except ValueError:
            pass  # a damaged entry: measure again
    with batch.threads(threads):
        measured = _measured(engine, batch, shape)
    note(_MEMORY, key, f"{measured:.6g}")
    return float(f"{measured:.6g}")


def _measured(engine: Engine, batch: SequenceBatch, shape: Shape) -> float:
    """Read one text exactly, and inexactly beside others, and compare the gaps at its last tokens."""
    target, other, *_ = trial_texts(engine)[1]
    exact = _logits(ExactDecoder(batch, shape), [target])
    rows = np.arange(len(exact))
    second, first = np.argpartition(exact, -2, axis=1)[:, -2:].T
    gaps = exact[rows, first] - exact[rows, second]
    largest = 0.0
    for neighbours in _NEIGHBOURS:
        free = _logits(FreeDecoder(batch), [target, *(other[: len(other) - i] for i in range(neighbours))])
        shift = np.abs(free[rows, first] - free[rows, second] - gaps)
        largest = max(largest, float(shift.max()))
    return largest


def _logits(decoder: Decoder, texts: list[list[int]]) -> npt.NDArray[np.float64]:
    """(steps, vocabulary): logits of the first text after each of its last tokens; all are read together."""
    starts = [text[:-_STEPS] for text in texts]
    decoder.read(starts, [len(text) for text in texts])
    found = [
        decoder.step({i: text[at - _STEPS] for i, text in enumerate(texts)})[0].astype(np.float64)
        for at in range(_STEPS)
    ]
    return np.stack(found)
