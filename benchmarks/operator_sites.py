"""Counts the operator pairs of a dataset, and those of the kinds of Ahmed et al. 2024, without a model.

python benchmarks/operator_sites.py DATA/humaneval-x/humaneval_java.jsonl.gz
"""

from __future__ import annotations

import json
import sys
from collections import Counter

from counterlens.datasets import open_dataset
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.operator.pairs import CHANGES, pairings


def main(data: str) -> None:
    """Print one row per change, then all as one JSON line."""
    every: Counter[str] = Counter()
    published: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    targets = targets_of(open_dataset(data))
    for target in targets:
        for pair in pairings(target.document, target.qualname).pairs:
            every[pair.change] += 1
            published[pair.change] += pair.published
            if pair.change in {"operand-swap", "block-swap"}:
                forms[f"{pair.change}, {pair.form}"] += 1
    for change in CHANGES:
        print(f"{change:24}{every[change]:6}{published[change]:6} of the paper's kinds")
    for form, count in sorted(forms.items()):
        print(f"{form:48}{count:6}")
    counts = {"functions": len(targets), "pairs": every, "published": published, "forms": forms}
    print(json.dumps(counts, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
