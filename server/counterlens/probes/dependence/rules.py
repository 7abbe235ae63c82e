"""Rules that use no model: the baselines of dependence inference.

Control: the innermost header around a statement, by indentation. Data: a recurring name, which one statement
binds and a later one reads. `docs/results/influence.md` shows their figures.
"""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.probes.dependence.examined import ExaminedFunction, Relation, StatementPair

RULES = {Relation.CONTROL: "indentation", Relation.DATA: "recurring names"}
"""Names of the rules."""


def pairs_by_rule(subject: ExaminedFunction, relation: Relation) -> set[StatementPair]:
    """The direct dependences by the rule; the source always comes before the target."""
    return set(_enclosing(subject) if relation is Relation.CONTROL else _recurring(subject))


def recurs(subject: ExaminedFunction, pair: StatementPair) -> bool:
    """Whether the second statement reads a name that the first one binds."""
    source, target = (subject.parts[statement] for statement in pair)
    return any(occurrence.name in source.binds for occurrence in target.reads)


def _recurring(subject: ExaminedFunction) -> Iterator[StatementPair]:
    count = len(subject.parts)
    pairs = ((source, target) for source in range(count) for target in range(source + 1, count))
    return (pair for pair in pairs if recurs(subject, pair))


def _enclosing(subject: ExaminedFunction) -> Iterator[StatementPair]:
    """Each statement after its nearest less indented predecessor, if that is a branch or a loop."""
    columns = [part.span[0] - subject.data.rfind(b"\n", 0, part.span[0]) for part in subject.parts]
    around: list[int] = []
    for statement, column in enumerate(columns):
        while around and columns[around[-1]] >= column:
            around.pop()
        if around and subject.parts[around[-1]].branch:
            yield around[-1], statement
        around.append(statement)
