"""Measures disagreements of docstring and code: on functions with a bug, and on right ones.

    python benchmarks/readings.py --data DATA [--model M] [--functions N] [--records FILE] [--bare] [--quick]
    python benchmarks/readings.py --data DATA --stated [--records FILE]

DATA is a dataset with right functions and, as HumanEvalPack has (`humanevalpack/python`), a version of each
with a bug. The model writes each function from its name, signature and docstring: the likeliest version and
five samples, which are the same for both (`counterlens.probes.reading`). They run beside the code with the
bug and beside the right one, on inputs drawn from each.

- **marked**: functions with a bug on which docstring and code disagree by the rule in use.
- **true**: marked ones whose versions return for the shown input what the right solution returns.
- **false**: right functions that are marked.

The rule is how many versions must agree, and which share of those that count. Its fit on four fifths of the
functions, for at most `ALLOWED` of the right ones marked, is tried on the last fifth, five times
(`fitted on others`). With `--bare` examples are taken out of the docstrings, so that no input is given, as of
most functions. Answers are stored, and FILE (`.jsonl.gz`, a row for each function) is continued, so an
interrupted run can be resumed. The last line is one JSON document.

`--stated` asks no model: it counts the functions that do not return what their docstring states for a call,
with a bug and right.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import random
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from counterlens.datasets import open_dataset
from counterlens.datasets.base import Problem
from counterlens.doubt.generating import scopes
from counterlens.errors import CounterlensError, SourceError
from counterlens.judging.base import Setting, lasting
from counterlens.judging.languages import judging_of
from counterlens.judging.projects import interpreter_for
from counterlens.judging.versions import InputOutcomes, VersionOutcome, VersionRuns
from counterlens.metrics.effects import wilson
from counterlens.models import load
from counterlens.models.base import Completion, Draw, Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.registry import Options
from counterlens.probes.common_options import DEFAULT_TIMEOUT, MAX_TOKENS
from counterlens.probes.execution.translation import description, without_examples
from counterlens.probes.probe import Context, Target
from counterlens.probes.reading.marking import marking_rule, stated_mark
from counterlens.probes.reading.readings import (
    SAMPLES,
    USUAL,
    Consensus,
    Majority,
    disagreement,
    gap_of,
    is_alike,
    judge_of,
    reasons_to_drop,
    require_readable,
    run_readings,
    write_readings,
)
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

QUICK = 4
TEMPERATURE = 0.8
ALLOWED = 0.01
"""Maximum share of right functions that are marked, of those that a rule is fitted on."""
FOLDS = 5
MAJORITIES = [Majority(fewest, share) for fewest in (2, 3, 4, 5, 6) for share in (0.5, 0.65, 0.8, 5 / 6, 1.0)]
RULES = [Consensus(majority, majority) for majority in MAJORITIES]
"""Those that are fitted, the laxest first."""

Row = dict[str, Any]
"""What is kept of a function: its versions, and for each side the inputs that mark it by the laxest rule."""


def measured(context: Context, problem: Problem) -> Row:
    """Have the model write a function, and run what it wrote beside the code with and without a bug."""
    right = Document(problem.source)
    target = Target(right, problem.function or "", description=problem.description)
    try:
        gap = gap_of(target, require_readable(target))
    except SourceError as error:
        return {"id": problem.id, "function": problem.function, "unread": str(error), "sides": {}}
    draws = [Draw(TEMPERATURE, 0, number) for number in range(SAMPLES)]
    written = write_readings(context, gap, [None], MAX_TOKENS, "")
    written += write_readings(context, gap, draws, MAX_TOKENS, "")
    sides = {"right": right} | ({"buggy": Document(problem.buggy)} if problem.buggy else {})
    return {
        "id": problem.id,
        "function": problem.function,
        "versions": [{"body": each.text, "finish": each.finish, "tokens": each.tokens} for each in written],
        "sides": {
            name: beside(context, replace(target, document=document), problem.source, written)
            for name, document in sides.items()
        },
    }


def beside(context: Context, target: Target, solution: str, written: Sequence[Completion]) -> Row:
    """What the code, its versions and last the right solution do with the same inputs."""
    function = require_readable(target)
    gap = gap_of(target, function)
    setting = context.setting(lasting(DEFAULT_TIMEOUT), interpreter_for(None))
    programs = [gap.fill(each.text) for each in written]
    try:
        runs = run_readings(target, function, setting, [*programs, solution])
    except SourceError as error:
        return {"unread": str(error)}
    judged = VersionRuns(
        tuple(replace(each, outcomes=each.outcomes[:-1]) for each in runs.inputs), runs.troubles[:-1]
    )
    judge = judge_of(target, function, setting)
    dropped = reasons_to_drop(target, function, judge, written, programs, judged)
    counted = [number for number, reason in enumerate(dropped, 1) if not reason]
    return {
        "dropped": dropped,
        "inputs": len(runs.inputs),
        "alike": is_alike(runs, 1),
        "shows": any(each.outcomes[-1].group not in (0, None) for each in runs.inputs),
        "cases": [
            {
                "call": each.call[:200],
                "given": each.given,
                "like": each.like_given,
                "groups": [outcome.group for outcome in each.outcomes],
                "returned": [outcome.returned for outcome in each.outcomes],
                "texts": [outcome.text[:80] for outcome in each.outcomes],
            }
            for each in runs.inputs
            if disagreement(VersionRuns((each,), ()), counted, RULES[0]) is not None
        ],
    }


@dataclass(frozen=True)
class Mark:
    """A disagreement on one side of a function, and whether the right solution does what most versions do."""

    call: str
    code: str
    versions: str
    agreeing: int
    of: int
    true: bool


def mark_of(side: Row, rule: Consensus) -> Mark | None:
    """The mark of a side by a rule; None if it has none, as where the likeliest version does the same."""
    if side.get("alike"):
        return None
    cases = side.get("cases", ())
    runs = VersionRuns(tuple(_outcomes(case) for case in cases), ())
    counted = [number for number, reason in enumerate(side.get("dropped", ()), 1) if not reason]
    told = disagreement(runs, counted, rule)
    if told is None:
        return None
    case = next(case for case in cases if case["call"] == told.call)
    true = case["groups"][-1] == case["groups"][told.reading + 1]
    return Mark(told.call, told.code, told.readings, told.agreeing, told.of, true)


def _outcomes(case: Row) -> InputOutcomes:
    rows = zip(case["texts"], case["returned"], case["groups"], strict=True)
    outcomes = tuple(VersionOutcome(*row) for row in rows)
    return InputOutcomes(case["call"], case["given"], outcomes, case.get("like", True))


@dataclass(frozen=True)
class Counts:
    """The marks of a rule."""

    bugs: int = 0
    marked: int = 0
    true: int = 0
    right: int = 0
    false: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.bugs + other.bugs,
            self.marked + other.marked,
            self.true + other.true,
            self.right + other.right,
            self.false + other.false,
        )


def counts(rows: Sequence[Row], rule: Consensus) -> Counts:
    """The marks of a rule on some functions; a function that cannot be read is not marked."""
    total = Counts()
    for row in rows:
        for name, side in row["sides"].items():
            mark = mark_of(side, rule)
            if name == "buggy":
                total += Counts(bugs=1, marked=mark is not None, true=mark is not None and mark.true)
            else:
                total += Counts(right=1, false=mark is not None)
    return total


def fitted(rows: Sequence[Row]) -> Consensus:
    """The rule with most true marks of those that mark few right functions; the strictest if none does."""

    def preference(rule: Consensus) -> tuple[bool, int, int, float]:
        seen = counts(rows, rule)
        few = seen.false <= ALLOWED * seen.right
        return few, seen.true if few else -seen.false, rule.given.fewest, rule.given.share

    return max(RULES, key=preference)


def on_others(rows: Sequence[Row]) -> tuple[Counts, list[Consensus]]:
    """The marks on each fifth of the functions by the rule that is fitted on the others."""
    total, rules = Counts(), []
    for fold in range(FOLDS):
        rules.append(fitted([row for number, row in enumerate(rows) if number % FOLDS != fold]))
        total += counts(rows[fold::FOLDS], rules[-1])
    return total, rules


def shown(count: int, n: int) -> str:
    """A share with its interval (Wilson), and the two counts."""
    share = wilson(count, n)
    if share.value is None or share.low is None or share.high is None:
        return "--"
    return f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%}), {count} of {n}"


def report(model: str, rows: Sequence[Row], rule: Consensus) -> Row:
    """Print the tables, and return the figures; the marks are those by a rule."""
    others, rules = on_others(rows)
    methods = {str(rule.given): counts(rows, rule) for rule in RULES} | {"fitted on others": others}
    print(f"{model}: {len(rows)} functions\n")
    print("| rule | bugs marked truly | bugs marked | right functions marked |")
    print("|---|---|---|---|")
    for name, seen in methods.items():
        true, marked = shown(seen.true, seen.bugs), shown(seen.marked, seen.bugs)
        print(f"| {name} | {true} | {marked} | {shown(seen.false, seen.right)} |")
    on_folds = ", ".join(str(rule.given) for rule in rules)
    print(f"\nfitted on all: {fitted(rows).given}; on four fifths: {on_folds}\n")
    in_use = counts(rows, rule)
    for row in rows:
        for name, side in row["sides"].items():
            if mark := mark_of(side, rule):
                said = "false" if name == "right" else "true" if mark.true else "the input is no bug"
                of = f"{mark.agreeing} of {mark.of}"
                print(f"{row['id']}, {name}: {mark.call} {mark.code}; {of}: {mark.versions}; {said}")
    return {
        "functions": len(rows),
        "in use": vars(in_use),
        "fitted on others": vars(others),
        "rule": str(fitted(rows).given),
    }


def bare(problem: Problem) -> Problem:
    """A problem whose docstrings have no examples."""
    buggy = problem.buggy and without_docstring_examples(problem.buggy, problem.function or "")
    source = without_docstring_examples(problem.source, problem.function or "")
    return replace(problem, source=source, buggy=buggy, description="")


def without_docstring_examples(source: str, name: str) -> str:
    """A file with the examples taken out of the docstring of a function."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    node = next(node for node in nodes if node.name == name)
    text = ast.get_docstring(node)
    if text is None:
        return source
    shown = node.body[0]
    lines = source.splitlines(keepends=True)
    short = textwrap.indent(f'"""{without_examples(text, name)}\n"""\n', " " * shown.col_offset)
    return "".join([*lines[: shown.lineno - 1], short, *lines[shown.end_lineno :]])


