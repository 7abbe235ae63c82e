"""Counts how often a model's pairs held on the functions of examples/.

    python benchmarks/examples.py [--model M] [--mutation ID] [--markdown]

It has no ratio and no timing; its output is the table in examples/README.md.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from counterlens.metrics.effects import PairOutcome
from counterlens.models import load
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.record import PairRecord, Side
from counterlens.probes.probe import Context, Target
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

EXAMPLES = Path(__file__).parents[1] / "examples"
OUTCOMES = {
    PairOutcome.HELD: "held",
    PairOutcome.LOST: "only the original",
    PairOutcome.GAINED: "only the counterfactual",
    PairOutcome.FAILED: "neither",
    PairOutcome.NOT_JUDGED: "not judged",
}


def main() -> None:
    """Probe and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=EMBEDDED_MODEL)
    parser.add_argument("--mutation", default="if-else-flip")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    rows: list[tuple[str, PairRecord]] = []
    probe = CompletionProbe()
    chosen = make(probe.options, {"mutations": [options.mutation]})
    with load(options.model) as model:
        for path in sorted(EXAMPLES.glob("*.py")):
            if path.name.startswith("test_"):
                continue
            target = Target(Document.read(path), path.stem)
            found = probe.run(Context(model, best_sandbox), target, chosen)
            rows += [(path.stem, pair) for pair in found.pairs]
        name = model.info.name
    counts = Counter(OUTCOMES[pair.outcome] for _, pair in rows)
    if options.markdown:
        print("| example | original | counterfactual | outcome |\n|---|---|---|---|")
        for stem, pair in rows:
            same = ", same code on both sides" if pair.copied and pair.effect and pair.effect.signed else ""
            sides = f"{_verdict(pair.original)} | {_verdict(pair.counterfactual)}"
            print(f"| {stem} | {sides} | {OUTCOMES[pair.outcome]}{same} |")
        print()
    print(f"{name}, {options.mutation}, {len(rows)} pairs: ", end="")
    print(", ".join(f"{outcome} {counts[outcome]}" for outcome in OUTCOMES.values()))
    print(json.dumps({"benchmark": "examples", "ratios": {}, "counts": counts}))


def _verdict(side: Side) -> str:
    return side.verdict.replace("_", " ")


if __name__ == "__main__":
    main()
