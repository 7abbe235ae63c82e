"""How well interventional inference finds dependences: CRUXEval functions, local model (docs/influence.md).

    python benchmarks/influence.py --data DATA                 # the figures of docs/influence.md
    python benchmarks/influence.py --data DATA --quick         # eight functions, under a minute
    python benchmarks/influence.py --data DATA --lead ""       # without what anchors the model's attention
    python benchmarks/influence.py --data DATA --second M      # and another model on the same functions
    python benchmarks/influence.py --data DATA --degraded      # ... the same one, quantised again to Q2_K

DATA/cruxeval holds the dataset. Functions are shuffled with a seed; those in even places were used to choose
between estimators, and only those in odd places are reported on. Truth is the dependence graph, and for data
also the definition-use pairs of names seen when the function runs on the dataset's input, among the
statements that ran. Intervals are 95 % bootstrap intervals over functions. The last line is JSON.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.dependence.tracing import Tracer, line_of

from counterlens.datasets import open_dataset
from counterlens.dependence import Kind, Program
from counterlens.metrics.agreement import Estimate, bootstrap, corpus
from counterlens.metrics.ranking import (
    Cluster,
    auroc,
    auroc_interval,
    average_precision_interval,
    cross_validated,
    joined,
    permuted,
    stratified_auroc,
)
from counterlens.models import Model, load
from counterlens.models.registry import DEFAULT_MODEL, Options
from counterlens.probes.inference import interventions
from counterlens.probes.inference.estimators import (
    FIRST_TOKENS,
    Scores,
    control_scores,
    data_scores,
    known,
    largest,
    minus_placebo,
    peak,
)
from counterlens.probes.inference.reactions import LEAD, Reaction, react
from counterlens.probes.inference.subject import Role, Subject

Pair = tuple[int, int]
Change = interventions.Kind
KINDS = (Change.HIDE, Change.RENAME, Change.REPLACE, Change.NEGATE, Change.NEUTRALISE)
MOST_BYTES = 700
PERMUTATIONS = 200


@dataclass(frozen=True)
class Case:
    """One function, what is true of it, and how the model reacted."""

    subject: Subject
    data: set[Pair]
    control: set[Pair]
    executed: set[Pair]
    ran: set[int]
    reactions: list[Reaction]

    def run(self, pairs: Scores) -> Scores:
        """The pairs whose statements both ran."""
        return {pair: value for pair, value in pairs.items() if {*pair} <= self.ran}


def subjects(data: Path, seed: int) -> Iterator[tuple[Subject, str]]:
    """The functions to report on, with the call of each."""
    chosen = []
    for problem in open_dataset(data / "cruxeval"):
        program = Program(problem.source)
        alone = program.functions == [problem.function] and problem.source.startswith("def ")
        if alone and len(problem.source) < MOST_BYTES:
            chosen.append((problem, program))
    random.Random(seed).shuffle(chosen)  # noqa: S311 - a sample, no secret
    for problem, program in chosen[1::2]:
        yield Subject.of(program.dependences(problem.function or "")), problem.call or ""


def executed(subject: Subject, call: str) -> tuple[set[Pair], set[int]]:
    """The definition-use pairs of names that are seen in a run, and the statements that ran, by id."""
    tracer = Tracer(subject.dependences.source)
    with contextlib.redirect_stdout(io.StringIO()):
        tracer.run(lambda names: eval(call, names))  # noqa: S307 - records of the dataset
    ids = {part.statement.line: part.statement.id for part in subject.parts}
    name = subject.dependences.function
    pairs = {(ids[made], ids[used]) for where, made, used, _ in tracer.pairs if where[0] == name}
    lines = {
        line_of(node) for block, one in tracer.activations if block.qualname == name for node in one.order
    }
    return pairs, {0, *(ids[line] for line in lines if line in ids)}


def measured(model: Model, chosen: list[tuple[Subject, str]], lead: str) -> list[Case]:
    """Every function with the model's reactions."""
    cases = []
    for done, (subject, call) in enumerate(chosen, 1):
        edges = subject.dependences.edges
        reactions = [one for part in subject.parts for one in react(model, subject, part, KINDS, lead=lead)]
        cases.append(
            Case(
                subject,
                {(edge.source, edge.target) for edge in edges if edge.kind is not Kind.CONTROL},
                {(edge.source, edge.target) for edge in edges if edge.kind is Kind.CONTROL},
                *executed(subject, call),
                reactions,
            )
        )
        print(f"\r{done} of {len(chosen)} functions", end="", file=sys.stderr)
    print(file=sys.stderr)
    return cases


Score = Callable[[Case], Scores]


