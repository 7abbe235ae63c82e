"""The rounding of the gap between the two likeliest tokens: measured on the loaded model, and cached.

A greedy completion takes the likelier of two tokens, however small the gap between their logits. Other
kernels of llama.cpp shift that gap, as another build does, so a gap below nearly all such shifts shows
nothing about the model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from counterlens.models.files import note, recall
from counterlens.models.llama import decoding
from counterlens.models.llama.exactness import build
from counterlens.models.llama.native import Engine
from counterlens.models.llama.sequences import Row, SequenceBatch

_MEMORY = "rounding.json"
_KNOWN = {
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53": 0.32,  # SmolLM2-135M-Instruct Q4_1
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32": 0.19,  # Qwen2.5-Coder 0.5B Q4_K_M
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046": 0.24,  # Qwen2.5-Coder 1.5B Q4_K_M
}
"""The rounding of files that many use, by SHA-256: the largest of the builds on which it was measured."""

_TRIALS = 2  # increase it when the trial changes
_TOKENS = 500
_SHARE = 0.95
"""Share of the shifts that are counted as rounding; more would call stable completions unstable."""


def rounding_of(engine: Engine, batch: SequenceBatch, identity: str) -> float:
    """The shift of the gap between the two likeliest tokens that nearly no token exceeds, in nats.

    Takes some seconds the first time, unless the file is a known one; kept in the user's cache, by file,
    engine and processor.

    Args:
        engine: The model.
        batch: The batch of this model; a measurement discards its state.
        identity: Identity of the model file.

    Raises:
        Cancelled, ModelError: as `SequenceBatch.decode`.
    """
    if identity in _KNOWN:
        return _KNOWN[identity]
    key = f"{identity} {build()} {_TRIALS}"
    stored = recall(_MEMORY, key)
    if isinstance(stored, str):
        try:
            return float(stored)
        except ValueError:
            pass  # a damaged entry: measure again
    measured = f"{np.quantile(shifts(engine, batch), _SHARE):.3g}"
    note(_MEMORY, key, measured)
    return float(measured)


def shifts(engine: Engine, batch: SequenceBatch) -> npt.NDArray[np.float64]:
    """(tokens,): how far the fused attention kernel shifts the gap between the two likeliest tokens of code.

    The code is a file of this package.
    """
    lead = [engine.bos] if engine.adds_bos else []
    text = engine.tokenize(Path(decoding.__file__).read_bytes())
    tokens = (lead + text)[: min(_TOKENS, engine.context)]
    batch.claim(None)
    batch.start([len(tokens)])
    engine.forget()
    parts = []
    for low in range(0, len(tokens), engine.chunk):
        part = tokens[low : low + engine.chunk]
        exact = batch.decode([Row(0, token, wanted=True) for token in part]).astype(np.float64)
        other = engine.decode(part, logits_from=0).astype(np.float64)
        rows = np.arange(len(part))
        second, first = np.argpartition(exact, -2, axis=1)[:, -2:].T
        gaps = [logits[rows, first] - logits[rows, second] for logits in (exact, other)]
        parts.append(np.abs(gaps[0] - gaps[1]))
    return np.concatenate(parts)
