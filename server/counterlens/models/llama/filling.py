"""A trial shows whether a model fills in the middle.

Many files have tokens for it although the model never saw them, or name them in a wrong order. A completion
does not show that: it looks like any other. The perplexity of a known text in a hole does.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from counterlens.errors import ModelError
from counterlens.models.files import note, recall
from counterlens.models.llama.native import Engine
from counterlens.models.llama.protocol import FillTrial
from counterlens.models.local.scoring import reduce

_MEMORY = "filling.json"
_TRIALS = 1  # increase it when the trial changes
HOLES = (
    ("def mean(values):\n", "    total = sum(values)", "\n    return total / len(values)\n"),
    (
        "def largest(rows):\n    best = None\n",
        "    for row in rows:",
        "\n        if best is None or row.size > best.size:\n            best = row\n    return best\n",
    ),
    (
        "def read_settings(path):\n",
        "    with open(path) as stream:",
        "\n        text = stream.read()\n    return json.loads(text)\n",
    ),
    (
        "class Stack:\n    def __init__(self):\n",
        "        self.entries = []",
        "\n\n    def push(self, entry):\n        self.entries.append(entry)\n",
    ),
)
"""Code before a hole, its text, and the code after it, which alone shows the names in the hole."""


def fill_trial(engine: Engine, identity: str) -> FillTrial | None:
    """How likely the model finds the text of some holes; None if its file names no tokens for filling.

    Takes some seconds the first time; kept in the user's cache, by model file.

    Args:
        engine: The model; its sequence is emptied.

    Raises:
        Cancelled, ModelError: as `Engine.decode`.
    """
    if engine.fill_marks is None:
        return None
    key = f"{identity} {_TRIALS}"
    try:
        return msgspec.json.decode(str(recall(_MEMORY, key)), type=FillTrial)
    except msgspec.DecodeError:
        trial = measure_filling(engine, engine.fill_marks)
        note(_MEMORY, key, msgspec.json.encode(trial).decode())
        return trial


def require_filling(engine: Engine, identity: str) -> None:
    """Refuse a model that is no better at filling for the code after a hole.

    Raises:
        ModelError: it is not, or as `fill_trial`.
        Cancelled: as `fill_trial`.
    """
    trial = fill_trial(engine, identity)
    if trial is not None and not trial.works:
        raise ModelError(
            f"this model does not fill in the middle with the tokens that its file names: {trial}",
            "Choose --api completions, or a model that was trained to fill in the middle",
        )


def measure_filling(
    engine: Engine, marks: tuple[int, int, int], holes: Sequence[tuple[str, str, str]] = HOLES
) -> FillTrial:
    """Like `fill_trial`, with given tokens before prefix, suffix and middle, and given holes."""
    prefix, suffix, middle = marks
    lead = [engine.bos] if engine.adds_bos else []
    given, exchanged, before_only = [], [], []
    for hole in holes:
        before, text, after = (engine.tokenize(part.encode()) for part in hole)
        given.append(_nats(engine, [*lead, prefix, *before, suffix, *after, middle], text))
        exchanged.append(_nats(engine, [*lead, prefix, *after, suffix, *before, middle], text))
        before_only.append(_nats(engine, [*lead, *before], text))
    given_share, exchanged_share, before_share = (
        float(np.exp(np.concatenate(nats).mean())) for nats in (given, exchanged, before_only)
    )
    return FillTrial(given_share, exchanged_share, before_share)


def _nats(
    engine: Engine, read: Sequence[int], text: Sequence[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """(len(text),): negative logarithms of the probabilities of a text after what was read."""
    engine.forget()
    logits = engine.decode([*read, *text[:-1]], logits_from=len(read) - 1)
    nats = -reduce(logits, np.asarray(text, np.int64), 0).logprob
    engine.forget()
    return nats
