"""Are marks of doubt right? On bugs made by hand and on changes put into clean code; and what do they cost?

    python benchmarks/doubt.py --data DATA                # the tables of docs/doubt.md
    python benchmarks/doubt.py --data DATA --fit          # all kinds, and the margins of doubt/margins.py
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
lines drawn at random. Answers are kept, so a run that was ended goes on where it stopped. The last line is
one JSON document.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

import numpy as np

from counterlens.confidence import confidence
from counterlens.confidence.leaves import leaves
from counterlens.confidence.weights import WEIGHTS
from counterlens.datasets import open_dataset
from counterlens.doubt.alternative import Alternative
from counterlens.doubt.generating import alternatives_in, changed_text, fits, scopes
from counterlens.doubt.margins import MARGINS
from counterlens.doubt.marking import marked
from counterlens.doubt.passages import passages
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import NAMED, Trial, trials
from counterlens.errors import CounterlensError
from counterlens.metrics.effects import wilson
from counterlens.models import DEFAULT_MODEL, load
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.registry import Options
from counterlens.syntax.document import Document

MODULES = (
    *("textwrap", "statistics", "bisect", "heapq", "fractions", "shlex", "calendar", "graphlib", "fnmatch"),
    *("posixpath", "configparser", "base64", "random", "difflib", "colorsys", "copy", "string", "ipaddress"),
    *("zipfile", "tarfile", "argparse", "csv", "pprint", "sched"),
)
"""Modules of the standard library that its own tests cover."""
SHORTEST, LONGEST = 5, 30
"""Lines of the body of a function that is taken from them."""
SIGNALS = ("excess", "raw")
ALLOWED = 2.0
"""False marks in 1,000 clean lines that are allowed."""
TAIL_FROM = 1.0
"""Nats: from where on the gains of false marks are taken to fall off exponentially."""


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


def look(model: Model, case: Case, kinds: Collection[str] | None) -> Looked:
    """Try the alternatives of a case, and weigh its lines by the other signals."""
    read: list[int] = []
    tried = trials(model, case.scope, kinds=kinds, read=read.append)
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


def collected(given: argparse.Namespace, model: Model) -> list[Looked]:
    """Every case, looked at; where nothing is fitted those that are reported, as `check` asks about them."""
    cases = [
        *of_humaneval(given.data, given.bugs, given.clean, np.random.default_rng(given.seed)),
        *of_library(given.library, np.random.default_rng(given.seed)),
    ]
    kinds = None if given.fit else set(MARGINS)
    if not given.fit:
        cases = [case for case in cases if case.reported]
    found = []
    for done, case in enumerate(cases):
        print(f"{done} of {len(cases)} functions: {case.id}, {case.group}", file=sys.stderr, flush=True)
        found.append(look(model, case, kinds))
    return found


def eligible(looked: Looked) -> list[Trial]:
    """The alternatives that would be marks if no kind had a margin."""
    return marked(looked.trials, dict.fromkeys(DOUBT_KINDS, 0.0))


def is_right(looked: Looked, trial: Trial) -> bool:
    """Whether a mark begins on a wrong line."""
    return looked.line(trial) in looked.case.wrong


def fixes(looked: Looked, alternative: Alternative) -> bool:
    """Whether the text is what it should be with an alternative."""
    return changed_text(looked.case.scope.document, alternative).strip() == looked.case.right.strip()


def clean_lines(found: Sequence[Looked]) -> int:
    """How many lines of code are right."""
    return sum(len(one.case.code - one.case.wrong) for one in found)


def fitted(found: Sequence[Looked]) -> dict[str, float]:
    """The margins: above each, a kind's share of the false marks that are allowed is to be expected.

    Gains of false marks beyond `TAIL_FROM` fall off exponentially, at one rate for all kinds; how many there
    are is counted for each kind, and one more is added to it. A kind none of whose right marks lies above its
    margin is silent, and its share goes to the others.
    """
    false, right = defaultdict(list), defaultdict(list)
    for one in found:
        for trial in eligible(one):
            (right if is_right(one, trial) else false)[trial.alternative.kind].append(trial.gain)
    beyond = [gain - TAIL_FROM for gains in false.values() for gain in gains if gain > TAIL_FROM]
    scale = sum(beyond) / max(len(beyond), 1)
    loud = set(DOUBT_KINDS)
    lead: dict[str, float] = {}
    margins: dict[str, float] = {}
    while loud:
        allowed = ALLOWED * clean_lines(found) / 1000 / len(loud)
        for kind in loud:
            many = sum(gain > TAIL_FROM for gain in false[kind]) + 1
            margins[kind] = TAIL_FROM + scale * max(math.log(many / allowed), 0.0)
            lead[kind] = max(right[kind], default=-math.inf) - margins[kind]
        weakest = min(sorted(loud), key=lambda kind: lead[kind])
        if lead[weakest] > 0:
            break
        loud.remove(weakest)
    print(f"\nfalse gains beyond {TAIL_FROM} nats: {len(beyond)}, {scale:.2f} more on average\n")
    return {kind: round(margins[kind], 1) for kind in DOUBT_KINDS if kind in loud}


@dataclass
class Tally:
    """What the marks of one signal came to.

    Attributes:
        marks: How many there are.
        right: How many of them begin on a wrong line.
        found: The cases with a bug that one of them is right in.
    """

    marks: int = 0
    right: int = 0
    found: set[int] = field(default_factory=set)

    def add(self, number: int, *, right: bool) -> None:
        """Count a mark of a case."""
        self.marks += 1
        self.right += right
        if right:
            self.found.add(number)


def by_doubt(found: Sequence[Looked], margins: dict[str, float]) -> Tally:
    """The marks of doubt."""
    tally = Tally()
    for number, one in enumerate(found):
        for trial in marked(one.trials, margins):
            tally.add(number, right=is_right(one, trial))
    return tally


def by_signal(found: Sequence[Looked], signal: str, marks: int) -> Tally:
    """As many lines, those that a signal ranks highest among all."""
    tally, weights = Tally(), [one.lines[signal] for one in found]
    ranked = sorted(
        ((weight, number, line) for number, some in enumerate(weights) for line, weight in some.items()),
        key=lambda row: -row[0],
    )
    for _, number, line in ranked[:marks]:
        tally.add(number, right=line in found[number].case.wrong)
    return tally


def shown(count: int, n: int) -> str:
    """A share with its interval, and what it is of."""
    share = wilson(count, n)
    if share.value is None or share.low is None or share.high is None:
        return "--"
    return f"{share.value:.2f} ({share.low:.2f} to {share.high:.2f}), {count} of {n}"


def row(name: str, tally: Tally, found: Sequence[Looked]) -> str:
    """A signal's line of the table."""
    bugs = [i for i, one in enumerate(found) if one.case.wrong]
    lines = clean_lines(found)
    per_thousand = 1000 * (tally.marks - tally.right) / max(lines, 1)
    cells = [name, str(tally.marks), shown(tally.right, tally.marks), f"{per_thousand:.1f}"]
    for group in ("bugs", "seeded"):
        known = sum(found[i].case.group == group for i in tally.found)
        cells.append(shown(known, sum(found[i].case.group == group for i in bugs)))
    return f"| {' | '.join(cells)} |"


