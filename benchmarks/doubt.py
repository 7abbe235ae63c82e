"""Are marks of doubt right? On bugs made by hand and on changes put into clean code; and what do they cost?

    python benchmarks/doubt.py --data DATA                # the tables of docs/doubt.md
    python benchmarks/doubt.py --data DATA --fit          # the margins of counterlens/doubt/margins.py
    python benchmarks/doubt.py --data DATA --quick        # a few functions, under a minute

DATA is a folder with HumanEvalPack's files (`humanevalpack/python`). What is looked at:

- **bugs**: buggy solutions of HumanEvalPack, drawn with the seed. A line is wrong that differs from the
  reference, or is beside the gap where the reference has lines more.
- **seeded**: functions of modules of the standard library, each with one alternative of `counterlens.doubt`
  in its place, first a kind drawn at random, then one of its alternatives. Not every such change is a bug.
- **clean**: reference solutions, the same functions of the standard library as they stand, and the lines of
  buggy ones that are not wrong.

Margins are fitted on one half (even problems, every second module), and the tables are of the other. A mark
is right when it begins on a wrong line; it *fixes* when the function is then the reference. Beside it, as
many of the places that a signal of `counterlens.confidence.weights` ranks highest, at most one a line; and
lines drawn at random. Answers are kept, so a run that was ended goes on where it stopped. The last line is one
JSON document.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

import numpy as np

from counterlens.confidence import confidence
from counterlens.confidence.leaves import leaves
from counterlens.confidence.weights import WEIGHTS
from counterlens.datasets import open_dataset
from counterlens.doubt.generating import alternatives_in, changed_text, fits, scopes
from counterlens.doubt.passages import passages
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import NAMED, Trial, trials
from counterlens.errors import CounterlensError
from counterlens.models import DEFAULT_MODEL, load
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.registry import Options
from counterlens.syntax.document import Document

MODULES = [
    "textwrap",
    "statistics",
    "bisect",
    "heapq",
    "fractions",
    "shlex",
    "calendar",
    "graphlib",
    "fnmatch",
    "posixpath",
    "configparser",
    "base64",
    "random",
    "difflib",
    "colorsys",
    "copy",
    "string",
    "ipaddress",
    "zipfile",
    "tarfile",
    "argparse",
    "csv",
    "pprint",
    "sched",
]
"""Modules of the standard library that its own tests cover."""
SHORTEST, LONGEST = 5, 30
"""Lines of the body of a function that is taken from them."""
SIGNALS = ("excess", "raw")


@dataclass(frozen=True)
class Case:
    """One function, as it is looked at.

    Attributes:
        id: Of what.
        group: `bugs`, `seeded` or `clean`.
        about: The type of its bug, or the kind of its change; empty for clean ones.
        reported: Whether it is of the half that is reported.
        scope: The function.
        wrong: The lines that are wrong, 0-based.
        right: The whole text as it should be.
    """

    id: str
    group: str
    about: str
    reported: bool
    scope: DoubtScope
    wrong: frozenset[int]
    right: str

    @property
    def code(self) -> frozenset[int]:
        """The lines of the body with code."""
        positions, root = self.scope.document.positions, self.scope
        return frozenset(positions.line_of(node.start_byte) for node in root.nodes if node.type != "block")


@dataclass
class Looked:
    """What was found in a case.

    Attributes:
        case: The case.
        trials: The alternatives that were tried.
        lines: For each signal the lines by their weight.
        tokens: Tokens read once, and tokens read in all.
    """

    case: Case
    trials: list[Trial]
    lines: dict[str, dict[int, float]]
    tokens: tuple[int, int] = (0, 0)
    marks: list[Trial] = field(default_factory=list)

    def line(self, trial: Trial) -> int:
        """The line that a mark begins on."""
        return self.case.scope.document.positions.line_of(trial.alternative.place[0])


def wrong_lines(text: str, right: str) -> frozenset[int]:
    """The lines that differ, and those beside a gap."""
    wrong: set[int] = set()
    matcher = difflib.SequenceMatcher(None, text.splitlines(), right.splitlines(), autojunk=False)
    for tag, low, high, *_ in matcher.get_opcodes():
        if tag in {"replace", "delete"}:
            wrong |= set(range(low, high))
        elif tag == "insert":
            wrong |= {low - 1, low}
    return frozenset(wrong)


def of_humaneval(data: Path, bugs: int, clean: int, rng: np.random.Generator) -> Iterator[Case]:
    """Some buggy solutions, and some of their references."""
    problems = list(open_dataset(f"humanevalpack:{data / 'humanevalpack' / 'python'}"))
    for place, i in enumerate(rng.permutation(len(problems)).tolist()[: max(bugs, clean)]):
        problem = problems[i]
        assert problem.buggy is not None
        reported = int(re.sub(r"\D", "", problem.id)) % 2 == 1
        right, details = problem.source, problem.details.get("bug_type", "")
        for text, group, count in ((problem.buggy, "bugs", bugs), (right, "clean", clean)):
            scope = next(one for one in scopes(Document(text)) if one.function.name == problem.function)
            about = details if group == "bugs" else ""
            case = Case(problem.id, group, about, reported, scope, wrong_lines(text, right), right)
            if place < count:
                yield replace(case, wrong=case.wrong & case.code)


def of_library(count: int, rng: np.random.Generator) -> Iterator[Case]:
    """Some functions of the standard library, clean and with a change."""
    known = []
    for place, name in enumerate(MODULES):
        document = Document.read(Path(str(import_module(name).__file__)))
        for scope in scopes(document):
            lines = _lines(scope)
            if SHORTEST <= lines <= LONGEST and scope.start < scope.function.end:
                known.append((f"{name}.{scope.function.qualname}", place % 2 == 1, scope))
    for i in rng.permutation(len(known)).tolist()[:count]:
        name, reported, scope = known[i]
        text = scope.document.text
        yield Case(name, "clean", "", reported, scope, frozenset(), text)
        by_kind = defaultdict(list)
        for one in alternatives_in(scope):
            by_kind[one.kind].append(one)
        if by_kind:
            kind = sorted(by_kind)[int(rng.integers(len(by_kind)))]
            choices = [one for one in by_kind[kind] if fits(scope, one)]
            if choices:
                changed = changed_text(scope.document, choices[int(rng.integers(len(choices)))])
                document = Document(changed, scope.document.path)
                found = [o for o in scopes(document) if o.function.start == scope.function.start]
                yield Case(name, "seeded", kind, reported, found[0], wrong_lines(changed, text), text)


def _lines(scope: DoubtScope) -> int:
    return scope.document.data.count(b"\n", scope.start, scope.function.end) + 1


def look(model: Model, case: Case) -> Looked:
    """Try the alternatives of a case, and weigh its lines by the other signals."""
    read: list[int] = []
    tried = trials(model, case.scope, read=read.append)
    document, positions = case.scope.document, case.scope.document.positions
    lines: dict[str, dict[int, float]] = {name: dict.fromkeys(case.code, -math.inf) for name in SIGNALS}
    once = 0
    for passage, _ in passages(case.scope, alternatives_in(case.scope)):
        text = passage.as_it_stands(passage.end)
        (scores,) = model.score_continuations(passage.context, [text], alternatives=NAMED)
        once += len(scores)
        moved = replace(
            scores, text=document.text, start=scores.start + passage.start, end=scores.end + passage.start
        )
        found = confidence(document, moved)
        rows = leaves(found)
        for name in SIGNALS:
            for node, weight in zip(rows.node.tolist(), WEIGHTS[name](rows).tolist(), strict=True):
                line = positions.line_of(found.nodes[node].start)
                if line in lines[name]:
                    lines[name][line] = max(lines[name][line], weight)
    # What stands above the body is read once in either case; it counts a token for 3.3 bytes.
    above = (case.scope.start - case.scope.function.start) / 3.3
    return Looked(case, tried, lines, (round(once + above), round(sum(read) + above)))


def best(looked: Looked) -> list[Trial]:
    """The best alternative of each place."""
    places: dict[tuple[int, int], Trial] = {}
    for one in looked.trials:
        place = one.alternative.place
        if place not in places or one.gain > places[place].gain:
            places[place] = one
    return list(places.values())


def collected(given: argparse.Namespace, model: Model) -> list[Looked]:
    """Every case, looked at."""
    cases = [
        *of_humaneval(given.data, given.bugs, given.clean, np.random.default_rng(given.seed)),
        *of_library(given.library, np.random.default_rng(given.seed)),
    ]
    found = []
    for done, case in enumerate(cases):
        print(f"{done} of {len(cases)} functions: {case.id}, {case.group}", file=sys.stderr, flush=True)
        found.append(look(model, case))
    return found


def dump(found: Sequence[Looked]) -> None:
    """One JSON line for each alternative that was tried."""
    for one in found:
        for trial in best(one):
            print(
                json.dumps(
                    {
                        "case": one.case.id,
                        "group": one.case.group,
                        "reported": one.case.reported,
                        "kind": trial.alternative.kind,
                        "was": one.case.scope.text(trial.alternative.start, trial.alternative.end)[:40],
                        "text": trial.alternative.text[:40],
                        "right": one.line(trial) in one.case.wrong,
                        "head": round(trial.head, 2),
                        "place": round(trial.place, 2),
                        "rest": round(trial.rest, 2),
                        "tokens": trial.tokens,
                        "lines": len(one.case.code - one.case.wrong),
                        "share": round(trial.share, 3),
                    }
                )
            )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bugs", type=int, default=80, help="buggy solutions")
    parser.add_argument("--clean", type=int, default=30, help="reference solutions")
    parser.add_argument("--library", type=int, default=40, help="functions of the standard library")
    parser.add_argument("--quick", action="store_true", help="a few of each")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dump", action="store_true", help="print every alternative that was tried")
    parser.add_argument("--cache", type=Path, help="where answers are kept; by default with the user's")
    given = parser.parse_args()
    if given.quick:
        given.bugs, given.clean, given.library = 6, 2, 2
    store = AnswerStore(given.cache)
    try:
        with load(given.model, Options(threads=given.threads)) as model:
            found = collected(given, CachedModel(model, store))
        if given.dump:
            dump(found)
    except CounterlensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
