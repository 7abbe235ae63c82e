"""Compares copies of a model's weights in other forms with the file as it is: is one faster, and as exact?

    python benchmarks/weights.py [--model FILE] [--forms bf16 q8_0]

llama.cpp writes each copy into a temporary folder. For each form, in tokens per processor second, one thread:

- `read`: a text in calls of 112 rows; `logits`: in calls with the logits of all rows;
- `1`, `8`, `32`: next tokens of so many sequences in one call;
- `together`: how many sequences may share a call without changing a bit, of 32, 16, 8 and 7; 1: none.

`nats`: how far the log-probabilities of a text are from those of the original, on average and at most.
One JSON line at the end.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.models.code_models import code_model, code_model_here
from counterlens.models.llama import decoding
from counterlens.models.llama.decoding import SharedCalls
from counterlens.models.llama.exactness import holds
from counterlens.models.llama.native import Engine
from counterlens.models.llama.sequences import Row, SequenceBatch
from counterlens.models.local.scoring import reduce

FORMS = {
    "bf16": llama.LLAMA_FTYPE_MOSTLY_BF16,
    "f16": llama.LLAMA_FTYPE_MOSTLY_F16,
    "q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0,
}
TEXT = Path(decoding.__file__).read_bytes()
TOKENS, PORTION = 224, 112
WIDTHS = (32, 16, 8, 7)
LEAD = 16  # tokens of each sequence before the measured steps


def write(path: Path, form: str, folder: Path) -> tuple[Path, float]:
    """A copy of a model's weights, and the processor seconds that it took."""
    target, begun = folder / f"{form}.gguf", time.process_time()
    parameters = llama.llama_model_quantize_default_params()
    parameters.ftype, parameters.allow_requantize, parameters.nthread = FORMS[form], True, 1
    if llama.llama_model_quantize(str(path).encode(), str(target).encode(), ctypes.byref(parameters)):
        raise SystemExit(f"llama.cpp cannot write {form}")
    return target, time.process_time() - begun


def rate(tokens: int, work: Callable[[], object]) -> float:
    """Tokens per processor second, the better of two times."""
    times = []
    for _ in range(2):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return round(tokens / min(times), 1)


def measure(path: Path) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
    """The figures of one file, and the log-probabilities of the text's tokens."""
    engine = Engine(path, threads=1, context=2048)
    tokens = engine.tokenize(TEXT)[: TOKENS + 1]
    batch = SequenceBatch(engine)
    batch.start([2 * TOKENS] * max(WIDTHS))

    def read(size: int, *, wanted: bool) -> None:
        batch.cut(0, 0)
        for low in range(0, TOKENS, size):
            batch.decode([Row(0, token, wanted) for token in tokens[low : min(low + size, TOKENS)]])

    def step(sequences: int) -> None:
        batch.decode([Row(sequence, tokens[sequence], wanted=True) for sequence in range(sequences)])

    read(PORTION, wanted=False)  # a warm-up
    figures: dict[str, Any] = {
        "read": rate(TOKENS, lambda: read(PORTION, wanted=False)),
        "logits": rate(TOKENS, lambda: read(engine.chunk, wanted=True)),
    }
    for sequence in range(max(WIDTHS)):
        batch.cut(sequence, 0)
        batch.decode([Row(sequence, token, wanted=False) for token in tokens[:LEAD]])
    for sequences in (1, 8, 32):
        figures[str(sequences)] = rate(sequences, partial(step, sequences))
    batch.close()
    shares = (
        width
        for width in WIDTHS
        if holds(engine, SharedCalls(width, free=True), lambda: SequenceBatch(engine))
    )
    figures["together"] = next(shares, 1)
    parts = []
    for low in range(0, TOKENS, engine.chunk):
        part = tokens[low : min(low + engine.chunk, TOKENS)]
        logits = engine.decode(part, logits_from=0)
        parts.append(reduce(logits, np.asarray(tokens[low + 1 : low + 1 + len(part)], np.int64), 0).logprob)
    return figures, np.concatenate(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", help="a GGUF file; by default Qwen2.5-Coder 0.5B")
    parser.add_argument("--forms", nargs="*", choices=list(FORMS), default=["bf16", "q8_0"])
    given = parser.parse_args()
    offered = code_model("qwen2.5-coder-0.5b")
    path = Path(given.model) if given.model else code_model_here(offered) if offered else None
    if path is None:
        raise SystemExit("Fetch the model with: counterlens models fetch qwen2.5-coder-0.5b")
    results = {}
    results["as it is"], expected = measure(path)
    print("as it is", results["as it is"], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for form in given.forms:
            copy, seconds = write(path, form, Path(folder))
            figures, logprobs = measure(copy)
            apart = np.abs(logprobs - expected)
            results[form] = figures | {
                "nats": [round(float(apart.mean()), 3), round(float(apart.max()), 3)],
                "written_s": round(seconds, 1),
                "megabytes": copy.stat().st_size // 10**6,
            }
            print(form, results[form], flush=True)
            copy.unlink()
    print(json.dumps({"benchmark": "weights", "model": path.stem, **results}))


if __name__ == "__main__":
    main()
