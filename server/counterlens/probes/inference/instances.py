"""Instances of variables, as CoRe asks about them (Xie et al. 2025): a variable in the line that concerns it.

Rules:

- A statement that binds variables, or changes their objects, has one instance for each of them; one that
  binds nothing (a condition, a `return`) has one for each variable that it reads.
- An instance depends directly on the instances whose values its statement reads; one that is only read, on
  those of its own variable. CoRe's question is about the transitive closure of that.
- A line depends on a branch's line where control dependence leads there, directly or not. Only branches and
  loops are asked about as what decides: nothing else can.
- Docstrings and the function's header are decided by nothing, and nothing is asked about them.
- Nothing is asked about an instance and itself, nor about two in one line: CoRe names them by their lines.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from counterlens.dependence import Kind
from counterlens.metrics.agreement import closure
from counterlens.probes.inference.prompts import Relation
from counterlens.probes.inference.subject import Part, Subject


@dataclass(frozen=True, slots=True, order=True)
class Instance:
    """A variable in a statement; for control dependence the statement alone.

    Attributes:
        statement: The statement's id.
        variable: Its name; empty for control.
    """

    statement: int
    variable: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Question:
    """Does one instance depend on another one?

    Attributes:
        relation: By control or by data.
        source: What may be depended on.
        target: What may depend on it.
    """

    relation: Relation
    source: Instance
    target: Instance


def questions(subject: Subject, relation: Relation) -> dict[Question, bool]:
    """All questions about a function, by their source, with what is true by its dependence graph."""
    found = _data(subject) if relation is Relation.DATA else _control(subject)
    line = {part.statement.id: part.statement.line for part in subject.parts}
    sources, targets, true = found
    return {
        Question(relation, source, target): (source, target) in true
        for source in sources
        for target in targets
        if line[source.statement] != line[target.statement]
    }


Found = tuple[list[Instance], list[Instance], set[tuple[Instance, Instance]]]
"""What may be depended on, what may depend on it, and what does."""


def _data(subject: Subject) -> Found:
    bound: dict[int, list[Instance]] = {}
    read: dict[int, list[Instance]] = {}
    for part in subject.parts:
        into = bound if part.binds else read
        into[part.statement.id] = [
            Instance(part.statement.id, name) for name in sorted(part.binds or part.names)
        ]
    every = [one for found in (bound, read) for instances in found.values() for one in instances]
    number = {one: at for at, one in enumerate(every)}
    direct = set()
    for edge in subject.dependences.edges:
        source = number.get(Instance(edge.source, edge.variable))
        if edge.kind is Kind.CONTROL or source is None:
            continue
        for target in bound.get(edge.target, ()):
            direct.add((source, number[target]))
        same = Instance(edge.target, edge.variable)
        if edge.target in read and same in number:
            direct.add((source, number[same]))
    true = {(every[a], every[b]) for a, b in closure(direct)}
    sources = [one for instances in bound.values() for one in instances]
    header = {part.statement.id for part in subject.parts if part.statement.id == 0 and part.binds}
    return sources, [one for one in every if one.statement not in header], true


def _control(subject: Subject) -> Found:
    direct = {(e.source, e.target) for e in subject.dependences.edges if e.kind is Kind.CONTROL}
    true = {(Instance(a), Instance(b)) for a, b in closure(direct)}
    deciding = [Instance(part.statement.id) for part in subject.parts if part.branch]
    text = [part.statement.id for part in subject.parts if _text(part)]
    decided = [Instance(part.statement.id) for part in subject.parts if part.statement.id not in {0, *text}]
    return deciding, decided, true


def _text(part: Part) -> bool:
    """Whether a statement is a docstring or the like."""
    return isinstance(part.node, ast.Expr) and isinstance(part.node.value, ast.Constant)
