"""Is every dependence that is seen in a run in the graph? HumanEval and MBPP solutions on their own tests.

    python benchmarks/dependence_soundness.py --data DATA              # all of them, some minutes
    python benchmarks/dependence_soundness.py --data DATA --every 25   # a part

Each program runs in a process of its own with a time limit, watched instruction by instruction
(`tests/dependence/tracing.py`); at most 300,000 instructions are watched. Compared are definition-use pairs
of names, and control dependence for the calls that end without an exception
(`tests/dependence/agreement.py`). The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.dependence.agreement import disagreements
from tests.dependence.tracing import Tracer

SECONDS = 20


def problems(data: Path) -> Iterator[tuple[str, str, str]]:
    """The problems of both datasets: name, solution, tests."""
    with gzip.open(data / "humaneval" / "HumanEval.jsonl.gz", "rt", encoding="utf-8") as lines:
        for one in map(json.loads, lines):
            tests = f"{one['test']}\ncheck({one['entry_point']})"
            yield one["task_id"], one["prompt"] + one["canonical_solution"], tests
    for line in (data / "mbpp" / "mbpp.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        tests = "\n".join([one["test_setup_code"], *one["test_list"]])
        yield f"MBPP/{one['task_id']}", one["code"].replace("\r\n", "\n"), tests


def watch(problem: tuple[str, str, str]) -> tuple[str, int, int, list[str]]:
    """Run one problem: its name, how many pairs and calls were seen, and what is wrong."""
    name, source, tests = problem
    signal.alarm(SECONDS)
    with open(os.devnull, "w") as nothing:  # noqa: PTH123
        sys.stdout = nothing
        tracer = Tracer(source)

        def judge(names: dict[str, Any]) -> None:
            exec(compile(tests, "<tests>", "exec"), names)  # noqa: S102 - records of the datasets

        tracer.run(judge)
        sys.stdout = sys.__stdout__
    signal.alarm(0)
    return name, len(tracer.pairs), len(tracer.activations), disagreements(source, tracer)


def main() -> int:
    """Run everything and print what is wrong; 1 where something is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="take one problem of so many")
    given = parser.parse_args()
    chosen = list(problems(given.data))[:: given.every]
    counts = {"programs": len(chosen), "failed": 0, "pairs": 0, "calls": 0, "wrong": 0}
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for problem in chosen:
            try:
                name, pairs, calls, wrong = pool.apply_async(watch, (problem,)).get(SECONDS + 5)
            except Exception as error:
                counts["failed"] += 1
                print(f"{problem[0]} did not run: {error!r}")
                continue
            counts["pairs"] += pairs
            counts["calls"] += calls
            counts["wrong"] += len(wrong)
            for one in wrong:
                print(f"{name} {one}")
    print(json.dumps({"benchmark": "dependence_soundness", **counts}))
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
