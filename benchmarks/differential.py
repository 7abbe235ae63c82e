"""Measures how often differential execution, which uses no tests, agrees with a dataset's tests.

    python benchmarks/differential.py --data DATA [--problems 40] [--seed 0] [--quick]

Breaking counterfactuals of HumanEval problems, sampled by the seed, are judged twice: by the problem's tests,
and by comparison with the reference solution on generated inputs. If the two disagree, only one of them
detected the difference. Preserving counterfactuals show how often the comparison rejects a right program.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from counterlens.datasets import Problem, open_dataset
from counterlens.judging.base import Setting
from counterlens.mutations import counterfactuals
from counterlens.python.judging.differential import DifferentialJudge, Untestable, study
from counterlens.python.judging.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

PER_PROBLEM = 6  # maximum counterfactuals of each kind


def main() -> None:
    """Judge, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that contains humaneval/")
    parser.add_argument("--problems", type=int, default=40, help="number of problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="use eight problems")
    options = parser.parse_args()
    problems = list(open_dataset(str(options.data / "humaneval")))
    random.Random(options.seed).shuffle(problems)  # noqa: S311 - which problems
    setting = Setting(best_sandbox(), Path(sys.executable), Limits(seconds=10.0, output_bytes=16 << 20))
    counted: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    for problem in problems[: 8 if options.quick else options.problems]:
        _compare(problem, setting, options.seed, counted, spent)
    _show(counted, spent)


def _compare(
    problem: Problem, setting: Setting, seed: int, counted: Counter[str], spent: Counter[str]
) -> None:
    if problem.tests is None or problem.function is None:
        return
    counted["problems"] += 1
    started = time.monotonic()
    found = study(Document(problem.source), problem.function, setting, seed=seed)
    spent["study"] += time.monotonic() - started  # type: ignore[assignment]
    if isinstance(found, Untestable):
        counted["untestable"] += 1
        print(f"{problem.id}: {found.reason}")
        return
    inputs = DifferentialJudge(found)
    tests = SuppliedTestsJudge(problem.tests.text, problem.function, problem.source, setting)
    made = list(counterfactuals(problem.source, function=problem.function, seed=seed))
    chooser = random.Random(f"{seed} {problem.id}")  # noqa: S311 - which counterfactuals
    for preserving in (False, True):
        some = [one for one in made if one.preserving is preserving]
        for one in chooser.sample(some, min(PER_PROBLEM, len(some))):
            by_tests, by_inputs = tests.judge(one.source), inputs.judge(one.source)
            spent["given"] += by_tests.seconds  # type: ignore[assignment]
            spent["differential"] += by_inputs.seconds  # type: ignore[assignment]
            kind = "preserving" if preserving else "breaking"
            counted[f"{kind} {by_tests.passed} {by_inputs.passed}"] += 1
            if by_tests.passed != by_inputs.passed:
                who = "inputs" if by_tests.passed else "tests"
                evidence = (by_inputs if by_tests.passed else by_tests).evidence
                print(f"{problem.id} {one.mutation} line {one.start_line}: only the {who}: {evidence.failed}")


def _show(counted: Counter[str], spent: Counter[str]) -> None:
    print(f"\n{counted['problems']} problems, {counted['untestable']} not testable")
    print(f"{'':12}{'both fail':>11}{'both pass':>11}{'only inputs':>13}{'only tests':>12}")
    ratios = {}
    for kind in ("breaking", "preserving"):
        both_fail, both_pass = counted[f"{kind} False False"], counted[f"{kind} True True"]
        inputs, tests = counted[f"{kind} True False"], counted[f"{kind} False True"]
        total = both_fail + both_pass + inputs + tests
        print(f"{kind:12}{both_fail:11}{both_pass:11}{inputs:13}{tests:12}")
        ratios[f"{kind}_agreement"] = round((both_fail + both_pass) / total, 4) if total else None
    noticed = counted["breaking False False"]
    by_tests = noticed + counted["breaking False True"]
    ratios["failures_of_tests_that_inputs_find"] = round(noticed / by_tests, 4) if by_tests else None
    ratios["time_over_tests"] = round(spent["differential"] / spent["given"], 2) if spent["given"] else None
    print(json.dumps({"benchmark": "differential", "ratios": ratios, "counts": dict(counted)}))


if __name__ == "__main__":
    main()
