"""The program dependence graph of one function: statements, and labelled edges between them.

Rules:

- An edge leads from the cause to the dependent statement: from a branch to the statements that it decides
  about, from a definition to a use.
- The nodes of the control-flow graph are merged into their statements. A dependence between two parts of a
  statement (the target of a `for` depends on there being an element) is not reported; that of a node on
  itself (the head of a loop) is.
- A `finally` body has several copies; a statement in it depends on a branch if one arc of that certainly
  leads to some copy of it, and another arc may lead past all of them.
- Reachable code does not depend on unreachable code.
- Dependence on the call of the function is not an edge; `Dependences.unconditional` has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from counterlens.dependence.cfg import (
    ENTRY,
    EXIT,
    NOWHERE,
    Arc,
    ControlFlowGraph,
    control_dependence,
    joint_control_dependence,
)
from counterlens.dependence.effects import variable_name
from counterlens.dependence.reaching import data_dependence

_OUTCOMES = {Arc.TRUE: "true", Arc.FALSE: "false"}


class Kind(StrEnum):
    """The kind of an edge."""

    CONTROL = "control"
    NAME = "name"
    HEAP = "heap"


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One dependence.

    Attributes:
        source: The id of the statement on which the other depends.
        target: The id of the dependent statement.
        kind: Control; data through a name; data through an object (attribute, subscript, mutating call).
        variable: The variable of a data dependence; empty for control.
        outcome: For control dependence, the outcome of the branch: `true`, `false`, or empty if it has
            neither.
    """

    source: int
    target: int
    kind: Kind
    variable: str = ""
    outcome: str = ""


