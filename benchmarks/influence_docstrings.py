"""Measures whether influence changes without a function's docstring, on HumanEval, which has long ones.

    python benchmarks/influence_docstrings.py --data DATA                # ten functions
    python benchmarks/influence_docstrings.py --data DATA --functions 4

Each function is examined unchanged, without its docstring, and unchanged again with both kinds of dependence
in separate calls, which shows the effect of rounding. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ranking import auroc

from counterlens.dependence import Kind
from counterlens.models import Model, load
from counterlens.models.registry import Options
from counterlens.probes.dependence.estimators import (
    CONTROL_KINDS,
    DATA_KINDS,
    PairScores,
    control_scores,
    data_scores,
    looked_at,
)
from counterlens.probes.dependence.examined import ExaminedFunction, Part
from counterlens.probes.dependence.reactions import Intervention, Reaction, react
from counterlens.python.dependence.program import Program

MOST_STATEMENTS = 10


class Row(NamedTuple):
    """One pair of statements: its influence in the three ways, in nats, and whether it is an edge."""

    whole: float
    without: float
    repeated: float
    true: bool


def functions(data: Path) -> Iterator[tuple[ExaminedFunction, ExaminedFunction]]:
    """The functions with a docstring that are not long, each with and without it."""
    with gzip.open(data / "humaneval" / "HumanEval.jsonl.gz", "rt", encoding="utf-8") as lines:
        for one in map(json.loads, lines):
            source, name = one["prompt"] + one["canonical_solution"], one["entry_point"]
            nodes = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == name]
            if not nodes or ast.get_docstring(nodes[0]) is None:
                continue
            text = nodes[0].body[0]
            kept = source.splitlines()
            del kept[text.lineno - 1 : text.end_lineno]
            whole = ExaminedFunction.of(Program(source).dependences(name))
            if len(whole.parts) <= MOST_STATEMENTS:
                yield whole, ExaminedFunction.of(Program("\n".join(kept)).dependences(name))


def reactions(model: Model, subject: ExaminedFunction, kinds: Sequence[Intervention]) -> list[Reaction]:
    return [one for part in subject.parts for one in react(model, subject, part, kinds, looked_at=looked_at)]


def is_text(part: Part) -> bool:
    return isinstance(part.node, ast.Expr) and isinstance(part.node.value, ast.Constant)


def rows(model: Model, whole: ExaminedFunction, without: ExaminedFunction) -> Iterator[tuple[str, Row]]:
    """Every pair of statements, by kind of dependence."""
    places = {part.statement.id: at for at, part in enumerate(p for p in whole.parts if not is_text(p))}
    texts = {part.statement.id for part in whole.parts if is_text(part)}
    both = reactions(model, whole, DATA_KINDS + CONTROL_KINDS)
    shorter = reactions(model, without, DATA_KINDS + CONTROL_KINDS)
    again = reactions(model, whole, DATA_KINDS) + reactions(model, whole, CONTROL_KINDS)
    for name, control in (("data", False), ("control", True)):
        found: list[PairScores] = []
        for subject, seen in ((whole, both), (without, shorter), (whole, again)):
            kept = [one for one in seen if subject is without or one.target not in texts]
            found.append(control_scores(kept) if control else data_scores(subject, kept))
        edges = {(e.source, e.target) for e in whole.dependences.edges if (e.kind is Kind.CONTROL) == control}
        for (a, b), value in found[0].items():
            yield name, Row(value, found[1][places[a], places[b]], found[2][a, b], (a, b) in edges)


def summary(seen: Sequence[Row]) -> dict[str, float | None]:
    """The change of the scores, and of their ranking."""
    whole, without, repeated, true = (np.array(column) for column in zip(*seen, strict=True))
    return {
        "pairs": len(seen),
        "true": int(true.sum()),
        "moved by the docstring": float(np.abs(whole - without).mean()),
        "moved by rounding": float(np.abs(whole - repeated).mean()),
        "AUROC": auroc(whole, true),
        "AUROC without docstring": auroc(without, true),
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--functions", type=int, default=10)
    given = parser.parse_args()
    seen: dict[str, list[Row]] = {"data": [], "control": []}
    chosen = list(functions(given.data))
    chosen = chosen[:: max(1, len(chosen) // given.functions)][: given.functions]
    with load(options=Options(context=2048)) as model:
        for done, pair in enumerate(chosen, 1):
            for name, row in rows(model, *pair):
                seen[name].append(row)
            print(f"{done} of {len(chosen)} functions", file=sys.stderr)
    figures = {name: summary(found) for name, found in seen.items() if found}
    for name, figure in figures.items():
        print(name, ", ".join(f"{key} {value}" for key, value in figure.items()))
    print(json.dumps({"benchmark": "influence_docstrings", "functions": len(chosen), "figures": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
