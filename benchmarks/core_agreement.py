"""Measures how well the dependence analysis agrees with CoRe's human labels of Python and Java functions.

    python benchmarks/core_agreement.py DATA/core             # the figures, and each disagreement
    python benchmarks/core_agreement.py DATA/core --quiet     # the figures alone
    python benchmarks/core_agreement.py DATA/core --no-resets # `sort` and `clear` hide no earlier changes
    python benchmarks/core_agreement.py DATA/core-java --language java

The folder contains `code/NAME_FIRST_LAST.py` (or `.java`) and `label/NAME_FIRST_LAST.yaml`, as in CoRe
(Xie et al. 2025); FIRST and LAST are the lines of the labelled function. A label `variable line` lists the
lines on which that line is control dependent (`controldep`) and, if the line uses the variable without
binding it (`reset: False`), the lines of the reaching definitions (`datadep`). The edges are compared first:
the control dependence of every labelled line, and the definitions of every labelled use. `Null` instead of a
variable means a line without one. A statement over several lines counts as one: labels of its later lines
count as labels of its first. If several statements begin on one line (`if (x) y = 1;`, the three parts of a
`for`), a label is about those with its variable.

CoRe itself asks about chains: is one line control dependent on another over any number of steps, and does the
value of one variable reach another variable? So the closures are compared, too: of lines, and of `variable
line`, where all reads of a labelled line flow into every variable that it binds, unless the analysis is more
precise (`Effects.into`: in `a[i++] = b`, only `i` flows into `i`). In closures, each pair of labelled ends
counts once.

Functions in Python 2 are included if they are valid Python 3, too; the others are listed and left out. The
last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from counterlens.dependence import Dependences, Edge, Kind, Rules, analyse
from counterlens.dependence.effects import DEFAULT, Effects, variable_name
from counterlens.errors import SourceError
from counterlens.metrics.agreement import closure
from counterlens.python.dependence.rules import PythonRules

End = TypeVar("End", bound=Hashable)

LEAST = {
    "python": {"control": (0.95, 0.94), "data": (0.94, 0.99)},
    "java": {"control": (0.95, 0.95), "data": (0.94, 0.97)},
}
SUFFIXES = {"python": "py", "java": "java"}


@dataclass
class Label:
    """The labels of one variable on one line."""

    variable: str
    line: int
    use: bool = False
    data: set[tuple[str, int]] = field(default_factory=set)
    control: set[int] = field(default_factory=set)


@dataclass
class Count:
    """The edges of both sides, and those of only one, each with a description."""

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
        """The share of the analysis's edges that are labelled."""
        return self.both / max(1, self.both + len(self.invented))

    @property
    def recall(self) -> float:
        """The share of the labelled edges that the analysis finds."""
        return self.both / max(1, self.both + len(self.missed))

    def figures(self) -> dict[str, float]:
        """As plain data."""
        return {
            "precision": round(self.precision, 3),
            "recall": round(self.recall, 3),
            "both": self.both,
            "not_labelled": len(self.invented),
            "not_found": len(self.missed),
        }


def labels(text: str) -> Iterator[Label]:
    """The labels of one file; a small, fixed part of YAML."""
    label: Label | None = None
    into = ""
    for line in text.partition("variables:")[2].splitlines():
        if head := re.fullmatch(r" +(\w+) (\d+): *", line):
            if label is not None:
                yield label
            label = Label(head[1], int(head[2]))
        elif label is not None and re.match(r" *reset: *False", line):
            label.use = True
        elif key := re.match(r" *(datadep|controldep):", line):
            into = key[1]
        if (source := re.match(r" *(?:- *|\w+: *)(\w+) (\d+)", line)) and label is not None:
            if into == "datadep":
                label.data.add((source[1], int(source[2])))
            else:
                label.control.add(int(source[2]))
    if label is not None:
        yield label


