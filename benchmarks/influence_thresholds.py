"""Prints F1 by the minimum influence of an edge, on the functions with which the method was developed.

    python benchmarks/influence_thresholds.py --data DATA --functions 40

DATA/cruxeval contains the dataset. The functions are those in even places, which `influence.py` does not
report. Only thresholds above 0 are considered: a statement whose scores do not change, or change no more than
with placebos, shows no dependence. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from influence_cases import subjects

from counterlens.metrics.agreement import Agreement
from counterlens.models import load
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options
from counterlens.probes.dependence.estimators import THRESHOLDS, infer_influence
from counterlens.probes.dependence.examined import Relation, true_edges

Scored = list[tuple[float, bool]]


def agreement(scored: Scored, threshold: float) -> Agreement:
    """The agreement of the pairs whose influence is at least a threshold with the true ones."""
    found = {at for at, (value, _) in enumerate(scored) if value >= threshold}
    return Agreement.of(found, {at for at, (_, true) in enumerate(scored) if true})


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default=EMBEDDED_MODEL)
    parser.add_argument("--functions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    chosen = [subject for subject, _ in subjects(given.data, given.seed, first=0)][: given.functions]
    scored: dict[Relation, Scored] = {relation: [] for relation in Relation}
    with load(given.model, Options(threads=given.threads, context=2048)) as model:
        for done, subject in enumerate(chosen, 1):
            influence = infer_influence(model, subject)
            for relation in Relation:
                true = true_edges(subject, relation)
                scored[relation] += [
                    (value, pair in true) for pair, value in influence.scores(relation).items()
                ]
            print(f"\r{done} of {len(chosen)} functions", end="", file=sys.stderr)
    print(file=sys.stderr)
    figures = {}
    for relation, pairs in scored.items():
        above = sorted({round(value, 3) for value, _ in pairs if value > 0})
        best = max(above, key=lambda least: agreement(pairs, least).f1 or 0.0)
        used = THRESHOLDS[relation]
        figures[str(relation)] = {
            "pairs": len(pairs),
            "true": sum(true for _, true in pairs),
            "best": best,
            "f1": agreement(pairs, best).f1,
            "used": used,
            "f1 as used": agreement(pairs, used).f1,
        }
        print(f"{relation:8}", figures[str(relation)])
    print(json.dumps({"benchmark": "influence_thresholds", "functions": len(chosen), "figures": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
