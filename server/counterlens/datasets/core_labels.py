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
        line: The line.
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
        names = list(dict.fromkeys(one.variable for one in instances))
        return cls(tuple(sorted(instances, key=lambda one: names.index(one.variable))))

    @classmethod
    def read(cls, text: str) -> CoreLabels:
        """Read the labels in a file of CoRe: a small, fixed subset of YAML."""
        return cls.of(list({one.node: one for one in _read(text)}.values()))  # the last of two is used

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
        """For each node, the nodes that depend on it in one step."""
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
        """Every node on which a node depends, over any number of steps; itself, too, if it is on a cycle."""
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
        """The instances on which an instance depends, over one step or more."""
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
