"""Measures whether fixes verified by a function's own examples are right, and found sooner than by chance.

    python benchmarks/fixes.py --data DATA [--model M] [--written] [--seeded N] [--bugs N] [--quick]

DATA is a folder with HumanEvalPack (`humanevalpack/python`). Each of its 164 functions has a bug, a few
example tests, as a programmer would have, and many hidden tests. `--seeded N` adds N bugs per function, which
breaking mutations make in the right solution, with random mutations and places. A function that fails its
examples goes to `counterlens.doubt.settling`, as in `counterlens check --tests`. A fix is right if it passes
the hidden tests, too; one that is not confirmed is counted separately. The bound on a
fix's likelihood was chosen on the first half of the problems (and the real bugs); `precision`, the share of
right fixes, and `fixed`, the share of bugs with a right fix, are for the second half.

Then all alternatives of the real bugs run on the examples, to compare the order with chance: `tried` is the
number of alternatives up to the first that passes in the model's order, over the mean number in random order,
(n + 1) / (k + 1) if k of n pass; for both halves.

With `--written`, a model that writes versions of a function without such a fix gets its turn
(`counterlens.probes.reading.repairing`); these fixes have columns of their own. Answers are stored, so an
interrupted run can be resumed. The last line is one JSON document.
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

from counterlens.datasets import open_dataset
from counterlens.datasets.base import Problem
from counterlens.doubt.edits import apply_edit
from counterlens.doubt.failing import FailingFunction, nearest_failure
from counterlens.doubt.generating import changed_text, scopes
from counterlens.doubt.marking import Verification
from counterlens.doubt.scoring import ranked_by_head
from counterlens.doubt.settling import fix_for
from counterlens.judging.base import Judge, Setting, Verdict, lasting
from counterlens.judging.projects import interpreter_for
from counterlens.metrics.effects import wilson
from counterlens.models import load
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options
from counterlens.mutations.engine import survey
from counterlens.probes.reading.repairing import written_fix
from counterlens.python.judging.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

QUICK = 8
SECONDS = 3.0
"""Maximum time of a program: three times its time on a quiet machine."""
HALF = 82
"""The number of the first problem of the reported half."""


@dataclass(frozen=True)
class Bug:
    """A function with a bug.

    Attributes:
        number: The number of the problem.
        problem: Its tests, and the right solution.
        kind: The type of the bug, or the mutation that made it.
        source: The wrong solution.
        seeded: Whether a mutation made it.
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
        bug: The bug.
        alternatives: Number of alternatives.
        passing: For a real bug, the ranks in the model's order, from 1, of those that pass the examples.
        right: Whether the found alternative passes the hidden tests; None if none was found.
        undecided: Whether it is not confirmed.
        written: Whether it is a version that a model wrote.
    """

    bug: Bug
    alternatives: int
    passing: tuple[int, ...]
    right: bool | None
    undecided: bool
    written: bool = False


class Remembering(Judge):
    """A judge that runs each program once."""

    attribution, tests = "", 0

    def __init__(self, judge: Judge) -> None:
        self._judge, self._known = judge, dict[str, Verdict]()
        self.attribution, self.tests = judge.attribution, judge.tests

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Like `Judge.judge`."""
        if program not in self._known:
            self._known[program] = self._judge.judge(program, cancel=cancel)
        return self._known[program]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that contains humanevalpack/")
    parser.add_argument(
        "--bugs", type=int, default=164, help="number of real bugs, evenly spread over the problems"
    )
    parser.add_argument("--seeded", type=int, default=0, help="number of seeded bugs per function")
    parser.add_argument("--model", default=EMBEDDED_MODEL)
    parser.add_argument("--written", action="store_true", help="also try what the model writes")
    parser.add_argument("--cache", type=Path, help="folder of the response cache; default: the user's")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help=f"use {QUICK} bugs")
    given = parser.parse_args()
    folder = given.data / "humanevalpack" / "python"
    records = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.open()]
    examples = {record["task_id"]: record["example_test"] for record in records}
    problems = list(open_dataset(f"humanevalpack:{folder}"))
    wanted = min(QUICK if given.quick else given.bugs, len(problems))
    numbers = [number * len(problems) // wanted for number in range(wanted)]
    chosen = [bug for number in numbers for bug in bugs(number, problems[number], given.seeded)]
    store = AnswerStore(given.cache)
    with load(given.model, Options(threads=given.threads)) as opened:
        model = CachedModel(opened, store)
        found = [fixed(model, bug, examples[bug.problem.id], given.written) for bug in chosen]
    store.close()
    report([one for one in found if one is not None])


def bugs(number: int, problem: Problem, seeded: int) -> list[Bug]:
    """The bug of a problem, and a number of seeded ones, each from another mutation."""
    assert problem.buggy is not None
    real = Bug(number, problem, str(problem.details["bug_type"]), problem.buggy, seeded=False)
    draw, sites = np.random.default_rng(number), defaultdict[str, list[str]](list)
    for one in survey(problem.source, function=problem.function, seed=number).counterfactuals:
        if not one.preserving:
            sites[one.mutation].append(one.source)
    names = draw.permutation(sorted(sites))[:seeded].tolist()
    return [real, *(Bug(number, problem, name, str(draw.choice(sites[name])), seeded=True) for name in names)]


def fixed(model: Model, bug: Bug, examples: str, written: bool) -> Fixed | None:
    """Return the result for a bug; None if the examples do not detect it."""
    problem = bug.problem
    assert problem.tests is not None
    setting = Setting(best_sandbox(), interpreter_for(None), lasting(SECONDS))
    judge, hidden = (_judge(problem, text, setting) for text in (examples, problem.tests.text))
    standing = judge.standing(bug.source)
    if not judge.judge(problem.source).passed or standing is None or not standing.failed:
        return None
    document = Document(bug.source)
    scope = next(one for one in scopes(document) if one.function.qualname == problem.function)
    test = nearest_failure(scope, standing.failures)
    fix = fix_for(model, scope, judge, test, setting)
    if fix is None and test is not None and written:
        mark = FailingFunction(scope, test)
        version = written_fix(model, mark, judge, setting)
        if version is not None:
            right = hidden.judge(apply_edit(document.data, version.edit)).passed
            said = f"{'right' if right else 'wrong'}{'' if version.confirmed else ', undecided'}"
            print(f"{problem.id}, {bug.kind}: written, {said}", file=sys.stderr, flush=True)
            return Fixed(bug, 0, (), right, not version.confirmed, written=True)
    undecided = fix is not None and fix.tests is Verification.UNCONFIRMED
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
    print("bug: detected by the examples, fixes, right fixes, undecided, right undecided")
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
    for by, some in (("alternatives", False), ("what the model wrote", True)):
        rows = [each for each in found if not each.bug.seeded and each.written == some]
        print(f"real, both halves, by {by}: {precision(rows)}")
    fixes, right = settled(reported)
    print(f"precision {precision(reported)}")
    able = [one for one in found if one.passing]
    if able:
        print(
            f"rank of the first that passes: {statistics.median(one.passing[0] for one in able):g} (median)"
        )
    by_chance = sum((one.alternatives + 1) / (len(one.passing) + 1) for one in able)
    ratios = {
        "precision": right / fixes if fixes else None,
        "fixed": right / len(reported) if reported else None,
        "tried": sum(one.passing[0] for one in able) / by_chance if able else None,
    }
    shown = {name: None if value is None else round(value, 3) for name, value in ratios.items()}
    print(json.dumps({"benchmark": "fixes", "bugs": len(found), "ratios": shown}))


def settled(some: Sequence[Fixed]) -> tuple[int, int]:
    """The number of fixes, and of right ones."""
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
