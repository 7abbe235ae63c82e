"""Checks that a completion depends only on its prompt, and measures the cost of exact decoding.

    python benchmarks/exact.py [--quick] [--texts N] [--tokens N] [--model FILE] [--threads N]

Functions of HumanEval, each cut in three places, are completed at temperature 0, alone in a call: the
reference. Then the same prompts are completed in other ways, and the texts that differ are counted:

- `batched`: nine in a call, as in a probe;
- `other_order`: in another order, so that each has other neighbours, thirty-two in a call;
- `other_threads`: nine in a call, on one thread, or on two if the reference ran on one;
- `resumed`: through the cache, which has some answers of each call.

This is done with exact decoding, and with the baseline: completely filled batches (`free_decoding.py`), as
most engines decode.

`exact_over_free` is the cost: one original and eight counterfactuals of `benchmarks/probe.py` completed
exactly, over freely, in processor seconds; it is the median of pairs measured one after the other (the
`_wall` ratio is in seconds of wall time, which other work on the machine changes). `alone` is the same for
single prompts. `together` is the cost of 32
prompts of different functions in one call over that of one call each, both exact.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in the model's own process

from free_decoding import FreeCompleter
from probe import SOURCES, prompts

from counterlens.datasets import open_dataset
from counterlens.models.base import Api, Capability, Completion, Model, ModelInfo, Progress, Prompt, Stop
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.files import embedded_model, identity
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.exactness import calls_of
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local import encoded_prompt

MANY = 32
Texts = dict[Prompt, str]


class Direct(Model):
    """A completer in this process, so that its cost can be measured separately from other processes."""

    def __init__(self, path: Path, threads: int) -> None:
        engine = Engine(path, threads=threads, context=8192)
        parts = PromptEncoder(engine, Api.COMPLETIONS), engine, encoded_prompt.Constraint(engine.pieces)
        self.calls = calls_of(engine, identity(path))
        self.exact = LlamaCompleter(*parts, calls=self.calls)
        self.free = FreeCompleter(*parts, SequenceBatch(engine))
        self.completer: LlamaCompleter | FreeCompleter = self.exact
        self._path = path

    @property
    def info(self) -> ModelInfo:
        exact = self.completer is self.exact
        always = {Capability.COMPLETE, Capability.BATCH, Capability.SAMPLE}
        capabilities = always | ({Capability.EXACT} if exact else set())
        how = "one row" if exact else ""
        return ModelInfo("m", "m", identity(self._path), "local", frozenset(capabilities), 8192, decoding=how)

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        del cancel, progress
        return self.completer.complete(prompts, lambda *_: None)


def asked(count: int, tokens: int) -> list[Prompt]:
    """Functions of HumanEval, each cut before the second, third and fourth quarter of its lines."""
    every = {prompt: None for quarter in range(3) for prompt in _cut(quarter, tokens)}
    return _shuffled(list(every), 0)[:count]


def _cut(quarter: int, tokens: int) -> list[Prompt]:
    """The functions of HumanEval, each cut after a number of quarters of its lines."""
    prompts = []
    for problem in open_dataset("humaneval"):
        shown = problem.prompt or ""
        lines = problem.source[len(shown) :].splitlines(keepends=True)
        text = shown + "".join(lines[: len(lines) * quarter // 4])
        prompts.append(Prompt(text, tokens, Stop(indent=0)))
    return prompts


def _shuffled(every: list[Prompt], seed: int) -> list[Prompt]:
    return random.Random(seed).sample(every, len(every))  # noqa: S311 - nothing is to be kept secret


def completed(model: Model, every: Sequence[Prompt], size: int) -> Texts:
    """The texts of prompts, with the given number of prompts in a call."""
    texts: Texts = {}
    for at in range(0, len(every), size):
        part = every[at : at + size]
        texts |= {prompt: answer.text for prompt, answer in zip(part, model.complete(part), strict=True)}
    return texts


def resumed(model: Model, every: Sequence[Prompt]) -> Texts:
    """The texts of calls of nine, for which every third prompt was answered before, alone."""
    with tempfile.TemporaryDirectory() as folder:
        store = AnswerStore(Path(folder) / "a.sqlite")
        cached = CachedModel(model, store)
        completed(cached, every[::3], 1)
        texts = completed(cached, every, 9)
        store.close()
    return texts


def differing(model: Direct, other: Direct, every: list[Prompt]) -> dict[str, int]:
    """The number of texts that differ from those of the same prompt alone, by way."""
    shuffled = _shuffled(every, 1)
    alone = completed(model, every, 1)
    ways: dict[str, Callable[[], Texts]] = {
        "batched": lambda: completed(model, every, 9),
        "other_order": lambda: completed(model, shuffled, 32),
        "other_threads": lambda: completed(other, every, 9),
        "resumed": lambda: resumed(model, every),
    }
    found = {}
    for name, way in ways.items():
        texts = way()
        found[name] = sum(texts[prompt] != alone[prompt] for prompt in every)
        print(f"  {name}: {found[name]} of {len(every)} differ", flush=True)
    return found


def spent(
    completer: LlamaCompleter | FreeCompleter, every: Sequence[Prompt], size: int
) -> tuple[float, float]:
    """Processor seconds and seconds per written token, with the given number of prompts in a call.

    Nothing is read when it begins.
    """
    completer = replace(completer)
    if isinstance(completer, FreeCompleter):
        completer.batch = SequenceBatch(completer.engine)
    start, written = (time.process_time(), time.perf_counter()), 0
    for at in range(0, len(every), size):
        written += sum(answer.tokens for answer in completer.complete(every[at : at + size], lambda *_: None))
    end = time.process_time(), time.perf_counter()
    if isinstance(completer, FreeCompleter):
        completer.batch.close()
    # Differing texts may differ in length, so times are per token.
    return (end[0] - start[0]) / written, (end[1] - start[1]) / written


def median(pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> tuple[float, float]:
    """The median ratio of the first over the second, for processor and wall time."""
    return tuple(statistics.median(a[i] / b[i] for a, b in pairs) for i in (0, 1))  # type: ignore[return-value]


def cost(model: Direct, tokens: int, rounds: int, size: int) -> tuple[float, float]:
    """Exact over free, in processor seconds and in seconds."""
    pairs = []
    for at in range(rounds):
        part = [Prompt(prompt.text, tokens) for prompt in prompts(SOURCES[at % len(SOURCES)], tokens)[:size]]
        pairs.append((spent(model.exact, part, size), spent(model.free, part, size)))
    return median(pairs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="use four texts and one round")
    parser.add_argument("--cost", action="store_true", help="measure the cost only")
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=6, help="number of rounds in the cost comparison")
    parser.add_argument("--model", type=Path, help="GGUF file; default: the embedded model")
    parser.add_argument("--threads", type=int, default=min(len(os.sched_getaffinity(0)), 8))
    options = parser.parse_args()
    count, tokens, rounds = (4, 8, 1) if options.quick else (options.texts, options.tokens, options.rounds)
    path = options.model or embedded_model()
    model = Direct(path, options.threads)
    every = asked(count, tokens)
    print(f"{path.name}: {model.calls}; {len(every)} prompts, at most {tokens} new tokens")
    short = 12 if options.quick else 2 * tokens
    batch, batch_wall = cost(model, short, rounds, 9)
    alone, alone_wall = cost(model, short, rounds, 1)
    print(f"exact over free: nine prompts {batch:.2f} (wall {batch_wall:.2f}), one {alone:.2f}", flush=True)
    many = [replace(prompt, stop=Stop()) for prompt in _cut(1, short)[:MANY]]
    together, together_wall = median([(spent(model.exact, many, len(many)), spent(model.exact, many, 1))])
    print(f"{len(many)} prompts together over one by one: {together:.2f}", flush=True)
    ratios = {
        "exact_over_free": round(batch, 3),
        "exact_over_free_wall": round(batch_wall, 3),
        "exact_over_free_alone": round(alone, 3),
        "exact_over_free_alone_wall": round(alone_wall, 3),
        "together_over_one_by_one": round(together, 3),
        "together_over_one_by_one_wall": round(together_wall, 3),
    }
    found: dict[str, dict[str, int]] = {}
    if not options.cost:
        other = Direct(path, 2 if options.threads == 1 else 1)
        for name in ("exact", "free"):
            print(f"{name}:")
            for each in (model, other):
                each.completer = each.exact if name == "exact" else each.free
            found[name] = differing(model, other, every)
    print(json.dumps({"benchmark": "exact", "texts": len(every), "differing": found, "ratios": ratios}))


if __name__ == "__main__":
    main()