def recurs(case: Case, pair: Pair) -> bool:
    """Whether b reads a name that a binds."""
    source, target = (case.subject.parts[i] for i in pair)
    augmented = isinstance(target.node, ast.AugAssign)
    return any(
        one.name in source.binds for one in target.occurrences if augmented or one.role is not Role.BOUND
    )


def visible(case: Case, pair: Pair) -> bool:
    """Whether b reads a name that a binds and that no line in between binds anew."""
    source, target = pair
    parts = case.subject.parts
    augmented = isinstance(parts[target].node, ast.AugAssign)
    names = {one.name for one in parts[target].occurrences if augmented or one.role is not Role.BOUND}
    names &= parts[source].binds
    for part in parts[source + 1 : target]:
        names -= {one.name for one in part.occurrences if one.role is Role.BOUND}
    return bool(names)


def encloses(case: Case, pair: Pair) -> bool:
    """Whether a is the innermost header around b, by indentation."""
    column = [part.span[0] - case.subject.data.rfind(b"\n", 0, part.span[0]) for part in case.subject.parts]
    source, target = pair
    deeper = all(column[i] > column[source] for i in range(source + 1, target + 1))
    inner = range(source + 1, target)
    hidden = any(all(column[k] > column[i] for k in range(i + 1, target + 1)) for i in inner)
    return deeper and not hidden


def on(pairs: Score, value: Callable[[Case, Pair], float]) -> Score:
    """A baseline on the pairs of an estimator."""
    return lambda case: {pair: float(value(case, pair)) for pair in pairs(case)}


def blind(kind: Change) -> Score:
    """The largest drop at any token of b."""
    return lambda case: {
        (one.source, one.target): peak(known(one.drops)) for one in case.reactions if one.kind is kind
    }


def first(kind: Change) -> Score:
    """The largest change among b's first tokens, without placebo."""
    return lambda case: {
        (one.source, one.target): largest(known(one.drops[:FIRST_TOKENS]))
        for one in case.reactions
        if one.kind is kind
    }


def data(case: Case) -> Scores:
    return data_scores(case.subject, case.reactions)


def control(case: Case) -> Scores:
    return control_scores(case.reactions)


def distance(_: Case, pair: Pair) -> float:
    return pair[0] - pair[1]


DATA: dict[str, Score] = {
    "hide, reads": data,
    "hide, reads, minus placebo": lambda case: minus_placebo(data(case)),
    "hide, largest drop": blind(Change.HIDE),
    "rename, reads": lambda case: data_scores(case.subject, case.reactions, Change.RENAME),
    "rename, largest drop": blind(Change.RENAME),
    "other value, reads": on(data, lambda case, pair: _replaced(case).get(pair, 0.0)),
    "baseline: distance": on(data, distance),
    "baseline: name recurs": on(data, recurs),
    "baseline: name visible": on(data, visible),
}
CONTROL: dict[str, Score] = {
    "negate and neutralise": control,
    "without placebo": lambda case: {
        pair: first(Change.NEGATE)(case).get(pair, 0.0) + first(Change.NEUTRALISE)(case).get(pair, 0.0)
        for pair in control(case)
    },
    "negate alone": first(Change.NEGATE),
    "neutralise alone": first(Change.NEUTRALISE),
    "baseline: distance": on(control, distance),
    "baseline: indentation": on(control, encloses),
}


def _replaced(case: Case) -> Scores:
    return data_scores(case.subject, case.reactions, Change.REPLACE)


def clusters(cases: list[Case], score: Score, truth: Callable[[Case], set[Pair]]) -> list[Cluster]:
    found = []
    for case in cases:
        scores = score(case)
        labels = np.array([pair in truth(case) for pair in scores], bool)
        found.append(Cluster(np.array(list(scores.values()), float), labels))
    return found