class Dependences:
    """The dependences of one function.

    Attributes:
        function: Its qualified name; `<module>` for the module's top-level statements.
        language: The id of its language.
    """

    def __init__(
        self,
        function: str,
        text: str,
        statements: StatementTable,
        graph: ControlFlowGraph,
        *,
        language: str = "python",
    ) -> None:
        self.function = function
        self.language = language
        self.graph = graph
        self._text = text
        self._statements = statements
        self._reachable = graph.reachable()

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The function's statements, by id."""
        return self._statements.listed(self._text)

    @property
    def nodes(self) -> tuple[Any, ...]:
        """The syntax node of each statement, by id; the positions are those in the whole source.

        They are of Python's own parser for Python, and of tree-sitter for languages with braces.
        """
        return tuple(self._statements.nodes)

    @property
    def last_line(self) -> int:
        """The last line of the function, which must have a header."""
        return self._statements.last_line

    @property
    def source(self) -> str:
        """The source that contains the function."""
        return self._text

    @cached_property
    def edges(self) -> frozenset[Edge]:
        """All direct dependences."""
        return frozenset(self._control() | self._data())

    @cached_property
    def control(self) -> set[tuple[int, int]]:
        """Direct control dependence, as (line of the branch, line of the dependent statement)."""
        line = self._statements.line
        return {(line(e.source), line(e.target)) for e in self.edges if e.kind is Kind.CONTROL}

    @cached_property
    def data(self) -> set[tuple[int, int, str]]:
        """Data dependence, as (line of the definition, line of the use, variable)."""
        line = self._statements.line
        return {
            (line(e.source), line(e.target), e.variable) for e in self.edges if e.kind is not Kind.CONTROL
        }

    def transitive_control(self) -> set[tuple[int, int]]:
        """The transitive closure of control dependence, in lines."""
        return self._closed([edge for edge in self.edges if edge.kind is Kind.CONTROL])

    def transitive(self) -> set[tuple[int, int]]:
        """The transitive closure of both together, in lines: the relation that defines slices."""
        return self._closed(list(self.edges))

    def _closed(self, edges: list[Edge]) -> set[tuple[int, int]]:
        after: dict[int, set[int]] = {}
        for edge in edges:
            after.setdefault(edge.source, set()).add(edge.target)
        line = self._statements.line
        pairs = set()
        for start in after:
            seen: set[int] = set()
            stack = list(after[start])
            while stack:
                node = stack.pop()
                if node not in seen:
                    seen.add(node)
                    stack.extend(after.get(node, ()))
            pairs |= {(line(start), line(node)) for node in seen}
        return pairs

    @cached_property
    def unconditional(self) -> frozenset[int]:
        """Ids of the statements that run at least once in every call of the function that terminates."""
        return frozenset(
            self.graph.statement[node]
            for branch, _, node in self._decided
            if branch == ENTRY and self.graph.statement[node] != NOWHERE
        )

    @cached_property
    def by_name(self) -> frozenset[int]:
        """Ids of the statements that look variables up by name, and so may read any that reaches them."""
        number = self.graph.statement
        return frozenset(number[node] for node, effects in enumerate(self.graph.effects) if effects.by_name)

    @cached_property
    def _decided(self) -> list[tuple[int, Arc, int]]:
        """Control dependence between nodes: branch, arc, dependent node."""
        arcs = self.graph.control_arcs()
        successors = [[target for target, _ in each] for each in arcs]
        copied = self.graph.copied
        number = self.graph.statement
        decisions = [
            (branch, arcs[branch][which][1], node)
            for branch, which, node in control_dependence(successors, EXIT)
            if not copied or number[node] not in copied
        ]
        for copies in copied.values():
            leading = self._leading_past(successors, copies)
            for branch, which in joint_control_dependence(leading, EXIT, set(copies)):
                decisions += [(branch, arcs[branch][which][1], node) for node in copies]
        return decisions

    def _leading_past(self, successors: list[list[int]], copies: list[int]) -> list[list[int]]:
        """Control flow as seen by a statement with several copies.

        For each stretch without one of the copies, the last arc of its node, which leads around the stretch,
        is left out: it ends where control certainly leaves the stretch, possibly after all copies.
        """
        leading = successors.copy()
        for node, stretch in self.graph.around.items():
            if not any(stretch.first <= copy <= stretch.last for copy in copies):
                leading[node] = successors[node][:-1]
        return leading

    def _control(self) -> set[Edge]:
        edges = set()
        for branch, arc, node in self._decided:
            for decider, outcome in self._deciders(branch, arc):
                edge = None if decider == ENTRY else self._between(decider, node)
                if edge is not None:
                    edges.add(Edge(*edge, Kind.CONTROL, outcome=_OUTCOMES.get(outcome, "")))
        return edges

    def _deciders(self, branch: int, arc: Arc) -> Iterator[tuple[int, Arc]]:
        """A branch; if it only marks the end of a `try` body, also the decisions about reaching that."""
        seen = {(branch, arc)}
        stack = [(branch, arc)]
        while stack:
            decider = stack.pop()
            yield decider
            if decider[1] is Arc.FALSE and decider[0] in self.graph.completing:
                around = self._decided_about.get(decider[0], set()) - seen
                seen |= around
                stack += around

    @cached_property
    def _decided_about(self) -> dict[int, set[tuple[int, Arc]]]:
        """For each node that marks the end of a `try` body, the decisions in the body about reaching it."""
        deciders: dict[int, set[tuple[int, Arc]]] = {}
        for branch, arc, node in self._decided:
            if self.graph.completing.get(node, node) < branch < node:
                deciders.setdefault(node, set()).add((branch, arc))
        return deciders

    def _data(self) -> set[Edge]:
        edges = set()
        for source, target, variable, heap in data_dependence(self.graph):
            if self._reachable[source] or not self._reachable[target]:
                number = self.graph.statement
                kind = Kind.HEAP if heap else Kind.NAME
                if number[source] != NOWHERE and number[target] != NOWHERE:
                    edges.add(Edge(number[source], number[target], kind, variable_name(variable)))
        return edges

    def _between(self, source: int, target: int) -> tuple[int, int] | None:
        number = self.graph.statement
        start, end = number[source], number[target]
        if NOWHERE in (start, end) or (start == end and source != target):
            return None
        if target in self.graph.deciding or (self._reachable[target] and not self._reachable[source]):
            return None
        return start, end


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    Attributes:
        id: Its number in the function, from 0.
        line: Its first line in the file, from 1.
        end_line: Its last line; for a compound statement, the last line of its header.
        text: Its source, for a compound statement its header only; further lines keep their indentation.
    """

    id: int
    line: int
    end_line: int
    text: str


class StatementTable(Protocol):
    """The numbering of one function's statements, in any language.

    Attributes:
        header: The number of the function's header; -1 if it has none.
    """

    header: int

    @property
    def nodes(self) -> Sequence[Any]:
        """The syntax node of each statement, of the parser that its language uses."""

    @property
    def last_line(self) -> int:
        """The last line of the function, which must have a header."""

    def line(self, number: int) -> int:
        """The first line of a statement, from 1."""

    def listed(self, text: str) -> tuple[Statement, ...]:
        """The statements with their lines and texts.

        Args:
            text: The source that contains them.
        """