def analysed(path: Path, language: str = "python", rules: Rules = DEFAULT) -> Dependences:
    """The dependences of a labelled function, which keeps its line numbers.

    Raises:
        SourceError: it does not parse, for example because it is not valid Python 3.
    """
    name, first, last = path.stem.rsplit("_", 2)
    lines = path.read_text(encoding="utf-8").split("\n")
    if language == "python":
        inside = lines[int(first) - 1 : int(last)]
        program = analyse("\n" * (int(first) - 1) + textwrap.dedent("\n".join(inside)), language, rules)
        return program.dependences(program.functions[0])
    program = analyse("\n".join(lines), language, rules)
    for function in program.functions:
        found = program.dependences(function)
        own = function.partition("(")[0].rpartition(".")[2]
        labelled = any(int(first) <= statement.line <= int(last) for statement in found.statements)
        if labelled and name.endswith(own):
            return found
    raise SourceError(f"there is no function in lines {first} to {last}")


@dataclass
class LabelAgreement:
    """The agreement over all functions.

    Attributes:
        direct: Edges, by kind.
        transitive: Pairs of ends of chains, by kind.
        left_out: Functions that do not parse, with the reason.
    """

    direct: dict[str, Count] = field(default_factory=lambda: {"control": Count(), "data": Count()})
    transitive: dict[str, Count] = field(default_factory=lambda: {"control": Count(), "data": Count()})
    left_out: dict[str, str] = field(default_factory=dict)


def compare(folder: Path, language: str = "python", rules: Rules = DEFAULT) -> LabelAgreement:
    """Compare all functions."""
    comparison = LabelAgreement()
    for path in sorted((folder / "code").glob(f"*.{SUFFIXES[language]}")):
        try:
            graph = analysed(path, language, rules)
        except SourceError as error:
            comparison.left_out[path.stem] = error.message
            continue
        text = (folder / "label" / f"{path.stem}.yaml").read_text(encoding="utf-8")
        labelled = by_statement(labels(text), graph)
        compare_edges(path.name, labelled, graph, comparison.direct)
        compare_chains(path.name, labelled, graph, comparison.transitive)
    return comparison


def by_statement(labelled: Iterable[Label], graph: Dependences) -> list[Label]:
    """Labels in which every line of a statement is replaced by its first line."""
    first: dict[int, int] = {}
    for statement in graph.statements:
        for line in range(statement.line, statement.end_line + 1):
            first.setdefault(line, statement.line)
    first |= {statement.line: statement.line for statement in graph.statements}
    return [
        Label(
            label.variable,
            first.get(label.line, label.line),
            label.use,
            {(variable, first.get(line, line)) for variable, line in label.data},
            {first.get(line, line) for line in label.control},
        )
        for label in labelled
    ]


def compare_edges(
    name: str, labelled: Sequence[Label], graph: Dependences, counts: Mapping[str, Count]
) -> None:
    """Compare the edges of each label."""
    lines = Lines(graph)
    for label in labelled:
        where = f"{name}:{label.line}"
        controls = {str(source) for source in lines.deciders(label)}
        counts["control"].add(where, controls, {str(line) for line in label.control})
        if label.use and label.variable != "Null":
            sources = {f"{variable} {line}" for variable, line in lines.sources(label)}
            counts["data"].add(where, sources, {f"{variable} {line}" for variable, line in label.data})


def compare_chains(
    name: str, labelled: Sequence[Label], graph: Dependences, counts: Mapping[str, Count]
) -> None:
    """Compare the ends of all chains, as in CoRe's questions."""
    found = Lines(graph)
    lines = {label.line for label in labelled}
    said = closure((source, label.line) for label in labelled for source in label.control)
    _add_ends(name, counts["control"], graph.transitive_control(), said, lines)
    ends = {(label.variable, label.line) for label in labelled if label.variable != "Null"}
    flows = {
        (source, (label.variable, label.line))
        for label in labelled
        if label.variable != "Null"
        for source in found.sources(label)
    }
    told = {(source, (label.variable, label.line)) for label in labelled for source in label.data}
    _add_ends(name, counts["data"], closure(flows), closure(told), ends)