def table(
    title: str,
    cases: list[Case],
    estimators: dict[str, Score],
    truth: Callable[[Case], set[Pair]],
    pairs: Callable[[Case, Scores], Scores] = lambda _, scores: scores,
) -> dict[str, Any]:
    """Print and return the figures of one kind of dependence."""
    rows: dict[str, Any] = {}
    main = next(iter(estimators.values()))
    universe = clusters(cases, lambda case: pairs(case, main(case)), truth)
    labels = joined(universe)[1]
    print(f"\n{title}: {len(cases)} functions, {len(labels)} pairs, {int(labels.sum())} true")
    print(f"{'':28}{'AUROC':24}{'same distance':15}{'average precision':24}{'F1 (P, R)'}")
    for name, estimator in estimators.items():
        one = clusters(cases, lambda case, e=estimator: pairs(case, e(case)), truth)  # type: ignore[misc]
        scores, labels = joined(one)
        distances = [b - a for case in cases for a, b in pairs(case, estimator(case))]
        found, _ = cross_validated(one)
        micro = corpus(found).micro
        rows[name] = {
            "auroc": _plain(auroc_interval(one)),
            "same_distance": stratified_auroc(scores, labels, distances),
            "average_precision": _plain(average_precision_interval(one)),
            **{key: _plain(value) for key, value in micro.items()},
        }
        same = rows[name]["same_distance"]
        print(
            f"{name:28}{_text(auroc_interval(one)):24}{same:<15.3f}"
            f"{_text(average_precision_interval(one)):24}"
            f"{_text(micro['f1'])} ({micro['precision'].value or 0:.2f}, {micro['recall'].value or 0:.2f})"
        )
    anyhow = np.random.default_rng(0)
    scores, labels = joined(universe)
    shuffled = [auroc(scores, anyhow.permutation(labels)) or 0.5 for _ in range(PERMUTATIONS)]
    within = [_within(permuted(universe, seed=i)) for i in range(PERMUTATIONS)]
    low, high = np.quantile(within, [0.025, 0.975])
    print(
        f"{'shuffled edges':28}{np.mean(shuffled):.3f}; within functions {np.mean(within):.3f} "
        f"({low:.3f} to {high:.3f}), where unshuffled it is {_within(universe):.3f}"
    )
    rows["shuffled"] = {"within": float(np.mean(within)), "anyhow": float(np.mean(shuffled))}
    return {"pairs": len(labels), "true": int(labels.sum()), "estimators": rows}


def _within(one: list[Cluster]) -> float:
    """AUROC of pairs of the same function."""
    scores, labels = joined(one)
    strata = [i for i, cluster in enumerate(one) for _ in cluster.labels]
    return stratified_auroc(scores, labels, strata) or 0.5


def confounders(cases: list[Case]) -> dict[str, Any]:
    """Names that recur: where they are live, and where their definition was killed."""
    rows = {}
    for name in ("hide, reads", "rename, reads", "baseline: distance"):
        for subset, test in (
            ("name recurs", recurs),
            ("name recurs, bound anew between", lambda c, p: recurs(c, p) and not visible(c, p)),
        ):
            one = clusters(
                cases,
                lambda case, n=name, t=test: {  # type: ignore[misc]
                    p: v for p, v in case.run(DATA[n](case)).items() if t(case, p)
                },
                lambda case: case.executed,
            )
            labels = joined(one)[1]
            figure = auroc_interval(one)
            rows[f"{name}; {subset}"] = {**_plain(figure), "pairs": len(labels), "true": int(labels.sum())}
            print(f"{name:20} {subset:34} {len(labels):4} pairs, {int(labels.sum()):3} true: {_text(figure)}")
    killed = [v for c in cases for p, v in c.run(data(c)).items() if recurs(c, p) and p not in c.executed]
    live = [v for c in cases for p, v in c.run(data(c)).items() if recurs(c, p) and p in c.executed]
    other = [v for c in cases for p, v in c.run(data(c)).items() if not recurs(c, p)]
    effect = {"live": _mean(live), "killed": _mean(killed), "no name recurs": _mean(other)}
    print("mean influence in nats: " + ", ".join(f"{key} {value:.2f}" for key, value in effect.items()))
    return {"auroc": rows, "nats": effect}


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def matched(cases: list[Case]) -> dict[str, Any]:
    """Nats at what depends on a, minus nats at what stands equally far from a and does not.

    An analysis of the effect, not an estimator of edges: it needs the truth. Without any placebo; distances
    are weighted by how many dependent pairs they have.
    """
    rows = {}
    for name, score, truth in (
        ("data (graph)", data, lambda c: c.data),
        ("control (graph)", CONTROL["without placebo"], lambda c: c.control),
    ):
        seen = [[(b - a, (a, b) in truth(c), v) for (a, b), v in score(c).items()] for c in cases]
        rows[name] = _plain(found := bootstrap(seen, _contrast))
        print(f"matched contrast, {name}: {_text(found)} nats")
    return rows


def _contrast(chosen: Any) -> float | None:
    """The mean difference at equal distance; None where no distance has both kinds of pairs."""
    groups: dict[int, dict[bool, list[float]]] = {}
    for far, depends, value in (pair for one in chosen for pair in one):
        groups.setdefault(far, {True: [], False: []})[depends].append(value)
    both = [one for one in groups.values() if one[True] and one[False]]
    total = sum(len(one[True]) for one in both)
    return (
        sum(len(one[True]) * (_mean(one[True]) - _mean(one[False])) for one in both) / total if both else None
    )


