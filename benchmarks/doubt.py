"""Measures marks of doubt: false ones on right code, and the planted alternatives and bugs that they find.

    python benchmarks/doubt.py --data DATA [--model M]        # the tables of docs/results/doubt.md
    python benchmarks/doubt.py --data DATA --model M --fit    # also store the margins for `counterlens check`
    python benchmarks/doubt.py --data DATA --model M --in-use # those in use, on all functions
    python benchmarks/doubt.py --data DATA --quick            # a few functions
    python benchmarks/doubt.py --made BUGSINPY [--longest N] [--records FILE]    # bugs that people made

`--made` measures these alone, with the margins in use: on functions of BugsInPy (bugsinpy.py) of at most N
lines of code, with the bug. A mark is right if it is on a line that the fix changes, or beside a gap that it
fills; any other is counted as false, although it may be right about something else. The findings of linters
on the same lines are counted in the same way, by the linters that are installed, with their default rules.

DATA is a folder with `mbpp` and `humanevalpack/python`. The measured code:

- **right functions**: reference solutions of MBPP and HumanEvalPack, and functions of the standard library.
  Every mark on them is false.
- **planted**: for each kind one random alternative in each of these functions. It counts as found if the
  alternative, put into the code, would be marked (`counterlens.doubt.fitting`). Not every one is a bug.
- **bugs**: the buggy solutions of HumanEvalPack for which `counterlens.doubt` has the fix; the others cannot
  be found.

Margins are fitted on one half (even problems, every second module); all other figures are for the other half.
Doubt is compared with raw probability: a line is marked if the probability of its least likely token is below
a bound, which is chosen on the reported half for a given rate of marked lines in right functions: the rate of
doubt, and `ALLOWED` lines in 1,000. Chance marks any line at that rate. Answers are stored, so an interrupted
run can be resumed. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from doubt_data import Bug, Named, bugs, made_bugs, mixed

from counterlens.doubt.fitting import (
    ALLOWED,
    Fit,
    RightFunction,
    code_lines,
    drawn,
    fitted,
    is_found,
    observe,
)
from counterlens.doubt.generating import alternatives_in
from counterlens.doubt.margins import Margins, margins_of, save_margins
from counterlens.doubt.marking import audible_kinds, marks_of
from counterlens.doubt.passages import passages
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import NAMED, Trial, comparison_texts, trials
from counterlens.errors import CounterlensError
from counterlens.metrics.effects import wilson
from counterlens.models import load
from counterlens.models.base import Model, ModelInfo, TokenScores
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options
from counterlens.syntax.document import Document

QUICK = 4


@dataclass(frozen=True)
class Looked:
    """A right function.

    Attributes:
        name: The name of the function.
        seen: Its false marks, and the planted alternatives.
        lines: The log-probability of the least likely token of each line; empty on the half for fitting.
        planted: The same for the line of each planted alternative, with the alternative in it.
    """

    name: str
    seen: RightFunction
    lines: list[float]
    planted: list[float]


def look(model: Model, named: Named, *, reported: bool) -> Looked:
    """Measure a right function; raw probability only on the reported half, where it is compared."""
    name, scope = named
    seen = observe(model, scope)
    if not reported:
        return Looked(name, seen, [], [])
    return Looked(name, seen, raw_lines(model, scope), raw_planted(model, scope))


def raw_lines(model: Model, scope: DoubtScope) -> list[float]:
    """The log-probability of the least likely token of each line of code."""
    least = dict.fromkeys(code_lines(scope), 0.0)
    for passage, _ in passages(scope, alternatives_in(scope)):
        text = passage.as_it_stands(passage.end)
        (scores,) = model.score_continuations(passage.context, [text], alternatives=NAMED)
        for start, logprob in _tokens(scores):
            line = scope.document.positions.line_of(passage.start + start)
            if line in least:
                least[line] = min(least[line], logprob)
    return list(least.values())


def raw_planted(model: Model, scope: DoubtScope) -> list[float]:
    """The log-probability of the least likely token on the line of each planted alternative, with it."""
    found = []
    for passage, inside in passages(scope, drawn(scope)):
        ends, texts = comparison_texts(passage, inside)
        answers = model.score_continuations(passage.context, texts, alternatives=0)
        for one, text, scores in zip(inside, texts[len(ends) :], answers[len(ends) :], strict=True):
            data, at = text.encode(), one.place[0] - passage.start
            first = data.rfind(b"\n", 0, at) + 1
            last = data.find(b"\n", at)
            last = len(data) if last < 0 else last
            found.append(min(lp for start, lp in _tokens(scores) if first <= start < last))
    return found


def _tokens(scores: TokenScores) -> list[tuple[int, float]]:
    """The first non-blank character of each token, and the token's log-probability."""
    data, found = scores.text.encode(), []
    rows = zip(scores.start.tolist(), scores.end.tolist(), scores.logprob.tolist(), strict=True)
    for start, end, logprob in rows:
        blanks = len(data[start:end]) - len(data[start:end].lstrip())
        found.append((min(start + blanks, end - 1), 0.0 if math.isnan(logprob) else logprob))
    return found


