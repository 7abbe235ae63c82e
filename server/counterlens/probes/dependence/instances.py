"""Instances of variables in the sense of CoRe (Xie et al. 2025): a variable on a line that involves it.

Rules:

- A statement that binds variables, or changes their objects, has one instance for each of them; one that
  binds nothing (a condition, a `return`) has one for each variable that it reads.
- An instance depends directly on the instances whose values its statement reads; an instance that is only
  read depends on those of its own variable. CoRe's question is about the transitive closure.
- A line depends on a branch's line if there is a control dependence, direct or not. Only branches and loops
  are possible sources: nothing else decides what runs.
- Docstrings and the function's header have no control dependence, and no question is about them.
- No question is about an instance and itself, nor about two on one line: CoRe names them by their lines.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from counterlens.dependence import Kind
from counterlens.metrics.agreement import closure
from counterlens.probes.dependence.examined import ExaminedFunction, Relation

MOST_QUESTIONS = 60
"""Default number of questions per relation and function."""


@dataclass(frozen=True, slots=True, order=True)
class Instance:
    """A variable in a statement; for control dependence only the statement.

    Attributes:
        statement: The statement's id.
        variable: Its name; empty for control.
    """

    statement: int
    variable: str = ""


@dataclass(frozen=True, slots=True, order=True)
class DependenceQuestion:
    """The question whether one instance depends on another.

    Attributes:
        relation: Control or data.
        source: The possible source.
        target: The possible target.
    """

    relation: Relation
    source: Instance
    target: Instance


@dataclass(frozen=True, slots=True)
class InstanceGraph:
    """The instances of a function and their direct dependences, of one relation.

    Attributes:
        sources: The possible sources.
        targets: The possible targets.
        direct: For each instance, those that depend directly on it.
    """

    sources: tuple[Instance, ...]
    targets: tuple[Instance, ...]
    direct: Mapping[Instance, Set[Instance]]

    def chains(self) -> set[tuple[Instance, Instance]]:
        """The dependences, direct or not."""
        every = sorted({*self.direct, *chain.from_iterable(self.direct.values())})
        number = {instance: at for at, instance in enumerate(every)}
        edges = (
            (number[instance], number[after])
            for instance, dependents in self.direct.items()
            for after in dependents
        )
        return {(every[a], every[b]) for a, b in closure(edges)}


def graph(subject: ExaminedFunction, relation: Relation) -> InstanceGraph:
    """The instances of a function, by its dependence graph."""
    return _data(subject) if relation is Relation.DATA else _control(subject)


def questions(subject: ExaminedFunction, relation: Relation) -> dict[DependenceQuestion, bool]:
    """All questions about a function, ordered by source, with the true answers by its dependence graph."""
    instance_graph = graph(subject, relation)
    true = instance_graph.chains()
    line = {part.statement.id: part.statement.line for part in subject.parts}
    return {
        DependenceQuestion(relation, source, target): (source, target) in true
        for source in instance_graph.sources
        for target in instance_graph.targets
        if line[source.statement] != line[target.statement]
    }


def _data(subject: ExaminedFunction) -> InstanceGraph:
    bound: dict[int, list[Instance]] = {}
    read: dict[int, list[Instance]] = {}
    for part in subject.parts:
        into = bound if part.binds else read
        into[part.statement.id] = [
            Instance(part.statement.id, name) for name in sorted(part.binds or part.names)
        ]
    every = [
        instance
        for by_statement in (bound, read)
        for instances in by_statement.values()
        for instance in instances
    ]
    all_instances = set(every)
    direct: dict[Instance, set[Instance]] = {}
    for edge in subject.dependences.edges:
        source = Instance(edge.source, edge.variable)
        if edge.kind is Kind.CONTROL or source not in all_instances:
            continue
        after = direct.setdefault(source, set())
        after.update(bound.get(edge.target, ()))
        same = Instance(edge.target, edge.variable)
        if edge.target in read and same in all_instances:
            after.add(same)
    sources = [instance for instances in bound.values() for instance in instances]
    header = {part.statement.id for part in subject.parts if part.statement.id == 0 and part.binds}
    return InstanceGraph(
        tuple(sources), tuple(instance for instance in every if instance.statement not in header), direct
    )


def _control(subject: ExaminedFunction) -> InstanceGraph:
    direct: dict[Instance, set[Instance]] = {}
    for edge in subject.dependences.edges:
        if edge.kind is Kind.CONTROL:
            direct.setdefault(Instance(edge.source), set()).add(Instance(edge.target))
    deciding = tuple(Instance(part.statement.id) for part in subject.parts if part.branch)
    text = [part.statement.id for part in subject.parts if part.described]
    decided = tuple(
        Instance(part.statement.id) for part in subject.parts if part.statement.id not in {0, *text}
    )
    return InstanceGraph(deciding, decided, direct)


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """The numbers of questions.

    Attributes:
        true: Number of asked questions whose true answer is yes.
        unreadable: Number of unreadable answers; they count as no.
    """

    asked: int
    possible: int
    true: int
    unreadable: int = 0

    @property
    def complete(self) -> bool:
        """Whether all possible questions were asked."""
        return self.asked == self.possible


def balance(
    questions: Sequence[Item], true: Callable[[Item], bool], limit: int | None, seed: int = 0
) -> list[Item]:
    """At most `limit` questions, in their order: half of them true, if possible.

    Args:
        true: Returns whether the true answer to a question is yes.
        limit: Maximum number; None for all.
        seed: Random seed of the sample.
    """
    if limit is None or len(questions) <= limit:
        return list(questions)
    draw = random.Random(seed)  # noqa: S311 - a sample, no secret
    yes = [i for i, question in enumerate(questions) if true(question)]
    no = [i for i, question in enumerate(questions) if not true(question)]
    half = limit // 2
    some = min(len(yes), max(half, limit - len(no)))
    chosen = draw.sample(yes, some) + draw.sample(no, min(len(no), limit - some))
    return [questions[i] for i in sorted(chosen)]
