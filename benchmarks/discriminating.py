"""Counts the discriminating pairs, and checks that each exposes a model that copies. No model is needed.

    python benchmarks/discriminating.py --data DATA              # 60 problems each of HumanEval and MBPP
    python benchmarks/discriminating.py --data DATA --problems 0 # all of them
    python benchmarks/discriminating.py --quick --data DATA      # 5 each

The completion probe runs on a scripted model that copies: for the prompt of a counterfactual, it writes the
true rest of the original. It runs with the usual cuts and with `--cuts discriminating`. The output gives, for
each mutation, the judged pairs, the discriminating ones, and the wrong completions among these (all) and
among the others (none). The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.datasets import open_dataset
from counterlens.judging.base import Judge, Verdict
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.counterfactuals import gaps_of, preserving, rewritings
from counterlens.probes.pairs.published import Cuts
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.runner import run_probe
from counterlens.python.mutations.language import MUTATIONS
from counterlens.sandbox.registry import best_sandbox

DATA = ("humaneval", "mbpp")
COUNTED = ("pairs", "discriminating", "wrong there", "wrong elsewhere")


class Copier(Model):
    """Writes the true rest of the original for every prompt."""

    info = ModelInfo("copier", "a model that copies", "0", "local", frozenset({Capability.COMPLETE}))

    def __init__(self, target: Target) -> None:
        self._rests: dict[str, str] = {}
        function, surveyed = rewritings(target.document, target.qualname, (), seed=0, every_cut=True)
        for made in surveyed.counterfactuals:
            for cut in filter(None, (made.cut, *made.other_cuts)):
                both = gaps_of(target.document, function, replace(made, cut=cut))
                for gap in both:
                    self._rests.setdefault(gap.shown, both[0].rest)

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        """Like `Model.complete`."""
        return [Completion(self._rests[prompt.text], "stop", 1) for prompt in prompts]


class Once(Judge):
    """A judge that judges each program once for both kinds of cuts."""

    attribution, tests = "", 0

    def __init__(self, judge: Judge) -> None:
        self._judge, self._verdicts = judge, dict[str, Verdict]()
        self.attribution, self.tests = judge.attribution, judge.tests

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Like `Judge.judge`."""
        if program not in self._verdicts:
            self._verdicts[program] = self._judge.judge(program, cancel=cancel)
        return self._verdicts[program]


def main() -> None:
    """Probe, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that contains humaneval/ and mbpp/")
    parser.add_argument("--problems", type=int, default=60, help="number of problems per dataset; 0 for all")
    parser.add_argument("--seed", type=int, default=0, help="random seed for the choice of problems")
    parser.add_argument("--quick", action="store_true", help="use five problems of each dataset")
    given = parser.parse_args()
    limit = 5 if given.quick else given.problems or None
    started = time.monotonic()
    counted: dict[Cuts, Counter[tuple[str, str]]] = {cuts: Counter() for cuts in Cuts}
    functions: Counter[Cuts] = Counter()
    for target in _targets(given.data, limit, given.seed):
        for cuts, counter in counted.items():
            record = _asked(target, cuts)
            functions[cuts] += bool(record and record.pairs)
            for pair in record.pairs if record else ():
                _count(counter, pair)
    for cuts, counter in counted.items():
        print(f"\ncuts: {cuts}, {functions[cuts]} functions with pairs")
        for name in ("all", *MUTATIONS):
            if counter[name, "pairs"]:
                print(f"{name:20}" + "".join(f"{counter[name, what]:16}" for what in COUNTED))
    figures = {
        cuts: {name: {what: counter[name, what] for what in COUNTED} for name in ("all", *preserving(()))}
        for cuts, counter in counted.items()
    }
    seconds = round(time.monotonic() - started)
    print(json.dumps({"problems": limit, "seed": given.seed, "seconds": seconds, "cuts": figures}))
    sys.exit(any(of["all"]["wrong there"] != of["all"]["discriminating"] for of in figures.values()))


def _targets(folder: Path, limit: int | None, seed: int) -> Iterator[Target]:
    """The functions with judges that judge each program once."""
    for name in DATA:
        found = targets_of(open_dataset(folder / name), limit=limit, seed=seed, sandbox=best_sandbox())
        for number, target in enumerate(found, 1):
            print(f"\r{name}: {number} of {len(found)}", end="", file=sys.stderr, flush=True)
            if target.judge is not None:
                yield replace(target, judge=Once(target.judge))
    print(file=sys.stderr)


def _asked(target: Target, cuts: Cuts) -> PairsRecord | None:
    """The record of a function for a model that copies; None if it cannot be probed."""
    context = Context(Copier(target), best_sandbox, unjudged=False)
    record = run_probe(CompletionProbe(), context, target, CompletionOptions(cuts=cuts, placebos=0))
    return record if isinstance(record, PairsRecord) else None


def _count(counter: Counter[tuple[str, str]], pair: PairRecord) -> None:
    if pair.effect is None or pair.discriminating is None:
        return
    where = "wrong there" if pair.discriminating else "wrong elsewhere"
    for name in ("all", pair.mutation):
        counter[name, "pairs"] += 1
        counter[name, "discriminating"] += pair.discriminating
        counter[name, where] += not pair.counterfactual_right


if __name__ == "__main__":
    main()
