"""CoRe's labels (Xie et al. 2025): which variables of a function depend on which, by data and by control.

An instance is a variable in a line. A label lists the instances from which its value comes directly
(`datadep`) and those of the conditions that directly decide about its line (`controldep`); `reset: False`
marks an instance that its line only reads, and `Null` is the variable of a line without one. There are three
tasks:

- data: chains of `datadep`, between instances;
- control: chains of `controldep`, between lines;
- information flow: chains of both, between instances.

An instance that is only read is not a source of data or of information. Dependences, the sources of an
instance, and direct steps are defined as in CoRe's evaluation, including its corner cases: a line is a source
of its own control only through another variable in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

CoreNode = tuple[str, int]
"""A variable and its line; for control, the line with an empty name."""

NO_VARIABLE = "Null"
_HEAD = re.compile(r"  (\w+) (\d+): *")
_KEY = re.compile(r" *(datadep|controldep):")
_SOURCE = re.compile(r" *- (\w+) (\d+)")


class CoreTask(StrEnum):
    """The subject of CoRe's questions; the values are CoRe's own."""

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
        variable: Its name; `Null` if the line has none.
        binds: Whether the line assigns or changes it.
        data: The instances from which its value comes directly.
        control: The instances of the conditions that directly decide about its line.
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
    """The instances of one function, in the order of the labels: those of one variable are adjacent."""

    instances: tuple[LabelledInstance, ...]

    @classmethod
    def of(cls, instances: Sequence[LabelledInstance]) -> CoreLabels:
        """Labels from instances in any order."""
        names = list(dict.fromkeys(instance.variable for instance in instances))
        return cls(tuple(sorted(instances, key=lambda instance: names.index(instance.variable))))

    @classmethod
    def read(cls, text: str) -> CoreLabels:
        """Read the labels in a file of CoRe: a small, fixed subset of YAML."""
        return cls.of(
            list({instance.node: instance for instance in _read(text)}.values())
        )  # the last of two is used

    @cached_property
    def known(self) -> dict[CoreNode, LabelledInstance]:
        """The instances by variable and line."""
        return {instance.node: instance for instance in self.instances}

    def targets(self, task: CoreTask) -> list[CoreNode]:
        """Instances that can depend on others."""
        if task is CoreTask.CONTROL:
            return [("", line) for line in sorted({instance.line for instance in self.instances})]
        return [instance.node for instance in self.instances if instance.variable != NO_VARIABLE]

    def candidates(self, task: CoreTask) -> list[CoreNode]:
        """Instances that others can depend on."""
        if task is CoreTask.CONTROL:
            return [
                ("", line)
                for line in sorted({line for instance in self.instances for _, line in instance.control})
            ]
        return [instance.node for instance in self.instances if instance.binds]

    def direct(self, task: CoreTask) -> dict[CoreNode, set[CoreNode]]:
        """For each node, the nodes that depend on it in one step."""
        dependents: dict[CoreNode, set[CoreNode]] = {}
        if task is CoreTask.CONTROL:
            first: dict[int, LabelledInstance] = {}
            for instance in self.instances:
                first.setdefault(instance.line, instance)
            for line, instance in first.items():
                for _, before in instance.control:
                    dependents.setdefault(("", before), set()).add(("", line))
            return dependents
        for instance in self.instances:
            for source in self._before(instance, task):
                dependents.setdefault(source, set()).add(instance.node)
        return dependents

    def sources(self, task: CoreTask, target: CoreNode) -> frozenset[CoreNode]:
        """Every node on which a node depends, over any number of steps; itself, too, if it is on a cycle."""
        if task is CoreTask.CONTROL:
            return self._control_sources(target[1])
        start = self.known.get(target)
        if start is None:
            return frozenset()
        reached = self._reached(start, task)
        nodes = {node for node in reached if node != target and self._binds(node)}
        if target in reached and (task is CoreTask.DATA or start.binds):
            nodes.add(target)
        return frozenset(nodes)

    def _control_sources(self, line: int) -> frozenset[CoreNode]:
        start = next((instance for instance in self.instances if instance.line == line), None)
        if start is None:
            return frozenset()
        reached = self._reached(start, CoreTask.CONTROL) - {start.node}
        return frozenset(("", before) for _, before in reached)

    def _reached(self, start: LabelledInstance, task: CoreTask) -> set[CoreNode]:
        """The instances on which an instance depends, over one step or more."""
        reached: set[CoreNode] = set()
        open_ = [start]
        while open_:
            for node in self._before(open_.pop(), task) - reached:
                reached.add(node)
                if node in self.known:
                    open_.append(self.known[node])
        return reached

    def _before(self, instance: LabelledInstance, task: CoreTask) -> Set[CoreNode]:
        if task is CoreTask.DATA:
            return instance.data
        return instance.control if task is CoreTask.CONTROL else instance.data | instance.control

    def _binds(self, node: CoreNode) -> bool:
        return node in self.known and self.known[node].binds


def _read(text: str) -> Iterator[LabelledInstance]:
    head: CoreNode | None = None
    binds, into = True, ""
    sources: dict[str, set[CoreNode]] = {}
    for line in text.partition("variables:")[2].splitlines():
        if named := _HEAD.fullmatch(line):
            if head is not None:
                yield _instance(head, sources, binds=binds)
            head, binds, into, sources = (named[1], int(named[2])), True, "", {}
        elif re.match(r" *reset: *[Ff]alse", line):
            binds = False
        elif key := _KEY.match(line):
            into = key[1]
        elif into and (source := _SOURCE.match(line)):
            sources.setdefault(into, set()).add((source[1], int(source[2])))
    if head is not None:
        yield _instance(head, sources, binds=binds)


def _instance(head: CoreNode, sources: dict[str, set[CoreNode]], *, binds: bool) -> LabelledInstance:
    variable, line = head
    data, control = (frozenset(sources.get(key, ())) for key in ("datadep", "controldep"))
    return LabelledInstance(variable, line, binds and variable != NO_VARIABLE, data, control)
