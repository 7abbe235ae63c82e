"""Is a fix right that a function's own examples settle, and is it found sooner than by chance?

    python benchmarks/fixes.py --data DATA [--seeded N] [--bugs N] [--quick]

DATA is a folder with HumanEvalPack (`humanevalpack/python`), whose 164 functions have a bug each, a few
example tests, which a programmer would have, and many hidden ones. `--seeded N` adds N bugs per function,
which the breaking mutations put into the right solution: different mutations and places, drawn at random. A
function that fails its examples is given to `counterlens.doubt.fixing`, as `counterlens check --tests` does.
A fix is right if it passes the hidden tests, too; an alternative with a rival is no fix, and is counted
apart. The bound on a fix's likelihood was chosen on the first half of the problems (and the real bugs);
`precision`, the share of fixes that are right, and `fixed`, the share of bugs that get a right one, are of
the second half.

Then all alternatives of the real bugs are run on the examples, so that the order can be told from chance:
`tried` is how many the model's order runs up to the first that passes, over how many a random order needs on
average, (n + 1) / (k + 1) where k of n pass; of both halves. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import numpy as np

from counterlens.attribution.base import Judge, Setting, Verdict, lasting
from counterlens.attribution.layout import interpreter_for
from counterlens.attribution.supplied_tests import SuppliedTestsJudge
from counterlens.datasets import open_dataset
from counterlens.datasets.base import Problem
from counterlens.doubt.fixing import fix_for
from counterlens.doubt.generating import changed_text, scopes
from counterlens.doubt.scoring import ranked_by_head
from counterlens.metrics.effects import wilson
from counterlens.models import DEFAULT_MODEL, load
from counterlens.models.base import Model
from counterlens.mutations.engine import survey
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

QUICK = 8
SECONDS = 3.0
"""So long a program may run: three times what one needs on a quiet machine."""
HALF = 82
"""The number of the first problem of the reported half."""


@dataclass(frozen=True)
class Bug:
    """A function with a bug.

    Attributes:
        number: Of the problem.
        problem: Its tests, and the right solution.
        kind: The type of the bug, or the mutation that put it there.
        source: The wrong solution.
        seeded: Whether a mutation put it there.
    """

    number: int
    problem: Problem
    kind: str
    source: str
    seeded: bool


@dataclass(frozen=True)
class Fixed:
    """The result for one bug.

    Attributes:
        bug: Which.
        alternatives: How many there are.
        passing: The places in the model's order of those that pass the examples, from 1; of a real bug.
        right: Whether the alternative passes the hidden tests; None where there is none.
        undecided: Whether it has a rival, so that it is no fix.
    """

    bug: Bug
    alternatives: int
    passing: tuple[int, ...]
    right: bool | None
    undecided: bool


class Remembering:
    """A judge that runs each program once."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self._known = judge, dict[str, Verdict]()
        self.attribution, self.tests = judge.attribution, judge.tests

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """As `Judge.judge`."""
        if program not in self._known:
            self._known[program] = self._judge.judge(program, cancel=cancel)
        return self._known[program]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that has humanevalpack/")
    parser.add_argument("--bugs", type=int, default=164, help="so many, evenly spread")
    parser.add_argument("--seeded", type=int, default=0, help="so many seeded bugs per function")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} bugs")
    given = parser.parse_args()
    folder = given.data / "humanevalpack" / "python"
    records = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.open()]
    examples = {record["task_id"]: record["example_test"] for record in records}
    problems = list(open_dataset(f"humanevalpack:{folder}"))
    wanted = min(QUICK if given.quick else given.bugs, len(problems))
    numbers = [number * len(problems) // wanted for number in range(wanted)]
    chosen = [bug for number in numbers for bug in bugs(number, problems[number], given.seeded)]
    with load(DEFAULT_MODEL) as model:
        found = [fixed(model, bug, examples[bug.problem.id]) for bug in chosen]
    report([one for one in found if one is not None])


def bugs(number: int, problem: Problem, seeded: int) -> list[Bug]:
    """The bug of a problem, and so many seeded ones, each of another mutation."""
    assert problem.buggy is not None
    real = Bug(number, problem, str(problem.details["bug_type"]), problem.buggy, seeded=False)
    draw, sites = np.random.default_rng(number), defaultdict[str, list[str]](list)
    for one in survey(problem.source, function=problem.function, seed=number).counterfactuals:
        if not one.preserving:
            sites[one.mutation].append(one.source)
    names = draw.permutation(sorted(sites))[:seeded].tolist()
    return [real, *(Bug(number, problem, name, str(draw.choice(sites[name])), seeded=True) for name in names)]


def fixed(model: Model, bug: Bug, examples: str) -> Fixed | None:
    """Return the result for a bug; None if the examples do not detect it."""
    problem = bug.problem
    assert problem.tests is not None
    setting = Setting(best_sandbox(), interpreter_for(None), lasting(SECONDS))
    judge, hidden = (_judge(problem, text, setting) for text in (examples, problem.tests.text))
    if not judge.judge(problem.source).passed or judge.judge(bug.source).passed:
        return None
    document = Document(bug.source)
    scope = next(one for one in scopes(document) if one.function.qualname == problem.function)
    fix = fix_for(model, scope, judge, "", setting)
    undecided = fix is not None and fix.rival is not None
    right = None if fix is None else hidden.judge(fix.fixed).passed
    ranked = [changed_text(document, one) for _, one, _ in ranked_by_head(model, scope)]
    places = () if bug.seeded else enumerate(ranked, 1)
    passing = tuple(place for place, program in places if judge.judge(program).passed)
    outcome = "none" if fix is None else "right" if right else "wrong"
    outcome += ", undecided" if undecided else ""
    gain = "" if fix is None else f" by {fix.trial.gain:.1f} nats"
    said = f"{problem.id}, {bug.kind}: {len(ranked)} alternatives, {passing} pass, {outcome}{gain}"
    print(said, file=sys.stderr, flush=True)
    return Fixed(bug, len(ranked), passing, right, undecided)


def _judge(problem: Problem, tests: str, setting: Setting) -> Judge:
    return Remembering(SuppliedTestsJudge(tests, problem.function or "", problem.source, setting))


def report(found: Sequence[Fixed]) -> None:
    """Print the tables."""
    reported = [one for one in found if one.bug.number >= HALF]
    print("bug: seen by the examples, fixes, right, undecided, right")
    for half, some in (
        ("first half", [one for one in found if one.bug.number < HALF]),
        ("reported", reported),
    ):
        for origin, seeded in (("real", False), ("seeded", True)):
            rows = [one for one in some if one.bug.seeded == seeded]
            if not rows:
                continue
            print(f"{half}, {origin}")
            for name in sorted({one.bug.kind for one in rows}):
                print(f"  {name:20}{counts([one for one in rows if one.bug.kind == name])}")
            print(f"  {'all':20}{counts(rows)}, {precision(rows)}")
    fixes, right = settled(reported)
    print(f"precision {precision(reported)}")
    able = [one for one in found if one.passing]
    if able:
        print(f"the first that passes is no. {statistics.median(one.passing[0] for one in able):g} (median)")
    by_chance = sum((one.alternatives + 1) / (len(one.passing) + 1) for one in able)
    ratios = {
        "precision": right / fixes if fixes else None,
        "fixed": right / len(reported) if reported else None,
        "tried": sum(one.passing[0] for one in able) / by_chance if able else None,
    }
    shown = {name: None if value is None else round(value, 3) for name, value in ratios.items()}
    print(json.dumps({"benchmark": "fixes", "bugs": len(found), "ratios": shown}))


def settled(some: Sequence[Fixed]) -> tuple[int, int]:
    """How many fixes there are, and how many of them are right."""
    fixes = [bool(one.right) for one in some if one.right is not None and not one.undecided]
    return len(fixes), sum(fixes)


def precision(some: Sequence[Fixed]) -> str:
    """The share of fixes that are right, with its interval (Wilson)."""
    fixes, right = settled(some)
    share = wilson(right, fixes)
    if share.value is None:
        return "--"
    return f"{share.value:.2f} ({share.low:.2f} to {share.high:.2f}), {right} of {fixes}"


def counts(bugs: Sequence[Fixed]) -> str:
    """The figures of a row."""
    fixes, open_ones = (
        [one for one in bugs if one.right is not None and one.undecided == undecided]
        for undecided in (False, True)
    )
    figures = (
        len(bugs),
        len(fixes),
        sum(bool(one.right) for one in fixes),
        len(open_ones),
        sum(bool(one.right) for one in open_ones),
    )
    return "".join(f"{figure:5}" for figure in figures)


if __name__ == "__main__":
    main()
