"""What is an average mutation effect made of: the mutation, the batch, the seed, or nothing?

    python benchmarks/effects.py --data DATA [--functions N] [--seeds N] [--samples K] [--threads N] [--quick]

Functions of HumanEval and of MBPP, drawn by a seed, are probed for completion with the embedded model, each
with three placebos:

- `free`, the baseline: greedy, with calls that are filled as far as they go, which is how Counterlens decoded
  before;
- `exact`: greedy, each completion a function of its prompt.

Both are asked in the same ways: the prompts of a function `together`, `backwards`, and each `alone`. What
differs between these is an effect of the batch. Exact completions are also asked about with other seeds,
which choose other names, sites and placebos, and with `--samples K` sampled at a temperature of 0.8.

For each it prints the average mutation effect, the noise floor, the effect less the floor with its interval,
and how many verdicts are not those of `together`. The last line is one JSON document; its ratios are the
variance of the effect over the ways of asking, and the share of verdicts that they move, exact over free.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in the model's own process

from discriminating import Once
from exact import Direct

from counterlens.datasets import open_dataset
from counterlens.metrics.noise_floor import AboveFloor, above_floor
from counterlens.metrics.summary import Observation
from counterlens.models.base import Completion, Model, ModelInfo, Progress, Prompt
from counterlens.models.files import embedded_model
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.runner import run_probe
from counterlens.probes.subjects import targets_of
from counterlens.sandbox.registry import best_sandbox

DATA = ("humaneval", "mbpp")
WAYS = ("together", "backwards", "alone")
Right = dict[tuple[str, ...], tuple[bool | None, bool | None]]


class Arranged(Model):
    """A model whose prompts are put to it in another order, or each by itself."""

    def __init__(self, model: Direct, way: str) -> None:
        self._model, self._way = model, way

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    def complete(
        self, prompts: Sequence[Prompt], *, cancel: Event | None = None, progress: Progress | None = None
    ) -> list[Completion]:
        """As `Model.complete`."""
        if self._way == "alone":
            return [self._model.complete([one], cancel=cancel)[0] for one in prompts]
        if self._way == "backwards":
            return self._model.complete(prompts[::-1], cancel=cancel)[::-1]
        return self._model.complete(prompts, cancel=cancel, progress=progress)


@dataclass
class Found:
    """The pairs of one way of asking, and the placebos."""

    pairs: list[Observation] = field(default_factory=list)
    placebos: list[Observation] = field(default_factory=list)
    right: Right = field(default_factory=dict)

    def add(self, record: PairsRecord) -> None:
        """Take the pairs of one more function."""
        self.pairs += record.observations
        self.placebos += record.placebo_observations
        for pair in (*record.pairs, *record.placebos):
            self.right[_name(record, pair)] = pair.original_right, pair.counterfactual_right

    def above(self, file: str | None = None, mutation: str | None = None) -> AboveFloor:
        """The effect beside its floor; of one mutation, where it is given."""
        chosen = [one for one in self.pairs if mutation in (None, one.mutation)]
        return above_floor(_of(chosen, file), _of(self.placebos, file))

    def moved(self, other: Found) -> int:
        """How many pairs have another verdict on a side."""
        return sum(self.right[name] != other.right[name] for name in self.right.keys() & other.right.keys())


def _name(record: PairsRecord, pair: PairRecord) -> tuple[str, ...]:
    return record.target, pair.mutation, str(pair.start_line), *pair.diff


def _of(observed: Iterable[Observation], dataset: str | None) -> list[Observation]:
    return [one for one in observed if dataset is None or one.file.lower().startswith(dataset)]


def _targets(folder: Path, limit: int, seed: int) -> list[Target]:
    found = []
    for name in DATA:
        drawn = targets_of(open_dataset(folder / name), limit=limit, seed=seed, sandbox=best_sandbox())
        found += [replace(one, judge=Once(one.judge)) for one in drawn if one.judge is not None]
    return found


def _ask(model: Model, targets: Sequence[Target], options: CompletionOptions, seed: int, name: str) -> Found:
    found, started = Found(), time.monotonic()
    for number, target in enumerate(targets, 1):
        print(f"\r{name}: {number} of {len(targets)} functions", end="", file=sys.stderr, flush=True)
        context = Context(model, best_sandbox, unjudged=False)
        record = run_probe(CompletionProbe(), context, target, replace(options, seed=seed))
        if isinstance(record, PairsRecord):
            found.add(record)
    print(f", {time.monotonic() - started:.0f} s", file=sys.stderr)
    return found


def _told(name: str, above: AboveFloor, moved: int | None = None) -> dict[str, float | int | None]:
    """Print one line, and return what it says."""
    difference = above.difference
    figures = {
        "effect": above.effect.value,
        "informative": above.effect.n,
        "floor": above.floor.value,
        "placebos": above.floor.n,
        "less_floor": difference.value,
        "low": difference.low,
        "high": difference.high,
    }
    shown = {key: value if value is None else round(value, 3) for key, value in figures.items()}
    print(f"  {name:28}" + "  ".join(f"{key} {value}" for key, value in shown.items()), end="")
    print("" if moved is None else f"  verdicts moved {moved}", flush=True)
    return shown if moved is None else shown | {"moved": moved}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that has humaneval/ and mbpp/")
    parser.add_argument("--functions", type=int, default=60, help="of each dataset")
    parser.add_argument("--seeds", type=int, default=3, help="of the mutations, asked exactly")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=min(len(os.sched_getaffinity(0)), 8))
    parser.add_argument("--quick", action="store_true", help="one function of each, two mutations")
    given = parser.parse_args()
    functions, seeds = (1, 1) if given.quick else (given.functions, given.seeds)
    options = CompletionOptions(max_tokens=given.max_tokens)
    if given.quick:
        options = replace(options, mutations=("rename-random", "rename-generic"), placebos=1, max_tokens=16)
    targets = _targets(given.data, functions, 0)
    model = Direct(embedded_model(), given.threads)
    shape, figures = model.shape, {}
    spread: dict[str, tuple[float, float]] = {}
    for decoding in ("free", "exact"):
        model.completer.shape = None if decoding == "free" else shape
        asked = {way: _ask(Arranged(model, way), targets, options, 0, f"{decoding} {way}") for way in WAYS}
        first = asked[WAYS[0]]
        for way, found in asked.items():
            figures[f"{decoding} {way}"] = _told(f"{decoding} {way}", found.above(), first.moved(found))
        effects = [found.above().effect.value or 0.0 for found in asked.values()]
        moved = sum(first.moved(found) for found in asked.values()) / max(len(first.right) * 2, 1)
        spread[decoding] = statistics.pvariance(effects), moved
    figures |= _details(first)
    for seed in range(1, seeds):
        found = _ask(model, targets, options, seed, f"exact seed {seed}")
        figures[f"exact seed {seed}"] = _told(f"exact seed {seed}", found.above())
    ratios = {
        name: exact / free if free else None
        for name, exact, free in zip(("variance", "moved"), spread["exact"], spread["free"], strict=True)
    }
    print(json.dumps({"benchmark": "effects", "functions": functions, "found": figures, "ratios": ratios}))


def _details(found: Found) -> dict[str, dict[str, float | int | None]]:
    """The same by dataset, and by mutation."""
    mutations = sorted({one.mutation for one in found.pairs})
    details = {f"exact {name}": found.above(name) for name in DATA}
    details |= {f"exact {name}": found.above(mutation=name) for name in mutations}
    return {name: _told(name, above) for name, above in details.items()}


if __name__ == "__main__":
    main()
