"""Finds the shapes of calls in which a model decodes exactly, with this build and processor."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.models.files import known, note
from counterlens.models.llama.decoding import ExactDecoder, Shape
from counterlens.models.llama.native import Engine
from counterlens.models.llama.sequences import SequenceBatch

SHAPES = (Shape(2, 1, 56), Shape(8, 1, 56), Shape(4, 4, 56), Shape(8, 8, 56))
"""The shapes to try, cheapest first."""

_MEMORY = "exact-decoding.json"
_TRIALS = 1  # increase it when the trials, or the composition of calls, change
_HELD = 264  # makes room for 512 tokens, for which llama.cpp uses a different attention kernel than for fewer
_OWN = (64, 70, 20, 12, 9, 16, 8, 5)  # tokens of each text after the common prefix
_PORTION = 8


def shape_of(engine: Engine, batch: SequenceBatch, identity: str) -> Shape | None:
    """The class of shapes for exact decoding; None if none was found.

    Takes a few seconds the first time, longer for a larger model; the result is kept in the user's cache, by
    model file, engine and processor.

    Args:
        engine: The model.
        batch: The batch of this model; a test discards its state.
        identity: Identity of the model file.

    Raises:
        Cancelled, ModelError: as `SequenceBatch.decode`.
    """
    key = f"{identity} {build()} {_TRIALS}"
    found = known(_MEMORY, key)
    known_shapes = {repr(shape): shape for shape in (*SHAPES, None)}
    if isinstance(found, str) and found in known_shapes:  # else it is damaged: test again
        return known_shapes[found]
    shape = next((shape for shape in SHAPES if holds(engine, batch, shape)), None)
    note(_MEMORY, key, repr(shape))
    return shape


def build() -> str:
    """Identity of the engine's build on this processor: another one may round differently.

    A copy without the libraries' versioned names, as in the extension's package, is the same build.
    """
    library = Path(llama.__file__).parent / "lib"
    files = sorted(
        {(path.name.partition(".")[0], path.stat().st_size) for path in library.glob("*") if path.is_file()}
    )
    system = llama.llama_print_system_info().decode("utf-8", "replace")
    return hashlib.sha256(repr((llama.__version__, files, system)).encode()).hexdigest()[:16]


def holds(engine: Engine, batch: SequenceBatch, shape: Shape) -> bool:
    """Whether a text has the same logits, bit for bit, however it is read and whatever is read beside it.

    One text is read whole, in small portions, and token by token; alone and beside others, which are longer
    or shorter and end earlier; with another number of threads; and in a context of another size. The text
    before it is long enough for llama.cpp's attention to long texts.
    """
    if not engine.keeps_prefixes:  # each sequence would have to be read again: untested
        return False
    decoder = ExactDecoder(batch, shape)
    slow = ExactDecoder(batch, replace(shape, each=max(_PORTION, shape.least)))
    held, texts = trial_texts(engine)
    room = max(map(len, texts)) + shape.each
    own = texts[0][held:]
    decoder.start(1, len(own) + shape.each)
    narrow = _last(decoder, [own], [1], 0)
    slots = next(n for n in (len(texts), 4) if batch.fits(n, room) or n == 4)
    decoder.start(slots, room)
    if not np.array_equal(_last(slow, [own], [0], 0), narrow):
        return False
    decoder.start(slots, room)
    slow.slots = slots
    target, others = texts[0], texts[1:slots]
    whole = _last(decoder, [target], [0], 0)
    trials = (
        (slow, [target], [9]),
        (decoder, [target, *others[:1]], [6, 3]),
        (slow, [target, *others], [5, 0, 3, 1] * (slots // 4)),
    )
    for by, asked, steps in trials:
        if not np.array_equal(_last(by, asked, steps, held), whole):
            return False
    with batch.threads(2 if engine.threads == 1 else 1):
        return np.array_equal(_last(slow, [target, *others[:1]], [3, 1], held), whole)


def trial_texts(engine: Engine) -> tuple[int, list[list[int]]]:
    """The length of the common prefix of the trial's texts, and their tokens; the first two are long."""
    source = "".join(f"def f{i}(a, b):\n    return a * {i} - b[{i * 7 % 11}]\n\n\n" for i in range(200))
    tokens = engine.tokenize(source.encode())
    held = min(_HELD, engine.trained_context // 2 or _HELD)
    lead = [engine.bos] if engine.adds_bos else []
    own = [tokens[held + 100 * i :][:length] for i, length in enumerate(_OWN)]
    return held, [lead + tokens[: held - len(lead)] + each for each in own]


def _last(
    decoder: ExactDecoder, texts: list[list[int]], steps: list[int], held: int
) -> npt.NDArray[np.float32]:
    """The logits after the first text; the given number of tokens of each text are read one by one."""
    parts = [text[: len(text) - count] for text, count in zip(texts, steps, strict=True)]
    logits = decoder.fill(parts, held)
    for at in range(steps[0]):
        going_on = [i for i, count in enumerate(steps) if at < count]
        logits = decoder.step({i: texts[i][len(parts[i]) + at] for i in going_on})
    return logits[0].copy()
