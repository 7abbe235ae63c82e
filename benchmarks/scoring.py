"""Measures the speed of scoring, as ratios to named baselines in the same run.

    python benchmarks/scoring.py [--quick] [--model onnx:FOLDER]

- `of_prompt_speed`: our tokens per second over the model's own prompt speed (the same chunks, with logits
  only for the last token of each). 1.0 would mean that scores cost nothing in addition to reading. An ONNX
  export computes all logits, so there it is our tokens per second over the session's own.
- `over_echo`: our tokens per second over llama-cpp-python's `create_completion(echo=True, logprobs=5)`; only
  for the embedded model.
- `edit_last`, `edit_middle`: the time to score 20 functions again after an edit of one line in one of them,
  over the time to score them all.
- `reopen`: the time to score an unchanged file again in a new process's store, over the first time.
The output also gives the peak memory of the model's process above its memory with the model loaded, and the
maximum memory for the logits of one chunk with a vocabulary of 262,144 tokens: llama.cpp's two copies, and
the cost of reducing them, measured on an array of that size.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in the model's own process

import numpy as np

from counterlens.confidence import score_document
from counterlens.models import load
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.files import EMBEDDED_MODEL, embedded_model
from counterlens.models.llama.native import Engine, chunk_of
from counterlens.models.local.engine import SequenceEngine
from counterlens.models.local.model import DEFAULT_CONTEXT, LocalModel
from counterlens.models.local.scoring import Scorer, reduce
from counterlens.models.registry import Options
from counterlens.syntax.document import Document

HERE = Path(__file__).parents[1]
ALTERNATIVES = 5


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def engine_of(name: str, threads: int) -> SequenceEngine:
    """The engine of a model, in this process."""
    if not name.startswith("onnx:"):
        path = embedded_model() if name == EMBEDDED_MODEL else Path(name)
        return Engine(path, threads=threads, context=DEFAULT_CONTEXT)
    from counterlens.models.onnx.model import find_export
    from counterlens.models.onnx.session import ExportEngine, Session
    from counterlens.models.onnx.tokenizer import ExportTokenizer

    export = find_export(name.removeprefix("onnx:"))
    tokenizer = ExportTokenizer(export.folder / "tokenizer.json")
    return ExportEngine(export, Session(export.weights, threads), tokenizer, DEFAULT_CONTEXT)


def prompt_speed(engine: SequenceEngine, text: bytes, rounds: int) -> tuple[float, int]:
    """Our speed over the model's own, as the median ratio of neighbouring runs; and the number of tokens."""
    tokens = engine.tokenize(text)

    def read() -> None:
        engine.keep_prefix((), 0)
        for low in range(0, len(tokens), engine.chunk):
            part = tokens[low : low + engine.chunk]
            engine.decode(part, logits_from=len(part) - 1)

    def score() -> None:
        engine.keep_prefix((), 0)
        Scorer(engine).score(text, b"", ALTERNATIVES, lambda _done, _total: None)

    read()
    score()
    ratios = []
    for _ in range(rounds):
        reading = timed(read)
        ratios.append(reading / timed(score))
    return statistics.median(ratios), len(tokens)


def over_echo(text: str, threads: int) -> float:
    """Our speed over that of llama-cpp-python's `echo`, on a text that is short enough for it."""
    import llama_cpp

    other = llama_cpp.Llama(
        str(embedded_model()), n_ctx=2048, n_threads=threads, logits_all=True, verbose=False
    )

    def echo() -> None:
        other.reset()
        other.create_completion(text, max_tokens=1, echo=True, logprobs=ALTERNATIVES, temperature=0)

    engine = Engine(embedded_model(), threads=threads, context=DEFAULT_CONTEXT)
    data = text.encode()

    def ours() -> None:
        engine.forget()
        Scorer(engine).score(data, b"", ALTERNATIVES, lambda _done, _total: None)

    ours()
    return timed(echo) / timed(ours)