@dataclass(frozen=True)
class Figures:
    """The result of one method of marking on the reported half.

    Attributes:
        false: Number of marks on right functions.
        lines: Number of lines of the right functions.
        found: By kind, the number of planted alternatives found, and their total.
    """

    false: int
    lines: int
    found: dict[str, tuple[int, int]]

    @property
    def recall(self) -> float:
        """The share of planted alternatives found; all kinds have equal weight."""
        return float(np.mean([found / n for found, n in self.found.values()])) if self.found else 0.0

    @property
    def count(self) -> tuple[int, int]:
        """The number found, and the total."""
        return sum(found for found, _ in self.found.values()), sum(n for _, n in self.found.values())


def by_doubt(some: Sequence[Looked], margins: Margins) -> Figures:
    """The marks of doubt."""
    false = sum(len(marks(one.seen.false, margins)) for one in some)
    return Figures(
        false,
        sum(one.seen.lines for one in some),
        counted(
            (trial.alternative.kind, is_found(trial, margins.get(trial.alternative.kind, math.inf)))
            for one in some
            for trial in one.seen.planted
        ),
    )


def marks(false: Sequence[Trial], margins: Margins) -> list[Trial]:
    """The false marks above their margins."""
    return [trial for trial in false if trial.gain > margins.get(trial.alternative.kind, math.inf)]


def by_raw(some: Sequence[Looked], rate: float) -> Figures:
    """The marks of raw probability, at a given rate of marked lines in right functions."""
    right = sorted(line for one in some for line in one.lines)
    number = round(rate * len(right))
    bound = right[number] if number < len(right) else math.inf
    return Figures(
        number,
        len(right),
        counted(
            (trial.alternative.kind, least < bound)
            for one in some
            for trial, least in zip(one.seen.planted, one.planted, strict=True)
        ),
    )


