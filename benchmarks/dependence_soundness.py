"""Checks that every dependence observed in a run is in the graph: dataset solutions on their own tests.

    python benchmarks/dependence_soundness.py --data DATA              # HumanEval and MBPP, some minutes
    python benchmarks/dependence_soundness.py --data DATA --every 25   # every 25th problem
    python benchmarks/dependence_soundness.py --data DATA --language java    # HumanEval-X

Each program runs in the sandbox under limits, and is traced instruction by instruction
(`tests/python/dependence/tracing.py`), up to 300,000 instructions. The comparison covers definition-use pairs
of names, and control dependence for the calls that end without an exception
(`tests/python/dependence/agreement.py`). In Java, it covers the definition-use pairs of local variables,
recorded by shadow variables in the program (`tests/java/dependence/tracing.py`). The last line is one JSON
document.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.java.dependence.tracing import UnwatchedError, executed, missing
from tests.python.dependence.agreement import disagreements
from tests.python.dependence.sandboxed import UnseenError, traced

from counterlens.judging.base import Setting, lasting
from counterlens.sandbox.registry import best_sandbox


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


def java_problems(data: Path) -> Iterator[tuple[str, str, str]]:
    """The problems of HumanEval-X: name, solution, tests as a class `Tests`."""
    with gzip.open(data / "humaneval-x" / "humaneval_java.jsonl.gz", "rt", encoding="utf-8") as lines:
        for one in map(json.loads, lines):
            tests = re.sub(r"\bclass Main\b", "class Tests", one["test"])
            imports = [line for line in one["prompt"].splitlines() if line.startswith("import ")]
            yield one["task_id"], one["prompt"] + one["canonical_solution"], "\n".join([*imports, tests])


def of_java(chosen: list[tuple[str, str, str]]) -> int:
    """Run the Java programs; returns 1 if a pair is missing."""
    setting = Setting(best_sandbox(), Path(sys.executable), lasting(60))
    counts = {"programs": len(chosen), "failed": 0, "pairs": 0, "wrong": 0}
    for name, source, tests in chosen:
        try:
            pairs, graphs = executed(source, tests, setting)
        except UnwatchedError as error:
            counts["failed"] += 1
            print(f"{name} did not run: {error}")
            continue
        wrong = list(missing(pairs, graphs))
        counts["pairs"] += len(pairs)
        counts["wrong"] += len(wrong)
        for one in wrong:
            print(f"{name} {one}")
    print(json.dumps({"benchmark": "dependence_soundness", "language": "java", **counts}))
    return int(counts["wrong"] > 0)


def main() -> int:
    """Run everything and print the disagreements; returns 1 if there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="check every N-th problem")
    parser.add_argument("--language", choices=("python", "java"), default="python")
    given = parser.parse_args()
    if given.language == "java":
        return of_java(list(java_problems(given.data))[:: given.every])
    chosen = list(problems(given.data))[:: given.every]
    counts = {"programs": len(chosen), "failed": 0, "pairs": 0, "calls": 0, "wrong": 0}
    for name, source, tests in chosen:
        try:
            seen = traced(source, tests)
        except UnseenError as error:
            counts["failed"] += 1
            print(f"{name} did not run: {error.message}")
            continue
        wrong = disagreements(source, seen)
        counts["pairs"] += len(seen.pairs)
        counts["calls"] += len(seen.activations)
        counts["wrong"] += len(wrong)
        for one in wrong:
            print(f"{name} {one}")
    print(json.dumps({"benchmark": "dependence_soundness", **counts}))
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
