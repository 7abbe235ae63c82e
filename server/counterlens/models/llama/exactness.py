"""Finds what may share a call of llama.cpp without changing a bit, with a model, this build and processor."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.models.files import note, recall
from counterlens.models.llama.decoding import ALONE, ExactDecoder, SharedCalls
from counterlens.models.llama.native import TILED, Engine
from counterlens.models.llama.protocol import SEQUENCES
from counterlens.models.llama.sequences import SequenceBatch

_UNTILED = 7  # maximum number of rows that the tiled kernels leave to others
_MEMORY = "exact-decoding.json"
_TRIALS = 3  # increase it when the trial, or the composition of calls, changes
_TOKENS = 120  # of a trial's text
_ROWS = (SEQUENCES, SEQUENCES, 8, 5, 4, 3, 2)  # of its steps: kernels differ for few rows


def calls_of(engine: Engine, identity: str) -> SharedCalls:
    """What may share a call.

    Takes about a second the first time, longer for a larger model; the result is kept in the user's cache, by
    model file, engine and processor.

    Args:
        identity: Identity of the model file.

    Raises:
        Cancelled, ModelError: as `SequenceBatch.decode`.
    """
    key = f"{identity} {build()} {_TRIALS}"
    shared = SharedCalls(SEQUENCES if os.environ.get(TILED) == "0" else _UNTILED, free=True)
    stored = recall(_MEMORY, key)
    for calls in (shared, ALONE):
        if stored == repr(calls):  # else it is damaged: try again
            return calls
    calls = shared if holds(engine, shared, lambda: SequenceBatch(engine)) else ALONE
    note(_MEMORY, key, repr(calls))
    return calls


def build() -> str:
    """Identity of the engine's build and kernels on this processor: others may round differently.

    A copy without the libraries' versioned names, as in the extension's package, is the same build.
    """
    library = Path(llama.__file__).parent / "lib"
    files = sorted(
        {(path.name.partition(".")[0], path.stat().st_size) for path in library.glob("*") if path.is_file()}
    )
    system = llama.llama_print_system_info().decode("utf-8", "replace")
    kernels = os.environ.get(TILED, "")
    return hashlib.sha256(repr((llama.__version__, files, system, kernels)).encode()).hexdigest()[:16]


def holds(engine: Engine, calls: SharedCalls, open_batch: Callable[[], SequenceBatch]) -> bool:
    """Whether a text has the bits there that it has alone."""
    if not engine.keeps_prefixes:  # the sequences of recurrent models are never moved or copied
        return False
    texts = list(_texts(engine))[: calls.width]
    room = max(map(len, texts)) + len(_ROWS)
    alone = _logits(ExactDecoder(open_batch(), ALONE, 1, room), texts[:1])
    return np.array_equal(_logits(ExactDecoder(open_batch(), calls, len(texts), room), texts), alone)


def _texts(engine: Engine) -> Iterator[list[int]]:
    """The tokens of texts: one, another that begins like it, and different ones of other lengths."""
    source = "".join(f"def f{i}(a, b):\n    return a * {i} - b[{i * 7 % 11}]\n\n\n" for i in range(200))
    tokens = engine.tokenize(source.encode())
    yield tokens[:_TOKENS]
    yield [*tokens[: _TOKENS - 12], *tokens[_TOKENS : _TOKENS + 9]]
    for i in range(2, SEQUENCES):
        yield tokens[20 * i :][:1]


def _logits(decoder: ExactDecoder, texts: list[list[int]]) -> npt.NDArray[np.float32]:
    """(steps + 1, vocabulary): logits of the first text after its prompt and after some more tokens.

    It is read last, so that it begins with what another text left.
    """
    for which in range(len(texts) - 1, -1, -1):
        decoder.begin(which, np.asarray(texts[which], np.int32))
        last = None
        while last is None:
            last = decoder.read(which)
    rows = [] if last is None else [last.copy()]
    for at, count in enumerate(_ROWS):
        tokens = {which: text[at % len(text)] for which, text in enumerate(texts[:count])}
        rows.append(decoder.step(tokens)[0].copy())
    decoder.close()
    return np.stack(rows)
