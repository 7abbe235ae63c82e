"""Measures how fast the tests of a function judge its mutants at once, relative to one by one.

    python benchmarks/mutants.py FOLDER… [--functions 8] [--seed 1] [--quick]

Each folder is the repository of a package with its tests; by default `examples/`. Functions are sampled as in
`benchmarks/judges.py`. The breaking mutants of each function that tests mention are judged at once
(`Judge.judge_variants`) and one by one, after a first one of each, which prepares the others. Each line has
the seconds of both and the mutants per second. A mutant whose two judgements differ is named.

The last line is one JSON document. `at_once_over_single` is the ratio of all seconds, `mutants_per_second`
the rate at once, and `best_rate` that of the fastest function with at least ten mutants.
`seconds_over_mutations` is the time at once over that of the mutants by breaking mutations alone, and
`mutants_over_mutations` the ratio of their numbers. With `--quick`, two functions are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from judges import drawn

from counterlens.doubt.generating import scopes
from counterlens.doubt.mutants import MUTANT_KINDS, mutants_of
from counterlens.judging.base import Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.sandbox.registry import best_sandbox

MANY = 10
"""Minimum number of mutants of a function for its rate to count as the best."""


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", default=[Path(__file__).parent.parent / "examples"])
    parser.add_argument("--functions", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    at_once = single = few_seconds = 0.0
    mutants = functions = different = few = 0
    rates = [0.0]
    for folder in options.folders:
        measured = 0
        for document, function in drawn(folder.resolve(), options.seed):
            if measured == (2 if options.quick else options.functions):
                break
            scope = next(
                (one for one in scopes(document) if one.function.qualname == function.qualname), None
            )
            made = mutants_of(scope) if scope else []
            programs = [mutant.source for mutant in made]
            by_mutation = [mutant.source for mutant in made if mutant.kind not in MUTANT_KINDS]
            judge = (
                find_judge(
                    document,
                    function,
                    Setting(best_sandbox(), interpreter_for(document.path), vetted=True),
                    fallback=False,
                )
                if programs
                else None
            )
            if judge is None or not judge.judge(document.text).passed:
                continue
            judge.judge(programs[0])
            earlier = time.perf_counter()
            judge.judge_variants(by_mutation)
            begun = time.perf_counter()
            verdicts = judge.judge_variants(programs)
            between = time.perf_counter()
            others = [judge.judge(program) for program in programs]
            ended = time.perf_counter()
            differing = [
                at
                for at, both in enumerate(zip(verdicts, others, strict=True))
                if both[0].passed != both[1].passed
            ]
            name = f"{document.path.name if document.path else ''}::{function.qualname}"
            rate = len(programs) / (between - begun)
            seconds = f"{between - begun:7.2f} s at once {ended - between:7.2f} s one by one"
            note = f"  differ: {differing}" if differing else ""
            print(f"{len(programs):4} mutants {seconds} {rate:6.1f} per second  {name}{note}", flush=True)
            rates += [rate] if len(programs) >= MANY else []
            at_once, single = at_once + between - begun, single + ended - between
            mutants, different = mutants + len(programs), different + len(differing)
            few, few_seconds = few + len(by_mutation), few_seconds + begun - earlier
            measured += 1
        functions += measured
    result = {
        "at_once_over_single": round(at_once / single, 3) if single else None,
        "mutants_per_second": round(mutants / at_once, 1) if at_once else None,
        "best_rate": round(max(rates), 1),
        "seconds_over_mutations": round(at_once / few_seconds, 2) if few_seconds else None,
        "mutants_over_mutations": round(mutants / few, 2) if few else None,
        "mutants": mutants,
        "functions": functions,
        "different": different,
        "load": [round(load, 1) for load in os.getloadavg()],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
