"""Measures which planted alternatives are marked by versions written from the docstring, and by likelihood.

    python benchmarks/planted.py --data DATA [--model M] [--functions N] [--records FILE] [--quick]

DATA is a dataset of right functions with docstrings (`humanevalpack/python`). In each, up to `KINDS`
alternatives of different kinds (`counterlens.doubt`) are planted, one at a time, chosen at random.

- **shows**: the planted function returns something else than the right one on an input that was tried. The
  others may be no bugs, and count nowhere.
- **readings**: docstring and code disagree by the rule in use, on an input that shows the planted one.
- **alternatives**: the existing code would be marked if the planted one stood there, by the margins in use.

The marks of both on the right functions are false. Answers are stored, and FILE (`.jsonl.gz`, a row for each
function) is continued. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from readings import SAMPLES, TEMPERATURE, beside, keep, kept, mark_of, shown

from counterlens.datasets import open_dataset
from counterlens.datasets.base import Problem
from counterlens.doubt.fitting import drawn, is_found
from counterlens.doubt.generating import changed_text, scopes
from counterlens.doubt.margins import margins_of
from counterlens.doubt.marking import doubts
from counterlens.doubt.scoring import try_all
from counterlens.errors import CounterlensError, SourceError
from counterlens.models import load
from counterlens.models.base import Draw
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.registry import Options
from counterlens.probes.common_options import MAX_TOKENS
from counterlens.probes.probe import Context, Target
from counterlens.probes.reading.marking import marking_rule
from counterlens.probes.reading.readings import USUAL, Consensus, gap_of, require_readable, write_readings
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

KINDS = 3
QUICK = 2
WAYS = ("alternatives", "readings", "both")


def measured(context: Context, problem: Problem, rule: Consensus) -> dict[str, Any]:
    """The marks of a right function, and of those with a planted alternative."""
    document = Document(problem.source)
    scope = next((each for each in scopes(document) if each.function.qualname == problem.function), None)
    target = Target(document, problem.function or "", description=problem.description)
    row: dict[str, Any] = {"id": problem.id, "function": problem.function, "planted": []}
    try:
        gap = gap_of(target, require_readable(target))
    except SourceError as error:
        return row | {"unread": str(error)}
    if scope is None:
        return row | {"unread": "it is no outermost function"}
    draws = [None, *(Draw(TEMPERATURE, 0, number) for number in range(SAMPLES))]
    written = write_readings(context, gap, draws[:1], MAX_TOKENS, "")
    written += write_readings(context, gap, draws[1:], MAX_TOKENS, "")
    margins = margins_of(context.model.info) or {}
    row["right"] = {
        "alternatives": bool(doubts(context.model, scope)),
        "readings": mark_of(beside(context, target, problem.source, written), rule) is not None,
    }
    chosen = drawn(scope)
    random.Random(problem.id).shuffle(chosen)  # noqa: S311 - a sample of the kinds
    trials = try_all(context.model, scope, chosen[:KINDS])
    for trial in trials:
        changed = changed_text(document, trial.alternative)
        side = beside(context, replace(target, document=Document(changed)), problem.source, written)
        mark = mark_of(side, rule)
        row["planted"].append(
            {
                "kind": trial.alternative.kind,
                "alternatives": is_found(trial, margins.get(trial.alternative.kind, math.inf)),
                "readings": mark is not None and mark.true,
                "marked": mark is not None,
                "shows": side.get("shows", False),
            }
        )
    return row


def report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Print the table by kind, and return the figures."""
    showing = [each for row in rows for each in row["planted"] if each["shows"]]
    right = [row["right"] for row in rows if "right" in row]
    for kind, number in Counter(each["kind"] for each in showing).most_common():
        print(f"| `{kind}` | {' | '.join(shares([x for x in showing if x['kind'] == kind]))} | {number} |")
    print(f"| all | {' | '.join(shares(showing))} | {len(showing)} |")
    false = {way: sum(bool(row[way]) for row in right) for way in WAYS[:2]}
    print(f"right functions marked, of {len(right)}: {false}")
    totals = {way: sum(has(each, way) for each in showing) for way in WAYS}
    return {"functions": len(rows), "planted": len(showing), "found": totals, "false": false}


def shares(planted: list[dict[str, Any]]) -> list[str]:
    """The share found in each way."""
    return [shown(sum(has(each, way) for each in planted), len(planted)) for way in WAYS]


def has(planted: dict[str, Any], way: str) -> bool:
    """Whether a planted alternative is found in a way, or in any."""
    return bool(planted[way]) if way in planted else bool(planted["alternatives"] or planted["readings"])


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--functions", type=int, default=1000, help="maximum number of functions")
    parser.add_argument("--records", type=Path, help="a file of rows, which is continued (.jsonl.gz)")
    parser.add_argument("--quick", action="store_true", help=f"measure {QUICK} functions")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="folder of the response cache; default: the user's")
    given = parser.parse_args()
    problems = [problem for problem in open_dataset(str(given.data)) if problem.function]
    random.Random(0).shuffle(problems)  # noqa: S311 - so that any number of the first ones is a sample
    problems = problems[: QUICK if given.quick else given.functions]
    rows = kept(given.records)
    store = AnswerStore(given.cache)
    try:
        with load(given.model, Options(threads=given.threads)) as opened:
            context = Context(CachedModel(opened, store), best_sandbox)
            rule = marking_rule(opened) or USUAL
            for number, problem in enumerate(problems):
                if problem.id in rows:
                    continue
                print(f"{number} of {len(problems)}: {problem.id}", file=sys.stderr, flush=True)
                rows[problem.id] = measured(context, problem, rule)
                keep(given.records, rows.values())
    except CounterlensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()
    figures = report([rows[problem.id] for problem in problems])
    print(json.dumps({"benchmark": "planted", "model": given.model, **figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
