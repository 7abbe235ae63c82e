"""The dependences of an unlabelled function, in CoRe's terms: by graph or rule.

A statement has an instance of each variable that it binds or changes; a statement without such variables, and
the header of a branch or loop, also has one of each variable that it reads; a statement without variables has
the instance `Null`, as in CoRe's labels. So the dependence graph, and the rules of `rules.py`, answer the
same questions as labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from counterlens.datasets.core_labels import NO_VARIABLE, CoreLabels, CoreNode, LabelledInstance
from counterlens.dependence import Kind
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.parts import Part, StatementPair
from counterlens.probes.dependence.rules import ruled

Flow = tuple[int, int, str]
"""The ids of the statement that a value comes from and of the statement that reads it, and the variable."""


def labels_of_graph(subject: ExaminedFunction) -> CoreLabels:
    """The dependence graph as labels."""
    edges = subject.dependences.edges
    return _labels(
        subject,
        [(edge.source, edge.target, edge.variable) for edge in edges if edge.kind is not Kind.CONTROL],
        [(edge.source, edge.target) for edge in edges if edge.kind is Kind.CONTROL],
    )


def labels_of_rules(subject: ExaminedFunction) -> CoreLabels:
    """The dependences by indentation and recurring names, as labels."""
    flows = [
        (source, target, name)
        for source, target in ruled(subject, Relation.DATA)
        for name in {read.name for read in subject.parts[target].reads} & subject.parts[source].binds
    ]
    return _labels(subject, flows, ruled(subject, Relation.CONTROL))


def first_lines(subject: ExaminedFunction) -> dict[int, int]:
    """Return, for each line of the function, the first line of its statement."""
    found: dict[int, int] = {}
    for part in subject.parts:
        for line in range(part.statement.line, part.statement.end_line + 1):
            found.setdefault(line, part.statement.line)
    return found | {part.statement.line: part.statement.line for part in subject.parts}


def _labels(
    subject: ExaminedFunction, flows: Iterable[Flow], controls: Iterable[StatementPair]
) -> CoreLabels:
    binds = {part.statement.id: set(part.binds) for part in subject.parts}
    data: dict[int, set[CoreNode]] = {}
    of_name: dict[tuple[int, str], set[CoreNode]] = {}
    for source, target, name in flows:
        binds[source].add(name)
        node = name, subject.parts[source].statement.line
        data.setdefault(target, set()).add(node)
        of_name.setdefault((target, name), set()).add(node)
    control: dict[int, set[CoreNode]] = {}
    for source, target in controls:
        part = subject.parts[source]
        names = _variables(part, binds[source])
        control.setdefault(target, set()).update((name, part.statement.line) for name in names)
    found: dict[CoreNode, LabelledInstance] = {}
    for part in subject.parts:
        at = part.statement.id
        for name in _variables(part, binds[at]):
            bound = name in binds[at]
            before = data.get(at, set()) if bound else of_name.get((at, name), set())
            node = name, part.statement.line
            same = found.get(node)  # from another statement on the line
            found[node] = LabelledInstance(
                *node,
                binds=bound or bool(same and same.binds),
                data=frozenset(before) | (same.data if same else frozenset()),
                control=frozenset(control.get(at, ())) | (same.control if same else frozenset()),
            )
    return CoreLabels.of(list(found.values()))


def _variables(part: Part, binds: Set[str]) -> list[str]:
    """The variables that a statement binds; if none, or for a branch or loop, also those that it reads."""
    read = part.names if part.branch or not binds else frozenset[str]()
    return sorted(binds | read) or [NO_VARIABLE]
