"""Probes functions of packages with their own tests: informative pairs, and the time to a first finding.

    python benchmarks/packages.py FOLDER... --model M [--limit 20] [--seed 0] [--threads N]

A folder is an unpacked source distribution; `--limit` functions that its tests reach are drawn from all of
them. `finding`: a pair with a right verdict on one side, whose verdict changed or held; the time to the first
one is that of the function's probe, with the model loaded and the tests mapped, and its pairs judged in the
sandbox. It has no ratio.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import Counter

from counterlens.datasets.registry import open_dataset
from counterlens.errors import CounterlensError
from counterlens.metrics.effects import PairOutcome
from counterlens.models import load
from counterlens.models.registry import Options
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.probe import Context, Target
from counterlens.sandbox.registry import best_sandbox

INFORMATIVE = {PairOutcome.HELD, PairOutcome.LOST, PairOutcome.GAINED}


def main() -> None:
    """Probe and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--model", required=True)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    box = best_sandbox()
    targets: list[Target] = []
    for folder in given.folders:
        targets += targets_of(open_dataset(f"repo:{folder}"), sandbox=box)
    drawn = random.Random(given.seed).sample(targets, min(given.limit, len(targets)))  # noqa: S311
    probe = CompletionProbe()
    options = make(probe.options, {})
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    with load(given.model, Options(threads=given.threads)) as model:
        name = model.info.name
        for target in drawn:
            started = time.perf_counter()
            try:
                record = probe.run(Context(model, lambda: box), target, options)
            except CounterlensError as error:
                counts["not probed"] += 1
                print(f"{target.name:48} {error.message}", flush=True)
                continue
            informative = [pair for pair in record.pairs if pair.outcome in INFORMATIVE]
            took = time.perf_counter() - started
            counts["functions"] += 1
            counts["pairs"] += len(record.pairs)
            counts["informative"] += len(informative)
            counts["changed"] += sum(pair.outcome is not PairOutcome.HELD for pair in informative)
            if informative:
                counts["functions with a finding"] += 1
                seconds.append(took)
            print(
                f"{target.name:48} {len(informative)} of {len(record.pairs)} pairs, {took:.0f} s", flush=True
            )
    median = statistics.median(seconds) if seconds else None
    document = {"benchmark": "packages", "model": name, "ratios": {}, **counts, "median_seconds": median}
    print(json.dumps(document))


if __name__ == "__main__":
    main()