def memory(pid: int, field: str) -> float:
    """A figure of /proc/PID/status in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return float("nan")


def bound(vocabulary: int) -> tuple[int, float]:
    """The number of positions with logits at the same time, and their maximum MiB with the reduction."""
    chunk = chunk_of(vocabulary)
    logits = np.random.default_rng(0).normal(size=(chunk, vocabulary)).astype(np.float32)
    targets = np.zeros(chunk, np.int64)
    tracemalloc.start()
    reduce(logits, targets, ALTERNATIVES)
    added = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return chunk, (2 * logits.nbytes + added) / 2**20


def edits(name: str, folder: Path, threads: int) -> tuple[dict[str, float], float]:
    """The ratios of an edit and of reopening, and the peak memory above the loaded model's in MiB."""
    source = '"""Work."""\n\nimport math\n\n\n' + "\n\n".join(function(i) for i in range(20))
    with load(name, Options(threads=threads)) as model:
        assert isinstance(model, LocalModel)
        pid = model.pid or 0
        loaded = memory(pid, "VmRSS")
        store = AnswerStore(folder / "answers.sqlite")
        cached = CachedModel(model, store)
        full = timed(lambda: score_document(cached, Document(source)))
        ratios = {}
        for name, i in (("edit_last", 19), ("edit_middle", 10)):
            edited = source.replace(f"total_{i} += value * {i}", f"total_{i} += value * {i} + 1")
            assert edited != source
            document = Document(edited)
            ratios[name] = timed(lambda document=document: score_document(cached, document)) / full
        peak = memory(pid, "VmHWM")
        store.close()
        fresh = CachedModel(model, AnswerStore(folder / "answers.sqlite"))
        ratios["reopen"] = timed(lambda: score_document(fresh, Document(source))) / full
        return ratios, peak - loaded


def function(i: int) -> str:
    """One of the twenty functions."""
    return (
        f"def weighted_{i}(values, limit):\n"
        f'    """Sum the values below the limit, each times {i}."""\n'
        f"    total_{i} = 0\n    for value in values:\n        if value < limit:\n"
        f"            total_{i} += value * {i}\n    return math.floor(total_{i})\n"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="use fewer rounds; under a minute")
    parser.add_argument("--model", default=EMBEDDED_MODEL, help="GGUF file, or onnx:FOLDER")
    parser.add_argument("--threads", type=int, default=min(len(os.sched_getaffinity(0)), 8))
    options = parser.parse_args()
    text = (HERE / "server/counterlens/models/stopping.py").read_bytes()
    speed, tokens = prompt_speed(engine_of(options.model, options.threads), text, 2 if options.quick else 7)
    print(f"{tokens} tokens, {options.threads} threads")
    print(f"our speed over the model's own prompt speed: {speed:.2f}")
    figures = {"of_prompt_speed": speed}
    if options.model == EMBEDDED_MODEL:
        sample = text[: 500 if options.quick else 2000].decode()
        figures["over_echo"] = over_echo(sample, options.threads)
        print(f"our speed over create_completion(echo=True, logprobs=5): {figures['over_echo']:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        ratios, peak = edits(options.model, Path(folder), options.threads)
    for name, ratio in ratios.items():
        print(f"{name}: {ratio:.3f} of a full score")
    print(f"peak memory of the model's process above the loaded model: {peak:.0f} MiB")
    bounds = {}
    for vocabulary in (49_152, 262_144):
        chunk, bounds[vocabulary] = bound(vocabulary)
        print(
            f"vocabulary of {vocabulary:,}: {chunk} positions at once, at most {bounds[vocabulary]:.0f} MiB"
        )
    rounded = {name: round(value, 4) for name, value in (figures | ratios).items()}
    print(
        json.dumps(
            {
                "benchmark": "scoring",
                "ratios": rounded,
                "peak_mib": round(peak),
                "bounds_mib": {n: round(mib) for n, mib in bounds.items()},
            }
        )
    )


if __name__ == "__main__":
    main()
