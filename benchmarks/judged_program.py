"""Measures the cost of one judged program of a package, relative to pytest on its tests without a sandbox.

    python benchmarks/judged_program.py FOLDER… [--functions 8] [--times 5] [--seed 1] [--processor]

Each folder is the repository of a package with its tests. Functions are sampled as in `benchmarks/judges.py`,
and those that tests mention are judged unchanged, `--times` times, in turn with
`python -m pytest FILE::TEST…` of the tests that judge them, in the same interpreter. Each line has the median
seconds of both. The first programs of a function, which prepare later ones, do not count.

With `--processor`, each line also has the processor time of one program, of all processes together
(`perf stat`), and of pytest; unlike seconds, it is meaningful on a busy machine.

The last line is one JSON document; `judged_over_pytest` is the median over all functions of the ratio of the
two medians.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import time
from pathlib import Path

import psutil
from judges import drawn

from counterlens.judging.base import Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.python.judging.unittests import CasesJudge
from counterlens.sandbox.registry import best_sandbox

WARM = 3
"""Number of programs of a function that do not count."""
_SETTLED = 0.5  # seconds until perf has begun, and until the last program's processes have ended


def seconds(work: object) -> float:
    """The seconds that a function takes."""
    begun = time.perf_counter()
    assert callable(work)
    work()
    return time.perf_counter() - begun


def processor_time(work: object, times: int) -> float:
    """The mean processor time of a function, in this process and all that it has started, in milliseconds."""
    assert callable(work)
    time.sleep(_SETTLED)
    own = psutil.Process()
    numbers = [str(each.pid) for each in (own, *own.children(recursive=True))]
    command = ["perf", "stat", "-x", ",", "-e", "task-clock", "-p", ",".join(numbers)]
    counter = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(_SETTLED)
    for _ in range(times):
        work()
    time.sleep(_SETTLED)
    counter.send_signal(signal.SIGINT)
    _, counted = counter.communicate()
    return float(counted.strip().splitlines()[-1].partition(",")[0]) / times


def processor_time_of_child(work: object) -> float:
    """The processor time of the processes that a function starts and waits for, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(work)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def tests_of(judge: CasesJudge) -> list[str]:
    """The tests of a judge, as arguments of pytest."""
    return ["::".join(filter(None, (str(case.file), case.owner, case.name))) for case in judge._cases]


def measure(folder: Path, options: argparse.Namespace) -> list[float]:
    """The ratios of some functions of a package."""
    ratios: list[float] = []
    for document, function in drawn(folder, options.seed):
        if len(ratios) == options.functions:
            break
        judge = find_judge(
            document,
            function,
            Setting(best_sandbox(), interpreter_for(document.path), vetted=True),
            fallback=False,
        )
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
        times = f"{ours:6.3f} s judged  {theirs:6.3f} s pytest"
        if options.processor:
            spent = processor_time(judged, 3 * options.times), processor_time_of_child(plain)
            times += f"  {spent[0]:4.0f} ms processor judged  {spent[1]:5.0f} ms pytest"
        print(f"{times}  {name}", flush=True)
    return ratios


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--functions", type=int, default=8)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processor", action="store_true")
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
