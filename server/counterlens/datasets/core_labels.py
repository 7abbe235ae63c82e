"""CoRe's labels (Xie et al. 2025): which variables of a function depend on which, by data and by control.

An instance is a variable in a line. A label gives it the instances that its value comes from directly
(`datadep`) and those of the conditions that decide directly about its line (`controldep`); `reset: False`
marks one that its line only reads, and `Null` stands for the variable of a line without one. Three tasks
follow:

- data: chains of `datadep`, between instances;
- control: chains of `controldep`, between lines;
- information flow: chains of both, between instances.

An instance that is only read is no source of data or of information. What depends on what, what the sources
of an instance are, and which steps are direct is as CoRe's evaluation has it, in its corners, too: a line
is a source of its own control only by way of another variable in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

CoreNode = tuple[str, int]
"""A variable and its line; of control the line with an empty name."""

NO_VARIABLE = "Null"
_HEAD = re.compile(r"  (\w+) (\d+): *")
_KEY = re.compile(r" *(datadep|controldep):")
_SOURCE = re.compile(r" *- (\w+) (\d+)")


class CoreTask(StrEnum):
    """The objects of CoRe's questions; the values are CoRe's own."""

    DATA = "data"
    CONTROL = "control"
    FLOW = "infoflow"

    @property
    def words(self) -> str:
        """Its usual name."""
        return {"data": "data dependence", "control": "control dependence"}.get(
            self.value, "information flow"
        )


@dataclass(frozen=True, slots=True)
class LabelledInstance:
    """One variable in one line.

    Attributes:
        variable: Its name; `Null` where the line has none.
        line: The line.
        binds: Whether the line gives it a value, or changes it.
        data: The instances that its value comes from directly.
        control: The instances of the conditions that decide directly about its line.
    """

    variable: str
    line: int
    binds: bool
    data: frozenset[CoreNode]
    control: frozenset[CoreNode]

    @property
    def node(self) -> CoreNode:
        """Its variable and line."""
        return self.variable, self.line


@dataclass(frozen=True)
class CoreLabels:
    """The instances of one function, in the order of the labels: all of one variable side by side."""

    instances: tuple[LabelledInstance, ...]

    @classmethod
    def of(cls, instances: Sequence[LabelledInstance]) -> CoreLabels:
        """Instances in any order."""
        names = list(dict.fromkeys(one.variable for one in instances))
        return cls(tuple(sorted(instances, key=lambda one: names.index(one.variable))))

    @classmethod
    def read(cls, text: str) -> CoreLabels:
        """The labels in a file of CoRe: a small, fixed part of YAML."""
        return cls.of(list({one.node: one for one in _read(text)}.values()))  # the last of two counts

    @cached_property
    def known(self) -> dict[CoreNode, LabelledInstance]:
        """The instances by variable and line."""
        return {one.node: one for one in self.instances}

    def targets(self, task: CoreTask) -> list[CoreNode]:
        """Instances that can depend on others."""
        if task is CoreTask.CONTROL:
            return [("", line) for line in sorted({one.line for one in self.instances})]
        return [one.node for one in self.instances if one.variable != NO_VARIABLE]

    def candidates(self, task: CoreTask) -> list[CoreNode]:
        """Instances that others can depend on."""
        if task is CoreTask.CONTROL:
            return [
                ("", line) for line in sorted({line for one in self.instances for _, line in one.control})
            ]
        return [one.node for one in self.instances if one.binds]

    def direct(self, task: CoreTask) -> dict[CoreNode, set[CoreNode]]:
        """Return, for each node, the nodes that depend on it in one step."""
        found: dict[CoreNode, set[CoreNode]] = {}
        if task is CoreTask.CONTROL:
            first: dict[int, LabelledInstance] = {}
            for one in self.instances:
                first.setdefault(one.line, one)
            for line, one in first.items():
                for _, before in one.control:
                    found.setdefault(("", before), set()).add(("", line))
            return found
        for one in self.instances:
            for source in self._before(one, task):
                found.setdefault(source, set()).add(one.node)
        return found

    def sources(self, task: CoreTask, target: CoreNode) -> frozenset[CoreNode]:
        """Return every node that a node depends on, over any number of steps; itself if it is on a cycle."""
        if task is CoreTask.CONTROL:
            return self._control_sources(target[1])
        start = self.known.get(target)
        if start is None:
            return frozenset()
        reached = self._reached(start, task)
        found = {node for node in reached if node != target and self._binds(node)}
        if target in reached and (task is CoreTask.DATA or start.binds):
            found.add(target)
        return frozenset(found)

    def _control_sources(self, line: int) -> frozenset[CoreNode]:
        start = next((one for one in self.instances if one.line == line), None)
        if start is None:
            return frozenset()
        reached = self._reached(start, CoreTask.CONTROL) - {start.node}
        return frozenset(("", before) for _, before in reached)

    def _reached(self, start: LabelledInstance, task: CoreTask) -> set[CoreNode]:
        """The instances before an instance, in one step or more."""
        reached: set[CoreNode] = set()
        open_ = [start]
        while open_:
            for node in self._before(open_.pop(), task) - reached:
                reached.add(node)
                if node in self.known:
                    open_.append(self.known[node])
        return reached

    def _before(self, one: LabelledInstance, task: CoreTask) -> Set[CoreNode]:
        if task is CoreTask.DATA:
            return one.data
        return one.control if task is CoreTask.CONTROL else one.data | one.control

    def _binds(self, node: CoreNode) -> bool:
        return node in self.known and self.known[node].binds


def _read(text: str) -> Iterator[LabelledInstance]:
    head: CoreNode | None = None
    binds, into = True, ""
    found: dict[str, set[CoreNode]] = {}
    for line in text.partition("variables:")[2].splitlines():
        if named := _HEAD.fullmatch(line):
            if head is not None:
                yield _instance(head, found, binds=binds)
            head, binds, into, found = (named[1], int(named[2])), True, "", {}
        elif re.match(r" *reset: *[Ff]alse", line):
            binds = False
        elif key := _KEY.match(line):
            into = key[1]
        elif into and (source := _SOURCE.match(line)):
            found.setdefault(into, set()).add((source[1], int(source[2])))
    if head is not None:
        yield _instance(head, found, binds=binds)


def _instance(head: CoreNode, found: dict[str, set[CoreNode]], *, binds: bool) -> LabelledInstance:
    variable, line = head
    data, control = (frozenset(found.get(key, ())) for key in ("datadep", "controldep"))
    return LabelledInstance(variable, line, binds and variable != NO_VARIABLE, data, control)
