"""Measures how fast the tests of a function judge its mutants.

    python benchmarks/mutants.py FOLDER… [--functions 8] [--seed 1] [--quick]

Each folder is the repository of a package with its tests; by default `examples/`. Functions are sampled as in
`benchmarks/judges.py`. The mutants of each function that tests mention are judged after a first one, which
prepares the others. Each line has the elapsed seconds, and the mutants per second.

The last line is one JSON document: `milliseconds` is the processor time of a mutant, which hardly depends on
other load, `mutants_per_second` the rate, and `best_rate` that of the fastest function with at least ten
mutants. `seconds_over_mutations` is the time over that of the mutants by breaking mutations alone, and
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
from counterlens.judging.pace import MUTANT, pace
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
    elapsed = spent = few_seconds = 0.0
    mutants = functions = few = 0
    rates = [0.0]
    for folder in options.folders:
        measured = 0
        for document, function in drawn(folder.resolve(), options.seed):
            if measured == (2 if options.quick else options.functions):
                break
            scope = next(
                (each for each in scopes(document) if each.function.qualname == function.qualname), None
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
                    witnessed=False,
                )
                if programs
                else None
            )
            if judge is None or not (original := judge.judge(document.text)).passed:
                continue
            judge.judge(programs[0])
            with pace(original, MUTANT):
                earlier = time.perf_counter()
                judge.judge_all(by_mutation)
                begun = time.perf_counter()
                verdicts = judge.judge_all(programs)
                seconds = time.perf_counter() - begun
            name = f"{document.path.name if document.path else ''}::{function.qualname}"
            rate = len(programs) / seconds
            print(f"{len(programs):4} mutants {seconds:7.2f} s {rate:6.1f} per second  {name}", flush=True)
            rates += [rate] if len(programs) >= MANY else []
            elapsed, mutants = elapsed + seconds, mutants + len(programs)
            spent += sum(verdict.cpu_seconds or verdict.seconds for verdict in verdicts)
            few, few_seconds = few + len(by_mutation), few_seconds + begun - earlier
            measured += 1
        functions += measured
    result = {
        "milliseconds": round(1000 * spent / mutants, 1) if mutants else None,
        "mutants_per_second": round(mutants / elapsed, 1) if elapsed else None,
        "best_rate": round(max(rates), 1),
        "seconds_over_mutations": round(elapsed / few_seconds, 2) if few_seconds else None,
        "mutants_over_mutations": round(mutants / few, 2) if few else None,
        "mutants": mutants,
        "functions": functions,
        "load": [round(load, 1) for load in os.getloadavg()],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