def described(one: Looked, trial: Trial) -> str:
    """A mark in words."""
    alternative, scope = trial.alternative, one.case.scope
    said = "fixes" if fixes(one, alternative) else "right line" if is_right(one, trial) else "false"
    text = " ".join(scope.text(*alternative.place).split())
    asked = alternative.question or f"did you mean `{' '.join(alternative.text.split())}`?"
    return f"{one.case.id}, {one.case.group}: `{text}`: {asked} {trial.gain:.1f} nats, {said}"


def tables(found: Sequence[Looked], margins: dict[str, float]) -> dict[str, object]:
    """Print what came of one half; its figures."""
    doubt, lines = by_doubt(found, margins), clean_lines(found)
    bugs = [one for one in found if one.case.wrong]
    print(f"\n{len(found)} functions, {len(bugs)} with a bug, {lines} clean lines\n")
    print("| signal | marks | right | false, in 1,000 clean lines | bugs found | seeded found |")
    print("|---|---|---|---|---|---|")
    print(row("doubt", doubt, found))
    for name in SIGNALS:
        print(row(f"{name}, as many marks", by_signal(found, name, doubt.marks), found))
    wrong = sum(len(one.case.wrong) for one in bugs)
    print(f"| chance | {doubt.marks} | {wrong / (wrong + lines):.2f} | | | |")
    print("\n| bug | kind | functions | fix offered | fix tried | fix likelier | line marked |")
    print("|---|---|---|---|---|---|---|")
    kinds: dict[tuple[str, str], list[Looked]] = defaultdict(list)
    for one in bugs:
        kinds[one.case.group, one.case.about].append(one)
    for (group, about), some in sorted(kinds.items()):
        offered = sum(any(fixes(one, other) for other in alternatives_in(one.case.scope)) for one in some)
        tried = sum(any(fixes(one, trial.alternative) for trial in one.trials) for one in some)
        likelier = sum(
            any(fixes(one, trial.alternative) and trial.gain > 0 for trial in one.trials) for one in some
        )
        told = sum(any(is_right(one, trial) for trial in marked(one.trials, margins)) for one in some)
        counts = " | ".join(map(str, (len(some), offered, tried, likelier)))
        print(f"| {group} | {about} | {counts} | {shown(told, len(some))} |")
    print()
    for one in found:
        for trial in marked(one.trials, margins):
            print(described(one, trial))
    once, read = (sum(one.tokens[i] for one in found) for i in (0, 1))
    ratios = [one.tokens[1] / max(one.tokens[0], 1) for one in found]
    print(f"\ntokens read: {read / max(once, 1):.2f} times those of the functions; at most {max(ratios):.2f}")
    return {"marks": doubt.marks, "right": doubt.right, "lines": lines, "found": len(doubt.found)}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bugs", type=int, default=30, help="buggy solutions")
    parser.add_argument("--clean", type=int, default=10, help="reference solutions")
    parser.add_argument("--library", type=int, default=24, help="functions of the standard library")
    parser.add_argument("--quick", action="store_true", help="a few of each")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fit", action="store_true", help="fit the margins on the other half")
    parser.add_argument("--cache", type=Path, help="where answers are kept; by default with the user's")
    given = parser.parse_args()
    if given.quick:
        given.bugs, given.clean, given.library = 6, 2, 2
    store = AnswerStore(given.cache)
    try:
        with load(given.model, Options(threads=given.threads)) as model:
            found = collected(given, CachedModel(model, store))
        margins = fitted([one for one in found if not one.case.reported]) if given.fit else dict(MARGINS)
        print("margins:", ", ".join(f"{kind} {margin}" for kind, margin in margins.items()) or "none")
        halves = {"reported": True} if not given.fit else {"fitted": False, "reported": True}
        report: dict[str, object] = {"benchmark": "doubt", "margins": margins}
        for name, reported in halves.items():
            print(f"\n{name} half, {model.info.name}, seed {given.seed}")
            report[name] = tables([one for one in found if one.case.reported == reported], margins)
        print(json.dumps(report))
    except CounterlensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
