"""Measures how often a bug's line is among the few shown places, on HumanEvalPack's buggy solutions.

    python benchmarks/localisation.py --data DATA [--language python] [--sample 48] [--quick]

DATA is a folder with HumanEvalPack's files (`humanevalpack/python`, `humanevalpack/java`). Each buggy
solution is scored as a file: the dataset's prompt (imports, signature, docstring), then the buggy body. A
budget of 1, 3 or 5 places in the body, at most one per line, is a hit if one of them begins on a line that
differs from the reference solution; if the reference has more lines, on a line beside the gap.

One pass of the model gives these, for all functions:

- `chance: lines`: as many random lines of code of the body; exact.
- `chance: nodes`: places at random leaves of the tree; exact for one place, else 200 samples.
- `raw`, `lead`, `unforeseen`, `relative`, `relative lead`, `excess`: `counterlens.confidence.surprising`.

These score changed texts, for a sample of the functions:

- `operators`: by how much likelier the text is with another operator instead of each, scored up to 12 tokens
  after it (`counterlens.probes.operator`).
- `alternatives`: the six leaves with the largest lead, by how much likelier the text up to 48 bytes after the
  leaf is with one of the model's two best alternatives instead of it.
- `mutations`: places that a preserving mutation changes, by how much likelier the changed text is; at most
  six mutations per function.
- `operators, excess`: operators for which another is likelier, then as `excess`.

Intervals of 95 % are Wilson's (docs/statistics.md). Answers are stored, so an interrupted run can be resumed.
The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from counterlens.confidence import Confidence, confidence, score_document
from counterlens.confidence.surprising import WEIGHTS, Weight, leaves, surprising
from counterlens.datasets import open_dataset
from counterlens.errors import CounterlensError
from counterlens.metrics.bootstrap import pooled_mean
from counterlens.models import load
from counterlens.models.base import Model, TokenScores
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options
from counterlens.models.wrapped import WrappedModel
from counterlens.mutations import counterfactuals
from counterlens.probes.operator import OperatorScorer
from counterlens.python.mutations.language import MUTATIONS
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites

BUDGETS = (1, 3, 5)
AFTER_TOKENS, AFTER_BYTES = 12, 48
NAMED, LEAVES, ALTERNATIVES, MUTANTS = 20, 6, 2, 6
QUICK = 16
_WORD = re.compile(r"\w+|[-+*/%<>=!&|^~@]+")
_LOCAL = [
    name
    for name, mutation in MUTATIONS.items()
    if mutation.preserving and not mutation.needs_observation and "rename" not in name and "annot" not in name
]

Hits = npt.NDArray[np.float64]


class OneByOne(WrappedModel):
    """A model that keeps its decoded context between requests, for many short continuations."""

    def score_continuations(
        self, context: str, continuations: Sequence[str], **_how: object
    ) -> list[TokenScores]:
        """Like `Model.score_continuations`."""
        return Model.score_continuations(self, context, continuations, alternatives=0)


@dataclass(frozen=True)
class Case:
    """One buggy function.

    Attributes:
        id: The id of the problem.
        document: Its file.
        body: The first byte of the body.
        wrong: The lines that differ from the reference, 0-based.
        code: The lines of the body with code.
    """

    id: str
    document: Document
    body: int
    wrong: frozenset[int]
    code: frozenset[int]

    def line(self, offset: int) -> int:
        """The line of a byte."""
        return self.document.positions.line_of(offset)


@dataclass
class Scored:
    """A case, with the model's scores."""

    case: Case
    model: Model

    @cached_property
    def found(self) -> Confidence:
        """The scores by node."""
        scores = score_document(self.model, self.case.document, alternatives=NAMED)
        return confidence(self.case.document, scores)

    def likelier(self, start: int, end: int, others: Iterable[str], stop: int) -> float:
        """The gain, in nats, of the text up to `stop` with the best of some replacements at a place."""
        data = self.case.document.data
        line = max(data.rfind(b"\n", 0, start), 0)
        lead, follow = data[line:start].decode(), data[end:stop].decode("utf-8", "ignore")
        texts = [f"{lead}{one}{follow}" for one in (data[start:end].decode(), *others)]
        scores = OneByOne(self.model).score_continuations(data[:line].decode() or "\n", texts)
        total = [float(np.nansum(one.logprob)) for one in scores]
        return max(total[1:]) - total[0] if total[1:] else -math.inf


