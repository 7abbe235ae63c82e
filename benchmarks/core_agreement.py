"""How far the dependence analysis agrees with people: CoRe's labels of Python functions.

    python benchmarks/core_agreement.py DATA/core             # the figures, and each disagreement
    python benchmarks/core_agreement.py DATA/core --quiet     # the figures alone
    python benchmarks/core_agreement.py DATA/core --no-resets # `sort` and `clear` hide no earlier changes

The folder holds `code/NAME_FIRST_LAST.py` and `label/NAME_FIRST_LAST.yaml`, as CoRe (Xie et al. 2025) has
them; FIRST and LAST are the lines of the labelled function. A label `variable line` lists the lines that
decide whether that line runs (`controldep`) and, where the line uses the variable without binding it
(`reset: False`), the lines that the value may come from (`datadep`). Only these are compared: control
dependence of every labelled line, and the definitions of every labelled use. `Null` in the place of a
variable is a line without one. Functions in Python 2 are read where they happen to be Python 3, too; the
others are named and left out. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from counterlens.dependence import Dependences, Program, Rules
from counterlens.dependence.rules import DEFAULT
from counterlens.errors import SourceError

LEAST = {"control": (0.95, 0.94), "data": (0.94, 0.99)}


@dataclass
class Label:
    """What people say about one variable in one line."""

    variable: str
    line: int
    use: bool = False
    data: set[tuple[str, int]] = field(default_factory=set)
    control: set[int] = field(default_factory=set)


@dataclass
class Count:
    """Edges that both have, and that only one has, each with a description."""

    both: int = 0
    invented: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, where: str, found: set[str], labelled: set[str]) -> None:
        """Compare the edges of one label."""
        self.both += len(found & labelled)
        self.invented += [f"{where} {edge}" for edge in sorted(found - labelled)]
        self.missed += [f"{where} {edge}" for edge in sorted(labelled - found)]

    @property
    def precision(self) -> float:
        """The share of what was found that people say, too."""
        return self.both / max(1, self.both + len(self.invented))

    @property
    def recall(self) -> float:
        """The share of what people say that was found."""
        return self.both / max(1, self.both + len(self.missed))


def labels(text: str) -> Iterator[Label]:
    """The labels of one file; a small, fixed part of YAML."""
    label: Label | None = None
    into = ""
    for line in text.partition("variables:")[2].splitlines():
        if head := re.fullmatch(r"  (\w+) (\d+): *", line):
            if label is not None:
                yield label
            label = Label(head[1], int(head[2]))
        elif label is not None and re.match(r" *reset: False", line):
            label.use = True
        elif key := re.match(r" *(datadep|controldep):", line):
            into = key[1]
        elif (one := re.match(r" *- (\w+) (\d+)", line)) and label is not None:
            if into == "datadep":
                label.data.add((one[1], int(one[2])))
            else:
                label.control.add(int(one[2]))
    if label is not None:
        yield label


def analysed(path: Path, rules: Rules = DEFAULT) -> Dependences:
    """The dependences of a labelled function, which keeps its line numbers.

    Raises:
        SourceError: it is no valid Python 3.
    """
    first, last = path.stem.split("_")[-2:]
    lines = path.read_text(encoding="utf-8").split("\n")[int(first) - 1 : int(last)]
    program = Program("\n" * (int(first) - 1) + textwrap.dedent("\n".join(lines)), rules)
    return program.dependences(program.functions[0])


def compare(folder: Path, rules: Rules = DEFAULT) -> tuple[dict[str, Count], dict[str, str]]:
    """Compare all functions: the counts by kind, and the functions left out with the reason."""
    counts = {"control": Count(), "data": Count()}
    left_out: dict[str, str] = {}
    for path in sorted((folder / "code").glob("*.py")):
        try:
            found = analysed(path, rules)
        except SourceError as error:
            left_out[path.stem] = error.message
            continue
        text = (folder / "label" / f"{path.stem}.yaml").read_text(encoding="utf-8")
        for label in labels(text):
            where = f"{path.name}:{label.line}"
            controls = {str(source) for source, target in found.control if target == label.line}
            counts["control"].add(where, controls, {str(line) for line in label.control})
            if label.use and label.variable != "Null":
                sources = {
                    f"{variable} {line}"
                    for line, use, variable in found.data
                    if use == label.line and variable == label.variable
                }
                counts["data"].add(where, sources, {f"{variable} {line}" for variable, line in label.data})
    return counts, left_out


def main() -> int:
    """Print the figures; 1 where one is below what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quiet", action="store_true", help="do not name the disagreements")
    parser.add_argument("--no-resets", action="store_true", help="without the rule for `sort` and `clear`")
    given = parser.parse_args()
    rules = Rules(resetting_methods=frozenset()) if given.no_resets else DEFAULT
    counts, left_out = compare(given.folder, rules)
    for kind, count in counts.items():
        for title, edges in (("not labelled", count.invented), ("not found", count.missed)):
            for edge in () if given.quiet else edges:
                print(f"{kind:8}{title:14}{edge}")
    for name, reason in left_out.items():
        print(f"left out {name}: {reason}")
    figures = {}
    for kind, count in counts.items():
        figures[kind] = {"precision": round(count.precision, 3), "recall": round(count.recall, 3)}
        figures[kind] |= {
            "both": count.both,
            "not_labelled": len(count.invented),
            "not_found": len(count.missed),
        }
        print(f"{kind:8}precision {count.precision:.3f}  recall {count.recall:.3f}")
    print(json.dumps({"benchmark": "core_agreement", "left_out": len(left_out), "figures": figures}))
    return int(any(c.precision < LEAST[k][0] or c.recall < LEAST[k][1] for k, c in counts.items()))


if __name__ == "__main__":
    sys.exit(main())
