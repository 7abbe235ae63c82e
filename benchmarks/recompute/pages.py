"""The tables of the results pages, from the records in docs/results/records: `python pages.py [--check]`.

Imports nothing from Counterlens. A page has places such as

    <!-- records: cacp | average mutation effect | cacp-humaneval-smollm2 cacp-humaneval-0.5b -->
    <!-- end of records -->

with the script of this folder, one of its tables, and the folders of records, which become the rows between
the two lines. `--check` writes nothing, and fails if a cell of a page differs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "docs" / "results"
PLACE = re.compile(r"(<!-- records: (.+?) \| (.+?) \| (.+?) -->\n).*?(<!-- end of records -->)", re.DOTALL)
MUTATIONS = ["rename-random", "rename-shuffle", "if-else-flip", "independent-swap", "def-use-break"]
HEADS = {
    "average mutation effect": ["model", "original accuracy", *MUTATIONS],
    "average mutation effect, repair": ["model", "original accuracy", *MUTATIONS],
    "complementary operators": ["model", "from", "to", "effect", "effect back", "pairs", "pairs back"],
    "counterfactual pairs": ["model", *MUTATIONS, "all"],
    "discriminating pairs": [
        *("model", "mutation", "pairs", "effect", "discriminating", "informative there", "effect there"),
        "copied there",
    ],
    "confidence and correctness": [
        *("model", "pieces", "n", "functions", "right", "AUROC", "Brier skill", "calibration error"),
    ],
    "reliability of chances": ["model", "pieces", "chance", "mean chance", "right", "count"],
    "statements by kind": ["model", "kind", "statements", "mean probability", "right"],
    "statements by confidence": ["model", "mean probability", "right", "share"],
}
FEW = 10
"""Below this number of cases, a share says how many there are."""


@cache
def recomputed(script: str, records: str) -> dict:
    """All tables of one folder of records, from the script that is written from the paper."""
    folder = RESULTS / "records" / records
    command = [sys.executable, str(HERE / f"{script}.py"), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)[str(folder)]


def cell(value) -> str:
    """A cell as the pages write it: shares in percent with their interval and, if there are few, their n."""
    if not isinstance(value, dict):
        return "--" if value is None else str(value)
    if value["value"] is None:
        return "--"
    signed = value["low"] < 0 or "count" not in value
    if signed:
        return f"{value['value']:+.2f} [{value['low']:+.2f}, {value['high']:+.2f}]"
    shown = f"{value['value']:.0%} [{value['low']:.0%}, {value['high']:.0%}]".replace("%", " %")
    return f"{shown}, n = {value['n']}" if value["n"] < FEW else shown


def table(script: str, title: str, folders: str) -> str:
    """One table in Markdown, with the rows of all folders."""
    head = HEADS[title]
    rows = [row for folder in folders.split() for row in recomputed(script, folder).get(title, ())]
    lines = [head, ["---"] * len(head), *([cell(value) for value in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(page: str) -> str:
    """The text of a page with all of its tables."""
    return PLACE.sub(lambda place: f"{place[1]}\n{table(*place.group(2, 3, 4))}\n{place[5]}", page)


def main() -> int:
    """Fill the pages, or compare them."""
    different = 0
    for path in sorted(RESULTS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        if before == after:
            continue
        different += 1
        print(path.relative_to(RESULTS))
        if "--check" not in sys.argv:
            path.write_text(after, encoding="utf-8")
    return 1 if different and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