def cases(data: Path, language: str) -> list[Case]:
    """All buggy functions of a language."""
    found = []
    for problem in open_dataset(f"humanevalpack:{data / 'humanevalpack' / language}"):
        assert problem.buggy is not None
        assert problem.prompt is not None
        above = problem.prompt.count("\n")
        buggy = problem.buggy[len(problem.prompt) :].splitlines()
        right = problem.source[len(problem.prompt) :].splitlines()
        code = {i for i, line in enumerate(buggy) if line.strip(" \t{}")}
        wrong: set[int] = set()
        for tag, low, high, *_ in difflib.SequenceMatcher(None, buggy, right, autojunk=False).get_opcodes():
            if tag in {"replace", "delete"}:
                wrong |= set(range(low, high))
            elif tag == "insert":
                wrong |= {low - 1, low}
        document = Document(problem.buggy, language=problem.language)
        lines = [frozenset(i + above for i in some) for some in (wrong & code, code)]
        if lines[0]:
            found.append(Case(problem.id, document, len(problem.prompt.encode()), *lines))
    return found


def by_weight(weight: Weight) -> Callable[[Scored], list[int]]:
    """The lines that Counterlens chooses by a weight, the most surprising first."""

    def ranked(scored: Scored) -> list[int]:
        case, lines = scored.case, []
        for limit in range(1, max(BUDGETS) + 1):
            for place in surprising(
                scored.found,
                limit=limit,
                least_bits=0.0,
                least_excess=-math.inf,
                weight=weight,
                span=(case.body, len(case.document.data)),
            ):
                line = case.line(place.start)
                if line not in lines:
                    lines.append(line)
        return lines

    return ranked


def ordered(case: Case, weighed: Iterable[tuple[float, int]]) -> list[int]:
    """The lines of places by weight, each line once."""
    best = sorted(((-weight, start) for weight, start in weighed if weight > -math.inf))
    return list(dict.fromkeys(case.line(start) for _, start in best))


def operator_margins(scored: Scored) -> list[tuple[float, int]]:
    """For each operator of the body: by how much another one is likelier, and its place."""
    case = scored.case
    scorer = OperatorScorer(OneByOne(scored.model), case.document)  # type: ignore[arg-type]
    sites = operator_sites(case.document, (case.body, len(case.document.data)))
    return [
        (scorer.score(site, after=AFTER_TOKENS).distribution(AFTER_TOKENS).margin, site.start)
        for site in sites
    ]


def operators(scored: Scored) -> list[int]:
    """Operators for which another is likelier."""
    return ordered(scored.case, operator_margins(scored))


def operators_then_excess(scored: Scored) -> list[int]:
    """Operators for which another is likelier, then surprising places."""
    doubted = ordered(scored.case, [one for one in operator_margins(scored) if one[0] > 0])
    return list(dict.fromkeys([*doubted, *by_weight(WEIGHTS["excess"])(scored)]))


def alternatives(scored: Scored) -> list[int]:
    """Leaves for which one of the model's alternatives makes the text likelier."""
    case, found = scored.case, scored.found
    rows = leaves(found)
    weighed = []
    inside = [i for i in range(len(rows)) if found.nodes[int(rows.node[i])].start >= case.body]
    for i in sorted(inside, key=lambda i: -rows.lead[i])[:LEAVES]:
        node, token = found.nodes[int(rows.node[i])], int(rows.token[i])
        written = case.document.data[node.start : node.end].decode()
        ahead = case.document.data[node.start : max(node.start, int(found.scores.start[token]))].decode()
        texts = [ahead + text.strip() for text in found.scores.alternative_text[token]]
        others = [text for text in texts if _WORD.fullmatch(text) and text != written][:ALTERNATIVES]
        if others:
            stop = node.end + AFTER_BYTES
            weighed.append((scored.likelier(node.start, node.end, others, stop), node.start))
    return ordered(case, weighed)


def mutations(scored: Scored) -> list[int]:
    """Places that become likelier under a preserving mutation."""
    case = scored.case
    data, weighed = case.document.data, []
    for one in islice(counterfactuals(case.document.text, mutations=_LOCAL, seed=0), MUTANTS):
        changed = one.source.encode()
        start = next((i for i, (a, b) in enumerate(zip(data, changed, strict=False)) if a != b), len(data))
        same = 0
        while same < min(len(data), len(changed)) - start and data[-1 - same] == changed[-1 - same]:
            same += 1
        end = len(data) - same
        if start >= case.body:
            other = changed[start : len(changed) - same].decode("utf-8", "ignore")
            weighed.append((scored.likelier(start, end, [other], end + AFTER_BYTES), start))
    return ordered(case, weighed)


def chance_of_lines(case: Case, budget: int) -> float:
    """The probability that random lines of code include a wrong one."""
    n, right = len(case.code), len(case.code) - len(case.wrong)
    return 1.0 if budget >= n else 1 - math.comb(right, budget) / math.comb(n, budget)


