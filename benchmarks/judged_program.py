"""Measures the cost of one judged program of a package, relative to pytest on its tests without a sandbox.

    python benchmarks/judged_program.py FOLDER… [--functions 8] [--times 5] [--seed 1]

Each folder is the repository of a package with its tests. Functions are sampled as in `benchmarks/judges.py`,
and those that tests mention are judged unchanged, `--times` times, in turn with
`python -m pytest FILE::TEST…` of the tests that judge them, in the same interpreter. Each line has the median
seconds of both. The first programs of a function, which prepare later ones, do not count.

The last line is one JSON document; `judged_over_pytest` is the median over all functions of the ratio of the
two medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

from judges import drawn

from counterlens.attribution.layout import interpreter_for
from counterlens.attribution.registry import find_judge
from counterlens.attribution.unittests import CasesJudge
from counterlens.sandbox.registry import best_sandbox

WARM = 3
"""Number of programs of a function that do not count."""


def seconds(work: object) -> float:
    """The seconds that a function takes."""
    begun = time.perf_counter()
    assert callable(work)
    work()
    return time.perf_counter() - begun


def tests_of(judge: CasesJudge) -> list[str]:
    """The tests of a judge, as arguments of pytest."""
    return ["::".join(filter(None, (str(case.file), case.owner, case.name))) for case in judge._cases]


def measure(folder: Path, options: argparse.Namespace) -> list[float]:
    """The ratios of some functions of a package."""
    ratios: list[float] = []
    for document, function in drawn(folder, options.seed):
        if len(ratios) == options.functions:
            break
        judge = find_judge(document, function, best_sandbox(), fallback=False, vetted=True)
        if not isinstance(judge, CasesJudge):
            continue
        python = str(interpreter_for(document.path))
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests_of(judge)]

        def plain(command: list[str] = command) -> None:
            subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)

        def judged(judge: CasesJudge = judge, text: str = document.text) -> None:
            assert judge.judge(text).passed

        for _ in range(WARM):
            judged()
        both = [(seconds(judged), seconds(plain)) for _ in range(options.times)]
        ours, theirs = (statistics.median(side) for side in zip(*both, strict=True))
        ratios.append(ours / theirs)
        name = f"{document.path.name if document.path else ''}::{function.qualname}"
        isolation = judge.judge(document.text).evidence.isolation
        print(f"{ours:6.3f} s judged  {theirs:6.3f} s pytest  {isolation:14} {name}", flush=True)
    return ratios


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--functions", type=int, default=8)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ratios = {folder.name: measure(folder.resolve(), options) for folder in options.folders}
    every = [ratio for found in ratios.values() for ratio in found]
    result = {
        "judged_over_pytest": round(statistics.median(every), 3) if every else None,
        "by_package": {name: round(statistics.median(found), 3) for name, found in ratios.items() if found},
        "functions": len(every),
        "load": [round(load, 1) for load in os.getloadavg()],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
