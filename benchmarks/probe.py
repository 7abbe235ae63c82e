"""Measures the speed of a function's probe with one batch, relative to one call per completion.

    python benchmarks/probe.py [--quick] [--model FILE] [--threads N]

One original and eight counterfactuals of a function with a docstring, completed at temperature 0:

- `over_sequential`: nine calls of llama-cpp-python's `create_completion`, over our one batch. Both start from
  an empty cache, get the same prompts, cut at a token boundary, and write the same number of tokens.
- `over_own_sequential`: the same prompts in nine calls of our own completer, over the batch.
- `draws_8`: eight sampled completions of each of the nine prompts, decoded exactly, over the greedy batch of
  nine, decoded exactly. `draws_1`, `draws_2`, ... show the knee: below it, decoding is bound by memory, and
  more sequences cost little.

The first two use completely filled batches (`free_decoding.py`); `benchmarks/exact.py` measures the
additional cost of exact decoding. Batching changes logits slightly. If a text of the batch differs from that
of `create_completion`, the log-odds of the first two differing tokens are printed: a near tie, decided the
other way.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in the model's own process

import llama_cpp
from free_decoding import FreeCompleter

from counterlens.models.base import Api, Draw, Prompt, Stop
from counterlens.models.files import embedded_model, identity
from counterlens.models.llama.completing import LlamaCompleter
from counterlens.models.llama.exactness import calls_of
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local import encoded_prompt
from counterlens.mutations import survey
from counterlens.probes.pairs.counterfactuals import gaps_of, preserving
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

SOURCES = (
    '''def longest_run(values, limit):
    """Return the length of the longest run of equal neighbours, at most limit.

    >>> longest_run([1, 1, 2, 2, 2, 3], 10)
    3
    >>> longest_run([], 10)
    0
    >>> longest_run([4, 4, 4, 4], 2)
    2
    """
    best = 0
    length = 0
    previous = None
    for value in values:
        if length > 0 and value == previous:
            length = length + 1
        else:
            length = 1
        previous = value
        if length > best:
            best = length
    if best > limit:
        best = limit
    return best
''',
    '''def mean_above(numbers, threshold):
    """Return the mean of the numbers that are above a threshold, or None if there are none.

    >>> mean_above([1, 5, 9], 4)
    7.0
    >>> mean_above([1, 2], 4) is None
    True
    """
    total = 0
    count = 0
    for number in numbers:
        if number > threshold:
            total = total + number
            count = count + 1
    if count == 0:
        return None
    return total / count
''',
)
COUNTERFACTUALS = 8
DRAWS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Round:
    """Seconds of one comparison, and the texts."""

    sequential: float
    own: float
    batch: float
    sequential_texts: list[str]
    texts: list[str]


def prompts(source: str, tokens: int, end: str = "") -> list[Prompt]:
    """An original and eight counterfactuals with different prompts, each followed by `end`."""
    document = Document(source)
    (function,) = functions(document)
    shown: dict[str, None] = {}
    for seed in range(8):
        for made in survey(source, mutations=preserving(None), seed=seed).counterfactuals:
            # All have the same cut, as for one original with its counterfactuals.
            if made.cut is not None and made.mutation not in {"if-else-flip"}:
                original, mutated = gaps_of(document, function, made)
                shown |= {original.shown: None, mutated.shown: None}
    if len(shown) <= COUNTERFACTUALS:
        raise SystemExit(f"the function has only {len(shown) - 1} counterfactuals")
    return [Prompt(text.rstrip() + end, tokens, Stop()) for text in list(shown)[: COUNTERFACTUALS + 1]]


def timed(work: Callable[[], list[str]]) -> tuple[float, list[str]]:
    """The seconds, and the texts."""
    start = time.perf_counter()
    texts = work()
    return time.perf_counter() - start, texts


class Bench:
    """The two ways to complete, with the same model file and threads."""

    def __init__(self, path: Path, threads: int) -> None:
        self.engine = Engine(path, threads=threads, context=8192)
        encoder = PromptEncoder(self.engine, Api.COMPLETIONS)
        parts = encoder, self.engine, encoded_prompt.Constraint(self.engine.pieces)
        self.completer = FreeCompleter(*parts, SequenceBatch(self.engine))
        self.exact = LlamaCompleter(*parts, calls=calls_of(self.engine, identity(path)))
        self.llama = llama_cpp.Llama(
            str(path), n_ctx=2048, n_threads=threads, n_threads_batch=threads, verbose=False
        )

    def token_boundary(self) -> str:
        """What a prompt that stops at the end of a line needs to end with a token: a line break, or nothing.

        Many vocabularies have one token for a colon and the line break after it. A prompt that ends with the
        colon alone would ask `create_completion` for something else than us, who take that token back.
        """
        part, whole = (self.engine.tokenize(text) for text in (b"if x:", b"if x:\n        return x"))
        return "" if whole[: len(part)] == part else "\n"

    def sequential(self, asked: list[Prompt]) -> list[str]:
        """`create_completion`, one prompt after the other; the model keeps its cache, as in normal use."""
        self.llama.reset()
        texts = []
        for prompt in asked:
            answer = self.llama.create_completion(
                prompt.text, max_tokens=prompt.max_tokens, temperature=0, repeat_penalty=1.0
            )
            texts.append(answer["choices"][0]["text"])
        return texts

    def batch(self, asked: list[Prompt]) -> list[str]:
        """One batch."""
        return [answer.text for answer in self.completer.complete(asked, lambda *_: None)]

    def one_by_one(self, asked: list[Prompt]) -> list[str]:
        """Our own completer, one prompt per call."""
        return [text for prompt in asked for text in self.batch([prompt])]

    def draws(self, asked: list[Prompt], seconds: dict[int, list[float]]) -> None:
        """The seconds of the exact greedy batch (key 0), and of each number of samples per prompt."""

        def exact(prompts: list[Prompt]) -> list[str]:
            return [answer.text for answer in self.exact.complete(prompts, lambda *_: None)]

        seconds[0].append(timed(lambda: exact(asked))[0])
        for count in [count for count in DRAWS if count in seconds]:
            drawn = [replace(prompt, draw=Draw(0.8, 0, i)) for prompt in asked for i in range(count)]
            seconds[count].append(timed(lambda drawn=drawn: exact(drawn))[0])

    def log_odds(self, prompt: str, one: str, other: str) -> float | None:
        """The absolute log-odds of the first differing tokens of two texts, decoded one at a time.

        None if one text ends there.
        """
        first, second = (self.engine.tokenize((prompt + text).encode()) for text in (one, other))
        at = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
        if at is None:
            return None
        self.engine.forget()
        logits = None
        for token in first[:at]:
            logits = self.engine.decode([token], logits_from=0)[0]
        return None if logits is None else float(abs(logits[first[at]] - logits[second[at]]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="use one function, one round and half the tokens"
    )
    parser.add_argument("--model", type=Path, help="GGUF file; default: the embedded model")
    parser.add_argument("--threads", type=int, default=min(len(os.sched_getaffinity(0)), 8))
    options = parser.parse_args()
    tokens, repeats = (48, 1) if options.quick else (96, 3)
    bench = Bench(options.model or embedded_model(), options.threads)
    rounds: list[tuple[list[Prompt], Round]] = []
    seconds: dict[int, list[float]] = {count: [] for count in ((0, 8) if options.quick else (0, *DRAWS))}
    for source in SOURCES[: 1 if options.quick else None]:
        asked = prompts(source, tokens, bench.token_boundary())
        bench.batch(asked[:2])
        bench.llama.create_completion("x", max_tokens=1)
        for _ in range(repeats):
            sequential, others = timed(lambda asked=asked: bench.sequential(asked))
            batch, texts = timed(lambda asked=asked: bench.batch(asked))
            own, _ = timed(lambda asked=asked: bench.one_by_one(asked))
            rounds.append((asked, Round(sequential, own, batch, others, texts)))
        bench.draws(asked, seconds)
    equal, continuing, ties = 0, 0, []
    compared = rounds[::repeats]
    for asked, found in compared:
        for prompt, one, other in zip(asked, found.texts, found.sequential_texts, strict=True):
            if one == other:
                equal += 1
                continue
            odds = bench.log_odds(prompt.text, one, other)
            if odds is None:
                continuing += 1
            else:
                ties.append(odds)
    total = sum(len(asked) for asked, _ in compared)
    over = statistics.median(found.sequential / found.batch for _, found in rounds)
    own = statistics.median(found.own / found.batch for _, found in rounds)
    print(f"9 prompts, at most {tokens} new tokens each, {options.threads} threads, {len(rounds)} rounds")
    print(f"nine create_completion calls over one batch: {over:.2f}")
    print(f"nine calls of our own completer over one batch: {own:.2f}")
    print(f"texts equal to those of create_completion: {equal} of {total}")
    for tie in sorted(ties):
        print(f"  where one differs, the log-odds of the two tokens were {tie:.3f}")
    if continuing:
        print(f"  in {continuing}, one text continues after the end of the other")
    figures = {"over_sequential": round(over, 3), "over_own_sequential": round(own, 3)}
    greedy = seconds.pop(0)
    for count, taken in seconds.items():
        ratio = statistics.median(drawn / once for drawn, once in zip(taken, greedy, strict=True))
        print(f"{count} samples of each of nine prompts over the exact greedy batch: {ratio:.2f}")
        figures[f"draws_{count}"] = round(ratio, 3)
    print(
        json.dumps(
            {
                "benchmark": "probe",
                "ratios": figures,
                "equal_texts": equal,
                "texts": total,
                "one_goes_on": continuing,
                "log_odds_where_different": [round(tie, 3) for tie in sorted(ties)],
            }
        )
    )


if __name__ == "__main__":
    main()