def chance_of_nodes(scored: Scored, rng: np.random.Generator) -> list[float]:
    """The probability that the lines of random leaves, at most one per line, include a wrong one."""
    case = scored.case
    at = [scored.found.nodes[i].start for i in leaves(scored.found).node.tolist()]
    lines = np.array([case.line(start) for start in at if start >= case.body])
    hits = np.zeros(len(BUDGETS))
    for _ in range(200):
        drawn = list(dict.fromkeys(rng.permutation(lines).tolist()))
        hits += [bool(case.wrong & set(drawn[:budget])) for budget in BUDGETS]
    return (hits / 200).tolist()


def intervals(values: Hits, bounds: tuple[float, float] = (0, 1)) -> list[tuple[float, float]]:
    """The 95 % intervals of the means of (functions, budgets)."""
    means = (pooled_mean(enumerate(column), bounds=bounds) for column in values.T.tolist())
    return [(one.low or 0.0, one.high or 0.0) for one in means]


def measured(given: argparse.Namespace, model: Model) -> list[dict[str, Hits]]:
    """(functions, budgets) hits of each signal: for all functions, and for the sample."""
    chosen = cases(given.data, given.language)
    rng = np.random.default_rng(given.seed)
    drawn = rng.permutation(len(chosen)).tolist()
    if given.quick:
        chosen, drawn = [chosen[i] for i in sorted(drawn[:QUICK])], []
    one_pass = {name: by_weight(weight) for name, weight in WEIGHTS.items()}
    again = {"operators": operators, "operators, excess": operators_then_excess, "alternatives": alternatives}
    if given.language == "python":
        again["mutations"] = mutations
    rows: list[dict[str, list[float]]] = []
    for done, case in enumerate(chosen):
        print(f"\r{done} of {len(chosen)} functions", end="", file=sys.stderr, flush=True)
        scored = Scored(case, model)
        rows.append(
            {
                "chance: lines": [chance_of_lines(case, k) for k in BUDGETS],
                "chance: nodes": chance_of_nodes(scored, rng),
                **{name: found(case, signal(scored)) for name, signal in one_pass.items()},
            }
        )
    sample = []
    for done, i in enumerate(drawn[: given.sample]):
        print(f"\r{done} of {given.sample} rescored ", end="", file=sys.stderr, flush=True)
        scored = Scored(chosen[i], model)
        sample.append(rows[i] | {name: found(chosen[i], signal(scored)) for name, signal in again.items()})
    print(file=sys.stderr)
    return [
        {name: np.array([row[name] for row in some]) for name in some[0]} for some in (rows, sample) if some
    ]


def found(case: Case, lines: Sequence[int]) -> list[float]:
    """Whether a wrong line is among the first few, for each budget."""
    return [float(bool(case.wrong & set(lines[:budget]))) for budget in BUDGETS]


def show(hits: dict[str, Hits], given: argparse.Namespace, model: str) -> dict[str, object]:
    """Print a table in Markdown, and return its figures."""
    n = len(hits["raw"])
    print(f"\n{n} functions ({given.language}), {model}, seed {given.seed}\n")
    print(
        "| signal | " + " | ".join(f"{k} place{'s' if k > 1 else ''}" for k in BUDGETS) + " | 3, over raw |"
    )
    print("|---|" + "---|" * (len(BUDGETS) + 1))
    base = hits["chance: lines"].mean(axis=0)
    ratios, spans = {}, {}
    for name, values in hits.items():
        around, means = intervals(values), values.mean(axis=0)
        shown = [f"{m:.2f} ({a:.2f} to {b:.2f})" for m, (a, b) in zip(means, around, strict=True)]
        over = values - hits["raw"]
        (low, high), mean = intervals(over, (-1, 1))[1], float(over[:, 1].mean())
        compared = f"{mean:+.2f} ({low:+.2f} to {high:+.2f})" if name != "raw" else ""
        print(f"| {name} | {' | '.join(shown)} | {compared} |")
        ratios[name] = [round(one, 3) for one in (means / base).tolist()]
        spans[name] = [[round(a, 3), round(b, 3)] for a, b in around]
    return {"functions": n, "ratios": ratios, "intervals": spans}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--language", choices=["python", "java"], default="python")
    parser.add_argument(
        "--sample", type=int, default=48, help="number of functions to score with changed text"
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"use {QUICK} functions, and score no changed text"
    )
    parser.add_argument("--model", default=EMBEDDED_MODEL)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="folder of the response cache; default: the user's")
    given = parser.parse_args()
    store = AnswerStore(given.cache)
    try:
        with load(given.model, Options(threads=given.threads)) as model:
            hits = measured(given, CachedModel(model, store))
            tables = [show(one, given, model.info.name) for one in hits]
        report = {"benchmark": "localisation", "language": given.language, **tables[0], "sample": tables[1:]}
        print(json.dumps(report))
    except CounterlensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