def kept(path: Path | None, key: str = "id") -> dict[str, Row]:
    """The rows of an earlier run, by a field."""
    if path is None or not path.exists():
        return {}
    lines = gzip.decompress(path.read_bytes()).splitlines()
    return {row[key]: row for row in map(json.loads, lines)}


def keep(path: Path | None, rows: Iterable[Row]) -> None:
    """Write the rows so far, if there is a file for them."""
    if path is not None:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


def measure(model: Model, problems: Sequence[Problem], records: Path | None) -> Iterator[Row]:
    """The rows of all functions, from the records where they are there."""
    rows, context = kept(records), Context(model, best_sandbox)
    for number, problem in enumerate(problems):
        if problem.id not in rows:
            print(f"{number} of {len(problems)}: {problem.id}", file=sys.stderr, flush=True)
            rows[problem.id] = measured(context, problem)
            keep(records, rows.values())
        yield rows[problem.id]


def measure_stated(problems: Sequence[Problem], records: Path | None) -> Row:
    """Print which functions do not return what their docstrings state, keep it, and return the numbers."""
    rows = []
    sandbox = best_sandbox()
    setting = Setting(sandbox, interpreter_for(None), lasting(DEFAULT_TIMEOUT))
    marked = dict.fromkeys(("right", "buggy"), 0)
    stating = 0
    for problem in problems:
        rows.append({"id": problem.id, "function": problem.function, "stated": []})
        for name, source in (("right", problem.source), ("buggy", problem.buggy)):
            document = Document(source or "")
            scope = next(
                (each for each in scopes(document) if each.function.qualname == problem.function), None
            )
            if scope is None:
                continue
            text = description(Target(document, scope.function.qualname), scope.function) or ""
            stating += name == "right" and bool(
                judging_of("python").stated_examples(text, scope.function.name)
            )
            if mark := stated_mark(scope, setting):
                marked[name] += 1
                rows[-1]["stated"].append(name)
                print(f"{problem.id}, {name}: {mark.call} returns {mark.code}, stated: {mark.versions}")
    print(
        f"with a stated call: {stating}; bugs marked: {shown(marked['buggy'], stating)}; right functions "
        f"marked: {shown(marked['right'], stating)}"
    )
    keep(records, rows)
    return {"functions": len(problems), "stating": stating, **marked}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a dataset, such as humanevalpack/python")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--functions", type=int, default=1000, help="maximum number of functions")
    parser.add_argument("--records", type=Path, help="a file of rows, which is continued (.jsonl.gz)")
    parser.add_argument("--quick", action="store_true", help=f"measure {QUICK} functions")
    parser.add_argument("--bare", action="store_true", help="take the examples out of docstrings")
    parser.add_argument("--stated", action="store_true", help="what docstrings state, without a model")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="folder of the response cache; default: the user's")
    given = parser.parse_args()
    problems = [problem for problem in open_dataset(str(given.data)) if problem.function]
    if given.bare:
        problems = [bare(problem) for problem in problems]
    random.Random(0).shuffle(problems)  # noqa: S311 - so that any number of the first ones is a sample
    problems = problems[: QUICK if given.quick else given.functions]
    if given.stated:
        print(json.dumps({"benchmark": "readings", "stated": measure_stated(problems, given.records)}))
        return 0
    store = AnswerStore(given.cache)
    try:
        with load(given.model, Options(threads=given.threads)) as opened:
            model = CachedModel(opened, store)
            rows = list(measure(model, problems, given.records))
            rule = marking_rule(opened) or USUAL
            figures = report(given.model, rows, rule)
            print(json.dumps({"benchmark": "readings", "model": opened.info.id, **figures}))
    except CounterlensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