class Lines:
    """The dependences of the statements of a label, as lines.

    Args:
        graph: The dependences of the function.
    """

    def __init__(self, graph: Dependences) -> None:
        self.line = {statement.id: statement.line for statement in graph.statements}
        self.into: dict[int, list[Edge]] = {}
        for edge in graph.edges:
            self.into.setdefault(edge.target, []).append(edge)
        self.named: dict[tuple[str, int], set[int]] = {}
        self.bound: dict[tuple[str, int], set[int]] = {}
        self.begun: dict[int, set[int]] = {}
        for number, line in self.line.items():
            self.begun.setdefault(line, set()).add(number)
        self.flowing: dict[tuple[int, str], set[str]] = {}
        for number, effects in zip(graph.graph.statement, graph.graph.effects, strict=True):
            if number in self.line:
                self._note(number, effects)

    def _note(self, number: int, effects: Effects) -> None:
        bound = effects.strong | effects.weak | {variable for variable, _ in effects.changed}
        for variable in bound:
            self.bound.setdefault((variable_name(variable), self.line[number]), set()).add(number)
        for variable, sources in effects.into.items():
            known = self.flowing.setdefault((number, variable_name(variable)), set())
            known.update(variable_name(source) for source in sources)
        for variable in bound | effects.reads | effects.own | effects.later:
            self.named.setdefault((variable_name(variable), self.line[number]), set()).add(number)

    def about(self, label: Label) -> set[int]:
        """The statements of a label."""
        which = self.named if label.use else self.bound
        key = (label.variable, label.line)
        return which.get(key) or self.named.get(key) or self.begun.get(label.line, set())

    def deciders(self, label: Label) -> set[int]:
        """The lines on which the statements of a label are control dependent."""
        return {
            self.line[edge.source]
            for number in self.about(label)
            for edge in self.into.get(number, ())
            if edge.kind is Kind.CONTROL
        }

    def sources(self, label: Label) -> set[tuple[str, int]]:
        """The definitions that reach a labelled use, or the reads of a statement that binds the variable."""
        return {
            (edge.variable, self.line[edge.source])
            for number in self.about(label)
            for edge in self.into.get(number, ())
            if edge.kind is not Kind.CONTROL and self._flows(edge, label)
        }

    def _flows(self, edge: Edge, label: Label) -> bool:
        if label.use:
            return edge.variable == label.variable
        known = self.flowing.get((edge.target, label.variable))
        return known is None or edge.variable in known


def _add_ends(
    name: str, count: Count, graph: set[tuple[End, End]], said: set[tuple[End, End]], ends: Set[End]
) -> None:
    graph, said = ({pair for pair in pairs if set(pair) <= ends} for pairs in (graph, said))
    count.add(name, set(map(str, graph)), set(map(str, said)))


def main() -> int:
    """Print the figures; returns 1 if one is below its minimum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", choices=sorted(SUFFIXES), default="python")
    parser.add_argument("--quiet", action="store_true", help="do not list the disagreements")
    parser.add_argument("--no-resets", action="store_true", help="disable the rule for `sort` and `clear`")
    given = parser.parse_args()
    rules = PythonRules(resetting_methods=frozenset()) if given.no_resets else DEFAULT
    comparison = compare(given.folder, given.language, rules)
    for kind, count in comparison.direct.items():
        for title, edges in (("not labelled", count.invented), ("not found", count.missed)):
            for edge in () if given.quiet else edges:
                print(f"{kind:8}{title:14}{edge}")
    for name, reason in comparison.left_out.items():
        print(f"left out {name}: {reason}")
    for title, counts in (("", comparison.direct), ("transitive ", comparison.transitive)):
        for kind, count in counts.items():
            print(f"{title + kind:20}precision {count.precision:.3f}  recall {count.recall:.3f}")
    summary = {
        "benchmark": "core_agreement",
        "left_out": len(comparison.left_out),
        "figures": {kind: count.figures() for kind, count in comparison.direct.items()},
        "transitive": {kind: count.figures() for kind, count in comparison.transitive.items()},
    }
    print(json.dumps(summary))
    least = LEAST[given.language]
    direct = comparison.direct
    return int(any(c.precision < least[k][0] or c.recall < least[k][1] for k, c in direct.items()))


if __name__ == "__main__":
    sys.exit(main())