def out_of_reach(cases: list[Case]) -> dict[str, float]:
    """The share of true edges that no estimator could see: not forward, or of statements not changed."""
    figures = {}
    for name, score, truth in (("data", data, lambda c: c.data), ("control", control, lambda c: c.control)):
        true = sum(len(truth(case)) for case in cases)
        seen = sum(len(truth(case) & set(score(case))) for case in cases)
        figures[name] = 1 - seen / true if true else 0.0
        print(f"{name}: {true - seen} of {true} true edges are out of reach")
    return figures


def report(cases: list[Case]) -> dict[str, Any]:
    """All tables of one model."""
    return {
        "data": table("data (graph)", cases, DATA, lambda case: case.data),
        "executed": table(
            "data (executed pairs of names)", cases, DATA, lambda case: case.executed, lambda c, s: c.run(s)
        ),
        "control": table("control (graph)", cases, CONTROL, lambda case: case.control),
        "confounders": confounders(cases),
        "matched": matched(cases),
        "out_of_reach": out_of_reach(cases),
    }


def compared(one: list[Case], other: list[Case]) -> dict[str, Any]:
    """AUROC of the first model minus that of the second on the same functions."""
    rows = {}
    for name, score, truth in (("data", data, lambda c: c.data), ("control", control, lambda c: c.control)):
        both = list(zip(clusters(one, score, truth), clusters(other, score, truth), strict=True))

        def difference(chosen: Any) -> float | None:
            first, second = auroc(*joined([a for a, _ in chosen])), auroc(*joined([b for _, b in chosen]))
            return None if first is None or second is None else first - second

        found = bootstrap(both, difference)
        rows[name] = _plain(found)
        print(f"{name}: AUROC of the first minus that of the second model {_text(found)}")
    return rows


def surprise(model: Model, chosen: list[tuple[Subject, str]], lead: str) -> float:
    """Mean -log p of the functions' tokens: how capable a model is of this code."""
    scores = [
        model.score(subject.text, context=lead or "\n", alternatives=0).logprob for subject, _ in chosen
    ]
    return float(-np.nanmean(np.concatenate(scores)))


def degraded(folder: Path) -> Path:
    """The embedded model, quantised again to Q2_K (where its shapes allow; the rest to 4 bits)."""
    import ctypes

    import llama_cpp

    from counterlens.models.files import embedded_model

    path = folder / "degraded-Q2_K.gguf"
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype, parameters.allow_requantize = llama_cpp.LLAMA_FTYPE_MOSTLY_Q2_K, True
    llama_cpp.llama_log_set(_SILENT, ctypes.c_void_p(0))
    status = llama_cpp.llama_model_quantize(
        str(embedded_model()).encode(), str(path).encode(), ctypes.byref(parameters)
    )
    if status:
        sys.exit(f"llama.cpp could not quantise the model (status {status})")
    return path


def _silent(_level: int, _text: bytes, _data: object) -> None:
    """Nothing of what llama.cpp says."""


def _plain(found: Estimate) -> dict[str, float | None]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _text(found: Estimate) -> str:
    if found.value is None or found.low is None or found.high is None:
        return "-"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--second", help="another model, compared on the same functions")
    parser.add_argument("--degraded", action="store_true", help="compare with the embedded model in Q2_K")
    parser.add_argument("--functions", type=int, default=100)
    parser.add_argument("--lead", default=LEAD)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="eight functions")
    given = parser.parse_args()
    chosen = list(subjects(given.data, given.seed))[: 8 if given.quick else given.functions]
    names, cases, figures, begun = [given.model], [], {}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if given.second or given.degraded:
            names.append(given.second or str(degraded(Path(folder))))
        for name in names:
            with load(name, Options(threads=given.threads, context=2048)) as model:
                nats = surprise(model, chosen, given.lead)
                print(f"\n{model.info.name}: {nats:.3f} nats a token")
                cases.append(measured(model, chosen, given.lead))
                figures[model.info.name] = {"nats_per_token": nats, **report(cases[-1])}
    document: dict[str, Any] = {"benchmark": "influence", "functions": len(chosen), "models": figures}
    if len(cases) > 1:
        print()
        document["difference"] = compared(*cases)
    estimators = next(iter(figures.values()))["data"]["estimators"]
    document["ratios"] = {
        f"{key}: {name} to {baseline}": figure[key]["estimators"][name]["auroc"]["value"]
        / figure[key]["estimators"][baseline]["auroc"]["value"]
        for figure in list(figures.values())[:1]
        for key, name, baseline in (
            ("data", "hide, reads", "baseline: name recurs"),
            ("control", "negate and neutralise", "baseline: indentation"),
        )
        if name in estimators or key == "control"
    }
    print(f"\n{time.monotonic() - begun:.0f} s")
    print(json.dumps(document))
    return 0


if __name__ == "__main__":
    import llama_cpp as _llama

    _SILENT = _llama.llama_log_callback(_silent)
    sys.exit(main())
