"""Measures how well a local model infers dependences in CoRe's functions, by method (docs/influence.md).

    python benchmarks/dependence_inference.py --data DATA           # the table of docs/results/influence.md
    python benchmarks/dependence_inference.py --data DATA --functions 2      # a small one
    python benchmarks/dependence_inference.py --data DATA --most 40 --limit 60 --functions 20

DATA/core contains the dataset. The functions are in Python 3 and have at most `--most` statements;
`--functions` of them are sampled by `--seed`. The dependence graph is the truth. Questions about pairs use a
balanced sample of at most `--limit` pairs per relation and function, so their precision and F1 hold if half
of all pairs are dependent; the figures of `always yes` are shown beside them. Intervals are 95 % bootstrap
intervals over functions. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from estimates import plain, text
from ranking import Cluster, auroc_interval

from counterlens.datasets import open_dataset
from counterlens.dependence import Dependences
from counterlens.errors import SourceError
from counterlens.metrics.agreement import Agreement, corpus
from counterlens.metrics.bootstrap import bootstrap
from counterlens.metrics.traces import Trace, TraceFigures
from counterlens.models import Model, load
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options
from counterlens.probes.dependence.examined import Relation
from counterlens.probes.dependence.inferred import InferenceMethod, Inferred, infer
from counterlens.probes.dependence.instances import QuestionCounts
from counterlens.probes.dependence.pairwise import question_counts
from counterlens.probes.dependence.rules import RULES
from counterlens.python.dependence.program import Program


def chosen(data: Path, most: int, count: int, seed: int) -> list[tuple[str, Dependences]]:
    """The functions, by name."""
    found = []
    for problem in open_dataset(data / "core"):
        try:
            one = Program(problem.source).dependences(problem.function or "")
        except SourceError:
            continue
        if len(one.statements) <= most:
            found.append((problem.id, one))
    random.Random(seed).shuffle(found)  # noqa: S311 - a sample, no secret
    return sorted(found[:count])


def examined(
    model: Model, functions: Sequence[tuple[str, Dependences]], method: InferenceMethod, limit: int, seed: int
) -> list[Inferred]:
    """The model's inference for each function."""
    found = []
    for done, (name, one) in enumerate(functions, 1):
        found.append(infer(model, one, method, limit=limit, seed=seed))
        print(f"\r{method}: {done} of {len(functions)}  {name:60}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def rows(method: InferenceMethod, found: Sequence[Inferred]) -> dict[str, Any]:
    """Print and return the figures of one method, each beside that of the rule without a model."""
    figures: dict[str, Any] = {}
    for relation in Relation:
        for closed in ("direct", "transitive"):
            every = [getattr(one.agreement, closed)[relation] for one in found]
            if all(one == Agreement() for one in every):
                continue
            name = f"{relation}, {closed}"
            figures[name] = shown(method, name, every)
            by_rule = [getattr(one.rules, closed)[relation] for one in found]
            figures[name]["rule"] = shown(RULES[relation], name, by_rule)
        differing = [one.differing[relation] for one in found]
        figures[f"{relation}, differing"] = shown(method, f"{relation}, rule wrong", differing)
    return figures


def shown(what: str, name: str, counts: Sequence[Agreement]) -> dict[str, Any]:
    """Print and return the figures of some functions."""
    pooled = corpus(counts)
    micro, macro = pooled.micro, pooled.macro
    print(
        f"{what:16}{name:22}{text(micro['f1']):26}{text(macro['f1']):26}"
        f"{text(micro['precision']):26}{text(micro['recall'])}"
    )
    return {
        mean: {key: plain(value) for key, value in values.items()}
        for mean, values in (("micro", micro), ("macro", macro))
    }


def ranked(found: Sequence[Inferred]) -> dict[str, Any]:
    """Print and return how well the probability of yes ranks the pairs in the questions."""
    figures: dict[str, Any] = {}
    for relation in Relation:
        asked = [one.asked[relation] for one in found if one.asked]
        total = QuestionCounts(
            *(sum(getattr(one, name) for one in asked) for name in ("asked", "possible", "true"))
        )
        clusters = [
            Cluster(np.array([p for p, _ in pairs], float), np.array([true for _, true in pairs], bool))
            for one in found
            if (pairs := (one.scored or {}).get(relation))
        ]
        always = corpus([Agreement(one.true, one.asked - one.true, 0) for one in asked]).micro["f1"]
        area = auroc_interval(clusters)
        figures[str(relation)] = {
            "asked": total.asked,
            "possible": total.possible,
            "true": total.true,
            "auroc": plain(area),
            "always_yes_f1": plain(always),
        }
        said = f"   {question_counts({relation: total})}"
        print(f"{said}; AUROC {text(area)}; F1 of always yes {always.value or 0:.3f}")
    if found[0].how:
        print(f"   {found[0].how}")
    return figures


def traced(found: Sequence[Inferred]) -> dict[str, Any]:
    """Print and return the correctness of the traces, over the questions with a trace as their answer."""
    figures: dict[str, Any] = {}
    for relation in Relation:
        functions = [told for one in found if (told := (one.traces or {}).get(relation))]
        every = [trace for told in functions for trace in told]

        def pooled(chosen: Sequence[Sequence[Trace]], name: str) -> float | None:
            value = getattr(TraceFigures.of([trace for told in chosen for trace in told]), name)
            return None if value is None else float(value)

        names = [field.name for field in fields(TraceFigures)]
        shown = {name: bootstrap(functions, partial(pooled, name=name)) for name in names}
        figures[str(relation)] = {
            "chains": len(every),
            "traces": sum(one.steps > 0 for one in every),
            **{name: plain(value) for name, value in shown.items()},
        }
        said = "   ".join(f"{name} {text(value)}" for name, value in shown.items())
        print(f"   {relation}: {len(every)} chains, {figures[str(relation)]['traces']} traces; {said}")
    return figures


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default=EMBEDDED_MODEL)
    parser.add_argument("--functions", type=int, default=12)
    parser.add_argument("--most", type=int, default=50, help="maximum number of statements of a function")
    parser.add_argument(
        "--limit", type=int, default=40, help="maximum number of pairs per relation and function"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--method", action="append", choices=[str(one) for one in InferenceMethod])
    given = parser.parse_args()
    functions = chosen(given.data, given.most, given.functions, given.seed)
    if not functions:
        parser.error(f"no function has at most {given.most} statements: raise --most")
    statements = sum(len(one.statements) for _, one in functions)
    print(f"{len(functions)} functions, {statements} statements; micro and macro F1, precision, recall")
    figures: dict[str, Any] = {}
    with load(given.model, Options(threads=given.threads, context=4096)) as model:
        for method in [InferenceMethod(one) for one in given.method or InferenceMethod]:
            begun = time.monotonic()
            found = examined(model, functions, method, given.limit, given.seed)
            figures[method] = {"agreement": rows(method, found)}
            if found[0].asked:
                figures[method]["questions"] = ranked(found)
            if found[0].traces:
                figures[method]["traces"] = traced(found)
            figures[method]["seconds"] = round(time.monotonic() - begun, 1)
            print(f"   {figures[method]['seconds']:.0f} s", flush=True)
    print(json.dumps({"benchmark": "dependence_inference", "functions": len(functions), "methods": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
