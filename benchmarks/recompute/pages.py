"""The tables of the results pages, from docs/results/records: `python pages.py [--check] [PAGE…]`.

Imports nothing from Counterlens. A page has places such as

    <!-- records: cacp | average mutation effect | cacp-humaneval-smollm2 cacp-humaneval-0.5b -->
    <!-- end of records -->

with the paper's name, one of the tables of `page_NAME.py`, and the folders of records. The table goes
between the two lines; folders that are not there yet are passed over. The picture of the index is drawn, too.
`--check` writes nothing, and fails if a cell of a page or the picture differs. Names of pages, such as
`codemind`, leave out all others.
"""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "docs" / "results"
PLACE = re.compile(r"(<!-- records: (.+?) \| (.+?) \| (.+?) -->\n).*?(<!-- end of records -->)", re.DOTALL)
FEW = 10
"""Below this number of cases, a share says how many there are."""


@cache
def recomputed(script: str, folders: str) -> dict:
    """The tables of a script that is written from the paper, from some folders of records."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module(f"page_{script}").page(kept(folders))


def kept(folders: str) -> list[Path]:
    """The folders of records that there are; `*` stands for all."""
    records = RESULTS / "records"
    paths = sorted(records.iterdir()) if folders == "*" else [records / name for name in folders.split()]
    return [path for path in paths if path.exists()]


def cell(value) -> str:
    """A cell as the pages write it: shares in percent with their interval and, if there are few, their n."""
    if isinstance(value, float):
        return f"{value:.2f}"
    if not isinstance(value, dict):
        return "--" if value is None else str(value)
    if value["value"] is None:
        return "--"
    if "count" in value:
        shown = f"{value['value']:.0%} [{value['low']:.0%}, {value['high']:.0%}]".replace("%", " %")
    elif value["low"] is None:
        return f"{value['value']:+.2f}, n = {value['n']}"
    else:
        digits = 3 if any(0 < abs(value[end]) < 0.005 for end in ("low", "high")) else 2
        shown = f"{value['value']:+.{digits}f} [{value['low']:+.{digits}f}, {value['high']:+.{digits}f}]"
    return f"{shown}, n = {value['n']}" if value["n"] < FEW else shown


def table(script: str, title: str, folders: str) -> str:
    """One table in Markdown, with the rows of all folders."""
    if not kept(folders):
        return "Not measured yet.\n"
    tables = recomputed(script, folders)
    if title not in tables:
        sys.exit(f"page_{script}.py gives no table {title!r}, but {', '.join(map(repr, tables))}")
    head, rows = tables[title]
    if not rows:
        return "Not measured yet.\n"
    lines = [head, ["---"] * len(head), *([cell(value) for value in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(page: str) -> str:
    """The text of a page with all of its tables."""
    return PLACE.sub(lambda place: f"{place[1]}\n{table(*place.group(2, 3, 4))}\n{place[5]}", page)


def drawn() -> str:
    """The picture of the index."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module("picture").svg(RESULTS / "records")


def main() -> int:
    """Fill the pages and draw the picture, or compare them."""
    different = 0
    paths = {path.stem: path for path in (*sorted(RESULTS.glob("*.md")), RESULTS / "models.svg")}
    names = [name for name in sys.argv[1:] if name != "--check"]
    if unknown := set(names) - paths.keys():
        sys.exit(f"there is no page {', '.join(sorted(unknown))}; there are {', '.join(paths)}")
    for path in (paths[name] for name in names or paths):
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after = filled(before) if path.suffix == ".md" else drawn()
        if before == after:
            continue
        different += 1
        print(path.relative_to(RESULTS))
        if "--check" not in sys.argv:
            path.write_text(after, encoding="utf-8")
    return 1 if different and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