def counted(rows: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """The number found, and the total, by kind."""
    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for kind, is_one in rows:
        found[kind] = found[kind][0] + is_one, found[kind][1] + 1
    return dict(found)


def shown(count: int, n: int, times: float = 1.0, places: int = 2) -> str:
    """A share with its interval (Wilson), and the two counts."""
    share = wilson(count, n)
    if share.value is None or share.low is None or share.high is None:
        return "--"
    value, low, high = (f"{times * each:.{places}f}" for each in (share.value, share.low, share.high))
    return f"{value} ({low} to {high}), {count} of {n}"


def ratio_interval(some: Sequence[Looked], margins: Margins, rate: float) -> tuple[float, float, float]:
    """The recall of doubt over that of raw probability; 95 % interval (bootstrap over functions)."""

    def ratio(chosen: Sequence[Looked]) -> float:
        one, other = by_doubt(chosen, margins), by_raw(chosen, rate)
        return (one.count[0] + 0.5) / (other.count[0] + 0.5)

    draw = np.random.default_rng(0)
    again = [ratio([some[i] for i in draw.integers(len(some), size=len(some))]) for _ in range(500)]
    low, high = np.quantile(again, [0.025, 0.975])
    return ratio(some), float(low), float(high)


def print_fit(fit: Fit) -> None:
    """The margins, and their results on the half that they were fitted on."""
    print("\n| kind | margin, nats | planted found | false marks expected per 1,000 lines |")
    print("|---|---|---|---|")
    for kind, margin in fit.margins.items():
        share = shown(round(fit.found[kind] * fit.planted[kind]), fit.planted[kind])
        print(f"| `{kind}` | {margin:g} | {share} | {fit.false[kind]:.2f} |")
    print(f"\n{fit.lines} lines; {sum(fit.false.values()):.1f} false marks expected per 1,000 lines")


def report(some: Sequence[Looked], margins: Margins) -> dict[str, object]:
    """Print the tables of the reported half, and return its figures."""
    doubt = by_doubt(some, margins)
    rate = max(doubt.false / max(doubt.lines, 1), ALLOWED / 1000)
    raw = by_raw(some, rate)
    print(f"\nreported half: {len(some)} right functions, {doubt.lines} lines\n")
    print("| marks | false per 1,000 lines | planted found | mean over kinds |")
    print("|---|---|---|---|")
    for name, method in (("doubt", doubt), ("raw probability", raw)):
        false = shown(method.false, method.lines, 1000, 1)
        print(f"| {name} | {false} | {shown(*method.count)} | {method.recall:.2f} |")
    print(f"| chance | {1000 * rate:.1f} | {rate:.3f} | {rate:.3f} |")
    times, low, high = ratio_interval(some, margins, rate)
    print(f"\nrecall of doubt over that of raw probability: {times:.1f} ({low:.1f} to {high:.1f})")
    print("\n| kind | planted found by doubt | by raw probability |")
    print("|---|---|---|")
    for kind in sorted(doubt.found):
        print(f"| `{kind}` | {shown(*doubt.found[kind])} | {shown(*raw.found[kind])} |")
    print()
    for one in some:
        for trial in marks(one.seen.false, margins):
            what = f"{trial.alternative.kind}, {trial.alternative.text!r}"
            print(f"{one.name}: {what}, {trial.gain:.1f} nats, false")
    return {
        "lines": doubt.lines,
        "false": doubt.false,
        "found": doubt.count,
        "raw": raw.count,
        "ratios": {"recall over raw": round(times, 2), "low": round(low, 2), "high": round(high, 2)},
    }


def report_in_use(info: ModelInfo, halves: Sequence[Sequence[Looked]]) -> dict[str, object]:
    """Print the figures of the margins in use on both halves: none of them may have been used for the fit."""
    figures = by_doubt([function for half in halves for function in half], margins_of(info) or {})
    print(f"false marks per 1,000 lines: {shown(figures.false, figures.lines, 1000, 1)}")
    print(f"planted found: {shown(*figures.count)}; mean over kinds {figures.recall:.2f}\n")
    for kind in sorted(figures.found):
        print(f"| `{kind}` | {shown(*figures.found[kind])} |")
    return {"lines": figures.lines, "false": figures.false, "found": figures.count}


def report_bugs(model: Model, data: Path, number: int, margins: Margins) -> dict[str, int]:
    """Check the bugs that have a fix among the alternatives, as `counterlens check` does."""
    every = list(bugs(data))
    fixable = [bug for bug in every if bug.fixes][:number]
    found = false = 0
    read: list[int] = []
    print(f"\nbugs: {len(every)}, fixed by an alternative: {sum(bool(bug.fixes) for bug in every)}")
    for bug in fixable:
        tried = trials(model, bug.scope, kinds=audible_kinds(margins), read=read.append)
        for trial in marks_of(tried, margins):
            right = _line(bug, trial) in bug.wrong
            said = "fixes" if trial.alternative in bug.fixes else "right line" if right else "false"
            print(f"{bug.id}, {bug.about}: {trial.alternative.text!r}, {trial.gain:.1f} nats, {said}")
            false += not right
        found += any(_line(bug, trial) in bug.wrong for trial in marks_of(tried, margins))
    print(f"checked {len(fixable)}: {shown(found, len(fixable))} found; false marks: {false}")
    return {"looked": len(fixable), "found": found, "false": false}


LINTERS = {
    "ruff": ("check", "--isolated", "--no-cache", "--output-format=concise"),
    "pylint": ("--rcfile=", "--msg-template={path}:{line}:{column}: {msg_id}"),
    "pyright": ("--outputjson",),
}
"""Options of each linter; its default rules."""


def linted(name: str, document: Document) -> list[int] | None:
    """The lines with findings of a linter in a file, 0-based; None if it is not installed."""
    program = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.py"
        path.write_bytes(document.data)
        command = [program, *LINTERS[name], str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    if name == "pyright":
        return [each["range"]["start"]["line"] for each in json.loads(said)["generalDiagnostics"]]
    return [int(line) - 1 for line in re.findall(r"module\.py:(\d+):\d+:", said)]


def report_made(
    model: Model, data: Path, longest: int, number: int, margins: Margins, records: Path | None
) -> dict[str, object]:
    """Measure marks on bugs that people made."""
    rows: list[dict[str, object]] = []
    for bug in list(made_bugs(data, longest))[:number]:
        print(f"{len(rows)}: {bug.id}, {bug.scope.function.qualname}", file=sys.stderr, flush=True)
        tried = trials(model, bug.scope, kinds=audible_kinds(margins))
        first = bug.scope.document.positions.line_of(bug.scope.function.start)
        last = bug.scope.document.positions.line_of(bug.scope.function.end - 1)
        marked = [
            {
                "kind": trial.alternative.kind,
                "gain": round(trial.gain, 2),
                "right": _line(bug, trial) in bug.wrong,
                "fixes": trial.alternative in bug.fixes,
            }
            for trial in marks_of(tried, margins)
        ]
        by_linter = {name: linted(name, bug.scope.document) for name in LINTERS}
        rows.append(
            {
                "bug": bug.id,
                "function": bug.scope.function.qualname,
                "lines": len(code_lines(bug.scope)),
                "fixes": sorted({alternative.kind for alternative in bug.fixes}),
                "marks": marked,
                "linters": {
                    name: [line in bug.wrong for line in lines if first <= line <= last]
                    for name, lines in by_linter.items()
                    if lines is not None
                },
            }
        )
    if records is not None:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        records.write_bytes(gzip.compress(text.encode(), mtime=0))
    methods = {"doubt": [[mark["right"] for mark in row["marks"]] for row in rows]}
    for name in LINTERS:
        if rows and all(name in row["linters"] for row in rows):
            methods[name] = [row["linters"][name] for row in rows]
    lines = sum(int(str(row["lines"])) for row in rows)
    fixable = sum(bool(row["fixes"]) for row in rows)
    print(f"{model.info.name}: {len(rows)} bugs, {lines} lines, {fixable} fixed by an alternative")
    print("\n| | found | right of all marks | marks per 1,000 lines |")
    print("|---|---|---|---|")
    for name, marked_lines in methods.items():
        count = sum(map(len, marked_lines))
        right = sum(sum(each) for each in marked_lines)
        hits = sum(any(each) for each in marked_lines)
        rate = f"{1000 * count / max(lines, 1):.1f}"
        print(f"| {name} | {shown(hits, len(rows))} | {shown(right, count)} | {rate}, {count} |")
    return {"bugs": len(rows), "lines": lines, "fixable": fixable}


def _line(bug: Bug, trial: Trial) -> int:
    return bug.scope.document.positions.line_of(trial.alternative.place[0])


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--made", type=Path, help="a clone of BugsInPy: measure bugs that people made")
    parser.add_argument("--longest", type=int, default=60, help="most lines of a function (--made)")
    parser.add_argument("--records", type=Path, help="write a row per bug, as compressed JSON lines (--made)")
    parser.add_argument("--functions", type=int, default=400, help="number of right functions per half")
    parser.add_argument("--bugs", type=int, default=82, help="number of bugs that have a fix")
    parser.add_argument(
        "--quick", action="store_true", help=f"use {QUICK} functions per half, and {QUICK} bugs"
    )
    parser.add_argument("--fit", action="store_true", help="store the margins for `counterlens check`")
    parser.add_argument("--in-use", action="store_true", help="measure the margins in use on both halves")
    parser.add_argument("--model", default=EMBEDDED_MODEL)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="folder of the response cache; default: the user's")
    given = parser.parse_args()
    if (given.data is None) == (given.made is None):
        parser.error("give --data or --made")
    if given.quick:
        given.functions = given.bugs = QUICK
    store = AnswerStore(given.cache)
    try:
        with load(given.model, Options(threads=given.threads)) as opened:
            model = CachedModel(opened, store)
            if given.made is not None:
                margins = margins_of(model.info) or {}
                made = report_made(model, given.made, given.longest, given.bugs, margins, given.records)
                print(json.dumps({"benchmark": "doubt, made bugs", **made}))
                return 0
            halves = [
                mixed(given.data, given.seed, reported=half)[: given.functions] for half in (False, True)
            ]
            looked: list[list[Looked]] = [[], []]
            for number, pair in enumerate(zip(*halves, strict=False)):
                for half, named in enumerate(pair):
                    print(f"{number} of {len(halves[0])}: {named[0]}", file=sys.stderr, flush=True)
                    looked[half].append(look(model, named, reported=bool(half) and not given.in_use))
            if given.in_use:
                print(json.dumps({"benchmark": "doubt, margins in use", **report_in_use(model.info, looked)}))
                return 0
            fit = fitted([one.seen for one in looked[0]])
            print(f"{model.info.name}, seed {given.seed}; fitted on {len(looked[0])} functions")
            print_fit(fit)
            if given.fit:
                print(f"stored in {save_margins(model.info, fit.margins, fit.lines)}")
            elif fit.margins != margins_of(model.info):
                print(f"differ from those in use: {fit.margins}")
            figures = report(looked[1], fit.margins)
            known = report_bugs(model, given.data, given.bugs, fit.margins)
        print(json.dumps({"benchmark": "doubt", "margins": fit.margins, **figures, "bugs": known}))
    except CounterlensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
