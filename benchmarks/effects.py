"""Separates the parts of an average mutation effect: the mutation, the batch, the seed, and noise.

    python benchmarks/effects.py --data DATA [--functions N] [--seeds N] [--samples K] [--sampled N]
                                 [--first N] [--only WAY] [--keep FOLDER] [--processes N] [--threads N]
                                 [--quick]

The completion probe runs on functions of HumanEval and MBPP, sampled by a seed, with the embedded model:

- `free`, the baseline: greedy, with completely filled batches, as earlier versions of Counterlens decoded;
- `exact`: greedy, where each completion depends only on its prompt.

Both run in three ways: the prompts of a function `together`, with three placebos among them; `backwards`; and
each `alone`, the last two without placebos. Differences between the ways are effects of the batch. Exact
decoding also runs with other seeds, which choose other names and sites; for these, changed verdicts of the
same counterfactual are counted as moved. `sampled` samples K completions per side at a temperature of 0.8, on
the first functions of each dataset, with several seeds: it estimates the mean difference of pass rates, not
the share of changed verdicts.

The output gives, for each way, the average mutation effect, the noise floor, the effect minus the floor with
its interval, the same over discriminating pairs, and the number of pairs with other verdicts than in
`together`; for `together` also by dataset, concept and mutation. `counterlens bench --ways` shows stable
verdicts. The last line is one JSON document; its ratios, exact over free, are the variance of the effect over
the ways, and the share of pairs whose verdicts differ between them.

The whole takes hours on two cores. With `--keep FOLDER`, results are stored after every five functions, so
that an interrupted run can be resumed; `--first N` uses only the first N sampled functions, and `--only
sampled --only "exact together"` only these ways, without ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from threading import Event

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in the model's own process

from discriminating import Once
from exact import Direct

from counterlens.datasets import open_dataset
from counterlens.metrics.noise_floor import above_floor
from counterlens.metrics.pass_rates import PassCount, mean_difference
from counterlens.metrics.summary import Observation, summarize
from counterlens.models.base import Completion, Model, ModelInfo, Progress, Prompt
from counterlens.models.files import embedded_model
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.runner import run_probe
from counterlens.sandbox.registry import best_sandbox

DATA = ("humaneval", "mbpp")
WAYS = ("together", "backwards", "alone")
AT_ONCE = 5
"""Number of functions in one work item."""
Right = dict[tuple[str, ...], tuple[bool | None, bool | None]]
Figures = dict[str, float | int | None]


class Arranged(Model):
    """A model that gets its prompts in another order, or one at a time."""

    def __init__(self, model: Direct, way: str) -> None:
        self._model, self._way = model, way

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        """Like `Model.complete`."""
        if not prompts:
            return []
        if self._way == "alone":
            return [self._model.complete([one], cancel=cancel)[0] for one in prompts]
        if self._way == "backwards":
            return self._model.complete(prompts[::-1], cancel=cancel)[::-1]
        return self._model.complete(prompts, cancel=cancel, progress=progress)


@dataclass(frozen=True)
class Asking:
    """One way: its name, the decoding, and the options of the probe."""

    name: str
    options: CompletionOptions
    way: str = "together"
    exact: bool = True


@dataclass(frozen=True)
class Part:
    """A few functions of a dataset, and a way.

    Attributes:
        asking: The way.
        dataset: The dataset.
        functions: Number of functions sampled from it.
        first: The number of the first function of this item.
    """

    asking: Asking
    dataset: str
    functions: int
    first: int

    @property
    def name(self) -> str:
        """The name of its result file."""
        return f"{self.asking.name.replace(' ', '-')}-{self.dataset}-{self.functions}-{self.first:03}.pickle"


@dataclass
class Found:
    """The pairs and placebos of one way."""

    pairs: list[Observation] = field(default_factory=list)
    placebos: list[Observation] = field(default_factory=list)
    right: Right = field(default_factory=dict)
    drawn: list[tuple[str, str, PassCount, PassCount]] = field(default_factory=list)

    def add(self, record: PairsRecord) -> None:
        """Add the pairs of one function."""
        self.pairs += record.observations
        self.placebos += record.placebo_observations
        for pair in (*record.pairs, *record.placebos):
            self.right[_name(record, pair)] = pair.original_right, pair.counterfactual_right
            if pair.drawn is not None:
                before, after = (
                    side.count_of(pair.drawn.first)
                    for side in (pair.drawn.original, pair.drawn.counterfactual)
                )
                self.drawn.append((record.target, pair.mutation, before, after))

    def join(self, other: Found) -> None:
        """Add the pairs of other functions."""
        self.pairs += other.pairs
        self.placebos += other.placebos
        self.right |= other.right
        self.drawn += other.drawn

    def part(
        self, dataset: str | None = None, mutation: str | None = None, concept: str | None = None
    ) -> Found:
        """The pairs of one dataset, mutation or concept, with all placebos of their functions."""
        chosen = [
            one for one in self.pairs if mutation in (None, one.mutation) and concept in (None, one.concept)
        ]
        mutations = {one.mutation for one in chosen}  # each of one concept
        drawn = [one for one in self.drawn if one[1] in mutations]
        pairs, placebos = (_of(every, dataset) for every in (chosen, self.placebos))
        return Found(
            pairs,
            placebos,
            drawn=[one for one in drawn if dataset is None or one[0].lower().startswith(dataset)],
        )

    def moved(self, other: Found) -> int:
        """The number of pairs with another verdict on either side."""
        return sum(self.right[name] != other.right[name] for name in self.right.keys() & other.right.keys())

    def figures(self) -> Figures:
        """The effect: minus its floor, over discriminating pairs, and of samples."""
        if self.drawn:
            drop = mean_difference((name, before, after) for name, _, before, after in self.drawn)
            return {"pairs": len(self.drawn), "difference": drop.value, "low": drop.low, "high": drop.high}
        above, summary = above_floor(self.pairs, self.placebos), summarize(self.pairs)
        figures: Figures = {"effect": above.effect.value, "informative": above.effect.n}
        figures |= {"lost": summary.lost, "gained": summary.gained}
        if self.placebos:
            low, high = above.difference.low, above.difference.high
            figures |= {"floor": above.floor.value, "placebos": above.floor.n}
            figures |= {"less_floor": above.difference.value, "low": low, "high": high, "p": above.p}
        if summary.discriminating:
            told = summary.discriminating.average
            figures |= {"discriminating": told.value, "discriminating_informative": told.n}
        return {key: value if value is None else round(value, 3) for key, value in figures.items()}


def _name(record: PairsRecord, pair: PairRecord) -> tuple[str, ...]:
    return record.target, pair.mutation, str(pair.start_line), *pair.diff


def _of(observed: Iterable[Observation], dataset: str | None) -> list[Observation]:
    return [one for one in observed if dataset is None or one.file.lower().startswith(dataset)]


class Worker:
    """The state of one process: its model and its functions."""

    model: Direct
    data: Path
    targets: dict[tuple[str, int], list[Target]]

    @classmethod
    def start(cls, data: Path, threads: int) -> None:
        """Load the model."""
        cls.data, cls.model = data, Direct(embedded_model(), threads)
        cls.targets = {}

    @classmethod
    def of(cls, dataset: str, functions: int) -> list[Target]:
        """Functions in random order, with judges that judge each program once."""
        if (dataset, functions) not in cls.targets:
            drawn = targets_of(
                open_dataset(cls.data / dataset), limit=functions, seed=0, sandbox=best_sandbox()
            )
            judged = [replace(one, judge=Once(one.judge)) for one in drawn if one.judge is not None]
            random.Random(0).shuffle(judged)  # noqa: S311 - nothing is to be kept secret
            cls.targets[dataset, functions] = judged
        return cls.targets[dataset, functions]

    @classmethod
    def ask(cls, part: Part, keep: Path | None) -> Found:
        """Probe the functions of a work item, or read their stored results."""
        kept = keep / part.name if keep else None
        if kept and kept.is_file():
            return pickle.loads(kept.read_bytes())  # type: ignore[no-any-return]  # noqa: S301 - our own
        asking, found, started = part.asking, Found(), time.monotonic()
        shape = cls.model.shape
        cls.model.completer.shape = shape if asking.exact else None
        for target in cls.of(part.dataset, part.functions)[part.first : part.first + AT_ONCE]:
            context = Context(Arranged(cls.model, asking.way), best_sandbox, unjudged=False)
            record = run_probe(CompletionProbe(), context, target, asking.options)
            if isinstance(record, PairsRecord):
                found.add(record)
        cls.model.completer.shape = shape
        print(f"{part.name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
        if kept:
            kept.write_bytes(pickle.dumps(found))
        return found


def _ways(options: CompletionOptions, seeds: int, samples: int) -> Iterator[Asking]:
    bare = replace(options, placebos=0)
    for way in WAYS:
        together = way == WAYS[0]
        yield Asking(f"exact {way}", options if together else bare, way)
        yield Asking(f"free {way}", options if together else bare, way, exact=False)
    for seed in range(1, seeds):
        yield Asking(f"exact seed {seed}", replace(bare, seed=seed))
    for seed in range(2 if samples else 0):
        yield Asking(f"sampled seed {seed}", replace(bare, samples=samples, seed=seed))


def _told(name: str, found: Found, first: Found | None = None) -> Figures:
    """Print one line, and return its figures."""
    figures = found.figures()
    if first is not None:
        figures["moved"], figures["of"] = first.moved(found), len(first.right.keys() & found.right.keys())
    print(f"  {name:28}" + "  ".join(f"{key} {value}" for key, value in figures.items()), flush=True)
    return figures


def main() -> None:
    """Measure and print."""
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that contains humaneval/ and mbpp/")
    parser.add_argument("--functions", type=int, default=60, help="number of functions per dataset")
    parser.add_argument("--seeds", type=int, default=3, help="number of mutation seeds with exact decoding")
    parser.add_argument("--samples", type=int, default=8, help="number of samples per side")
    parser.add_argument("--sampled", type=int, default=10, help="functions per dataset that are sampled")
    parser.add_argument("--first", type=int, default=None, help="use only the first N sampled functions")
    parser.add_argument(
        "--only", action="append", help="run only ways whose names start with this; repeatable"
    )
    parser.add_argument("--keep", type=Path, help="folder for results, so that a run can be resumed")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument(
        "--processes", type=int, default=min(cores, len(DATA)), help="number of processes, each with a model"
    )
    parser.add_argument("--threads", type=int, default=1, help="number of threads per process")
    parser.add_argument("--quick", action="store_true", help="use one function per dataset and two mutations")
    given = parser.parse_args()
    functions, seeds, sampled = (1, 1, 0) if given.quick else (given.functions, given.seeds, given.sampled)
    options = CompletionOptions(max_tokens=given.max_tokens, ways=0)
    if given.quick:
        options = replace(options, mutations=("rename-random", "rename-generic"), placebos=1, max_tokens=16)
    every = [
        asking
        for asking in _ways(options, seeds, given.samples if sampled else 0)
        if given.only is None or asking.name.startswith(tuple(given.only))
    ]
    parts = [
        Part(asking, dataset, functions, first)
        for first in range(0, functions if given.first is None else given.first, AT_ONCE)
        for asking in every
        for dataset in DATA
        if first < sampled or not asking.options.samples
    ]
    asked = _asked(parts, given)
    figures: dict[str, Figures] = {}
    for asking in every:
        first = asked.get(f"{asking.name.split()[0]} together")
        figures[asking.name] = _told(asking.name, asked[asking.name], first)
    for asking in (one for one in every if one.name in ("exact together", "free together", "sampled seed 0")):
        for name, found in _details(asking.name.split()[0], asked[asking.name]):
            figures[name] = _told(name, found)
    ratios = {} if given.only else _ratios(asked)
    print(json.dumps({"benchmark": "effects", "functions": functions, "found": figures, "ratios": ratios}))


def _asked(parts: Sequence[Part], given: argparse.Namespace) -> dict[str, Found]:
    """The results of each way, from parallel processes."""
    asked: dict[str, Found] = defaultdict(Found)
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    started = (given.data, given.threads)
    with ProcessPoolExecutor(given.processes, get_context("spawn"), Worker.start, started) as pool:
        waiting = [pool.submit(Worker.ask, part, given.keep) for part in parts]
        try:
            for part, future in zip(parts, waiting, strict=True):
                asked[part.asking.name].join(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return asked


def _ratios(asked: dict[str, Found]) -> dict[str, float | None]:
    """The effect of the batch on exact completions, compared with free ones."""
    variances, moved = zip(*(_spread(asked, decoding) for decoding in ("exact", "free")), strict=True)
    return {
        name: of_exact / of_free if of_free else None
        for name, (of_exact, of_free) in (("variance", variances), ("moved", moved))
    }


def _spread(asked: dict[str, Found], decoding: str) -> tuple[float, float]:
    """The variance of the effect over the ways, and the share of verdicts that differ between them."""
    ways = [asked[f"{decoding} {way}"] for way in WAYS]
    effects = [float(found.figures()["effect"] or 0) for found in ways]
    moved = sum(ways[0].moved(found) for found in ways[1:])
    return statistics.pvariance(effects), moved / max(sum(len(found.right) for found in ways[1:]), 1)


def _details(name: str, found: Found) -> Iterator[tuple[str, Found]]:
    """The same by dataset, concept and mutation."""
    for dataset in DATA:
        yield f"{name} {dataset}", found.part(dataset)
    for concept in sorted({one.concept for one in found.pairs}):
        yield f"{name} {concept}", found.part(concept=concept)
    for mutation in sorted({one.mutation for one in found.pairs}):
        yield f"{name} {mutation}", found.part(mutation=mutation)


if __name__ == "__main__":
    main()
