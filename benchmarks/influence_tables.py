"""The figures of influence: tables, confounders, contrasts, and a comparison of two models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from estimates import plain, text
from influence_cases import Case, Pair
from influence_scores import CONTROL, DATA, Score, control, data, recurs, visible
from ranking import (
    Cluster,
    auroc,
    auroc_interval,
    average_precision_interval,
    cross_validated,
    joined,
    permuted,
    stratified_auroc,
)

from counterlens.metrics.agreement import corpus
from counterlens.metrics.bootstrap import bootstrap
from counterlens.probes.dependence.estimators import PairScores

PERMUTATIONS = 200
Truth = Callable[[Case], set[Pair]]


def clusters(cases: list[Case], score: Score, truth: Truth) -> list[Cluster]:
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
    truth: Truth,
    pairs: Callable[[Case, PairScores], PairScores] = lambda _, scores: scores,
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
            "auroc": plain(auroc_interval(one)),
            "same_distance": stratified_auroc(scores, labels, distances),
            "average_precision": plain(average_precision_interval(one)),
            **{key: plain(value) for key, value in micro.items()},
        }
        same = rows[name]["same_distance"]
        print(
            f"{name:28}{text(auroc_interval(one)):24}{'-' if same is None else f'{same:.3f}':<15}"
            f"{text(average_precision_interval(one)):24}"
            f"{text(micro['f1'])} ({micro['precision'].value or 0:.2f}, {micro['recall'].value or 0:.2f})"
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
    """AUROC over pairs of the same function."""
    scores, labels = joined(one)
    strata = [i for i, cluster in enumerate(one) for _ in cluster.labels]
    return stratified_auroc(scores, labels, strata) or 0.5


def confounders(cases: list[Case]) -> dict[str, Any]:
    """Recurring names: with a live definition, and with a killed one."""
    rows = {}
    for name in ("hide, reads", "rename, reads", "baseline: distance"):
        for subset, test in (
            ("name recurs", recurs),
            ("name recurs, rebound in between", lambda c, p: recurs(c, p) and not visible(c, p)),
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
            rows[f"{name}; {subset}"] = {**plain(figure), "pairs": len(labels), "true": int(labels.sum())}
            print(f"{name:20} {subset:34} {len(labels):4} pairs, {int(labels.sum()):3} true: {text(figure)}")
    killed = [v for c in cases for p, v in c.run(data(c)).items() if recurs(c, p) and p not in c.executed]
    live = [v for c in cases for p, v in c.run(data(c)).items() if recurs(c, p) and p in c.executed]
    other = [v for c in cases for p, v in c.run(data(c)).items() if not recurs(c, p)]
    effect = {"live": _mean(live), "killed": _mean(killed), "no name recurs": _mean(other)}
    print("mean influence in nats: " + ", ".join(f"{key} {value:.2f}" for key, value in effect.items()))
    return {"auroc": rows, "nats": effect}


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def matched(cases: list[Case]) -> dict[str, Any]:
    """Nats at statements that depend on a, minus nats at independent statements at the same distance from a.

    It analyses the effect, and is not an estimator of edges: it needs the truth. It uses no placebo;
    distances are weighted by their number of dependent pairs.
    """
    rows = {}
    relations: tuple[tuple[str, Score, Truth], ...] = (
        ("data (graph)", data, lambda c: c.data),
        ("control (graph)", CONTROL["without placebo"], lambda c: c.control),
    )
    for name, score, truth in relations:
        seen = [[(b - a, (a, b) in truth(c), v) for (a, b), v in score(c).items()] for c in cases]
        rows[name] = plain(found := bootstrap(seen, _contrast))
        print(f"matched contrast, {name}: {text(found)} nats")
    return rows


def _contrast(chosen: Any) -> float | None:
    """The mean difference at equal distance; None if no distance has both kinds of pairs."""
    groups: dict[int, dict[bool, list[float]]] = {}
    for far, depends, value in (pair for one in chosen for pair in one):
        groups.setdefault(far, {True: [], False: []})[depends].append(value)
    both = [one for one in groups.values() if one[True] and one[False]]
    total = sum(len(one[True]) for one in both)
    return (
        sum(len(one[True]) * (_mean(one[True]) - _mean(one[False])) for one in both) / total if both else None
    )


def out_of_reach(cases: list[Case]) -> dict[str, float]:
    """The share of true edges that no estimator can find: not forward, or of statements without a change."""
    figures = {}
    relations: tuple[tuple[str, Score, Truth], ...] = (
        ("data", data, lambda c: c.data),
        ("control", control, lambda c: c.control),
    )
    for name, score, truth in relations:
        true = sum(len(truth(case)) for case in cases)
        seen = sum(len(truth(case) & set(score(case))) for case in cases)
        figures[name] = 1 - seen / true if true else 0.0
        print(f"{name}: {true - seen} of {true} true edges cannot be found")
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
        rows[name] = plain(found)
        print(f"{name}: AUROC of the first minus that of the second model {text(found)}")
    return rows
