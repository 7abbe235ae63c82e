"""Measures how well the dependence graph, and rules without a model, answer CoRe's questions.

    python benchmarks/core_sources.py DATA/core
    python benchmarks/core_sources.py DATA/core-java --language java

The folder is one for `core_agreement.py`. The questions, by the protocol core (docs/results/core.md), are
about all pairs of instances (for control: lines) on different lines, and about all sources of each instance;
human labels are the truth. The later lines of a statement count as its first. The output gives, for each
task, precision, recall and F1 over all pairs, and the mean F1 and the share of exact matches over the lists
of sources. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from core_agreement import SUFFIXES, analysed

from counterlens.datasets.core import CoreLabels, CoreNode, CoreTask
from counterlens.errors import SourceError
from counterlens.metrics.agreement import Agreement
from counterlens.metrics.bootstrap import mean
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.published import first_lines, labels_of_graph, labels_of_rules

BY = {"graph": labels_of_graph, "rules": labels_of_rules}


def compare(folder: Path, language: str = "python") -> dict[str, dict[str, dict[str, float | None]]]:
    """The figures of the graph and of the rules, by task."""
    pairs: dict[tuple[CoreTask, str], Agreement] = {}
    lists: dict[tuple[CoreTask, str], list[tuple[float | None, bool]]] = {}
    for path in sorted((folder / "code").glob(f"*.{SUFFIXES[language]}")):
        try:
            subject = ExaminedFunction.of(analysed(path, language))
        except SourceError:
            continue
        people = CoreLabels.read((folder / "label" / f"{path.stem}.yaml").read_text(encoding="utf-8"))
        first = first_lines(subject)
        for by, made in BY.items():
            theirs = made(subject)
            for task in CoreTask:
                candidates = {_first(node, first) for node in people.candidates(task)}
                for target in people.targets(task):
                    true = {_first(node, first) for node in people.sources(task, target)}
                    found = theirs.sources(task, _first(target, first))
                    both = Agreement.of(found, true)
                    exact = found == true
                    lists.setdefault((task, by), []).append((1.0 if exact else both.f1, exact))
                    elsewhere = {node for node in candidates if node[1] != first.get(target[1], target[1])}
                    one = Agreement.of(found & elsewhere, true & elsewhere)
                    pairs[task, by] = pairs.get((task, by), Agreement()) + one
    return {
        task.words: {
            by: {
                "precision": pairs[task, by].precision,
                "recall": pairs[task, by].recall,
                "f1": pairs[task, by].f1,
                "lists": len(lists[task, by]),
                "mean f1 of lists": mean(f1 for f1, _ in lists[task, by]),
                "exact match": mean(float(exact) for _, exact in lists[task, by]),
            }
            for by in BY
        }
        for task in CoreTask
    }


def _first(node: CoreNode, first: dict[int, int]) -> CoreNode:
    return node[0], first.get(node[1], node[1])


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", choices=("python", "java"), default="python")
    given = parser.parse_args()
    found = compare(given.folder, given.language)
    for task, figures in found.items():
        for by, one in figures.items():
            said = "  ".join(f"{name} {value:.3f}" for name, value in one.items() if value is not None)
            print(f"{task:20}{by:8}{said}")
    print(json.dumps({"benchmark": "core_sources", "figures": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
