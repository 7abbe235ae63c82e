"""How often does a model hold on the examples? Probes each function of examples/ and counts.

    python benchmarks/examples.py [--model M] [--mutation ID] [--markdown]

No ratio and no timing: it is where the table in examples/README.md comes from.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from counterlens.probes.completion import Attempt, Pair, probe_completion

from counterlens.models import DEFAULT_MODEL, load
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

EXAMPLES = Path(__file__).parents[1] / "examples"
OUTCOMES = {
    (True, True): "held",
    (True, False): "only the original",
    (False, True): "only the counterfactual",
    (False, False): "neither",
}


def main() -> None:
    """Probe and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--mutation", default="if-else-flip")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    rows: list[tuple[str, Pair]] = []
    with load(options.model) as model:
        for path in sorted(EXAMPLES.glob("*.py")):
            if path.name.startswith("test_"):
                continue
            probe = probe_completion(
                model, Document.read(path), path.stem, best_sandbox(), mutations=[options.mutation]
            )
            rows += [(path.stem, pair) for pair in probe.pairs]
        name = model.info.name
    counts = Counter(_outcome(pair) for _, pair in rows)
    if options.markdown:
        print("| example | original | counterfactual | outcome |\n|---|---|---|---|")
        for stem, pair in rows:
            same = (
                ", the same code on both sides" if pair.copied and pair.effect and pair.effect.signed else ""
            )
            sides = f"{_judgement(pair.original)} | {_judgement(pair.mutated)}"
            print(f"| {stem} | {sides} | {_outcome(pair)}{same} |")
        print()
    print(f"{name}, {options.mutation}, {len(rows)} pairs: ", end="")
    print(", ".join(f"{outcome} {counts[outcome]}" for outcome in OUTCOMES.values()))
    print(json.dumps({"benchmark": "examples", "ratios": {}, "counts": counts}))


def _outcome(pair: Pair) -> str:
    return OUTCOMES[pair.original.verdict.passed, pair.mutated.verdict.passed]


def _judgement(attempt: Attempt) -> str:
    return attempt.verdict.judgement.replace("_", " ")


if __name__ == "__main__":
    main()
