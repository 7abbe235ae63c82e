"""Is a fix right that a function's own examples settle, and is it found sooner than by chance?

    python benchmarks/fixes.py --data DATA [--bugs N] [--quick]

DATA is a folder with HumanEvalPack (`humanevalpack/python`), whose 164 functions have a bug each, a few
example tests, which a programmer would have, and many hidden ones. As `counterlens check --tests` does, the
alternatives of a function that fails its examples are run, those first whose first token the embedded model
finds likely, and the first with which it passes them is the fix. It is right where it passes the hidden
tests, too. All alternatives are run on the examples, so that the order can be told from chance: `tried` is
how many were run up to the first that passes, over how many a random order needs on average,
(n + 1) / (k + 1) where k of n pass.

`precision` is the share of fixes that are right, `fixed` the share of bugs that get a right one. The last
line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

from counterlens.attribution.base import Judge, Setting, lasting
from counterlens.attribution.layout import interpreter_for
from counterlens.attribution.supplied_tests import SuppliedTestsJudge
from counterlens.datasets import open_dataset
from counterlens.datasets.base import Problem
from counterlens.doubt.fixing import MOST
from counterlens.doubt.generating import changed_text, scopes
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import ranked_by_head
from counterlens.metrics.effects import wilson
from counterlens.models import DEFAULT_MODEL, load
from counterlens.models.base import Model
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

QUICK = 8
SECONDS = 1.0
"""So long a program may run; what does not end is tried, too, to the end of the list."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that has humanevalpack/")
    parser.add_argument("--bugs", type=int, default=164, help="so many, evenly spread")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} bugs")
    given = parser.parse_args()
    folder = given.data / "humanevalpack" / "python"
    records = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.open()]
    examples = {record["task_id"]: record["example_test"] for record in records}
    problems = list(open_dataset(f"humanevalpack:{folder}"))
    wanted = min(QUICK if given.quick else given.bugs, len(problems))
    chosen = [problems[number * len(problems) // wanted] for number in range(wanted)]
    found = defaultdict(list)
    with load(DEFAULT_MODEL) as model:
        for problem in chosen:
            outcome = tried(model, problem, examples[problem.id])
            if outcome is not None:
                found[str(problem.details["bug_type"])].append(outcome)
    report(found)


def tried(model: Model, problem: Problem, examples: str) -> tuple[int, int, int, bool] | None:
    """Alternatives, those that pass the examples, the place of the first, and whether that one is right.

    None where the examples do not see the bug.
    """
    assert problem.buggy is not None
    assert problem.function is not None
    assert problem.tests is not None
    judge, hidden = (_judge(problem, text) for text in (examples, problem.tests.text))
    if not judge.judge(problem.source).passed or judge.judge(problem.buggy).passed:
        return None
    scope = scope_of(problem)
    started = time.monotonic()
    ranked = [changed_text(scope.document, one) for one, _ in ranked_by_head(model, scope)]
    ordered = time.monotonic() - started
    passing = [place for place, program in enumerate(ranked, 1) if judge.judge(program).passed]
    right = bool(passing) and hidden.judge(ranked[passing[0] - 1]).passed
    first = passing[0] if passing else 0
    print(
        f"{problem.id}: {len(ranked)} alternatives in {ordered:.1f} s, {len(passing)} pass, the first is no. "
        f"{first}, {'right' if right else 'wrong' if passing else '-'}",
        file=sys.stderr,
        flush=True,
    )
    return len(ranked), len(passing), first, right


def scope_of(problem: Problem) -> DoubtScope:
    """The function with the bug."""
    document = Document(problem.buggy or "")
    return next(one for one in scopes(document) if one.function.qualname == problem.function)


def _judge(problem: Problem, tests: str) -> Judge:
    setting = Setting(best_sandbox(), interpreter_for(None), lasting(SECONDS))
    return SuppliedTestsJudge(tests, problem.function or "", problem.source, setting)


def report(found: dict[str, list[tuple[int, int, int, bool]]]) -> None:
    """Print the tables."""
    print("bug: seen by the examples, with an alternative that passes them, found in time, right")
    for name, outcomes in [*sorted(found.items()), ("all", [one for each in found.values() for one in each])]:
        fixes = [one for one in outcomes if 0 < one[2] <= MOST]
        some = sum(one[1] > 0 for one in outcomes)
        print(f"  {name:16} {len(outcomes):4} {some:4} {len(fixes):4} {sum(one[3] for one in fixes):4}")
    every = [one for each in found.values() for one in each]
    fixes = [one for one in every if 0 < one[2] <= MOST]
    right = sum(one[3] for one in fixes)
    if fixes:
        low, high = wilson(right, len(fixes))
        print(f"precision {right / len(fixes):.2f} ({low:.2f} to {high:.2f})")
    able = [one for one in every if one[1]]
    ratios = {
        "precision": right / len(fixes) if fixes else None,
        "fixed": right / len(every) if every else None,
        "tried": sum(one[2] for one in able) / sum((one[0] + 1) / (one[1] + 1) for one in able)
        if able
        else None,
    }
    print(f"median of alternatives run: {statistics.median([one[2] for one in able]) if able else 0:g}")
    shown = {name: None if value is None else round(value, 3) for name, value in ratios.items()}
    print(json.dumps({"benchmark": "fixes", "bugs": len(every), "ratios": shown}))


if __name__ == "__main__":
    main()
