"""Reaching definitions on bit sets, and the uses that they reach.

A definition is a node, a variable, and whether it binds the name or changes the object. It is a bit of a
Python integer; the definitions of one variable are adjacent. The equations are the usual ones,

    in(n) = union of out(p) over the predecessors p,    out(n) = (in(n) - kill(n)) | gen(n),

where certainly binding a name kills every other definition of it, object changes included, `del` does the
same, `Effects.reset` and `Effects.renewed` kill earlier changes of objects and places, and everything else
kills nothing. Definitions that may be made at any time after some node (`Effects.floating`) are never killed.
The uses of a captured variable are reached by the definitions that reach the capture or are made anywhere
after it.

Cost: nodes times definitions / 30 (the width of a digit), so nearly linear for functions of ordinary size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterlens.dependence.cfg import ControlFlowGraph
from counterlens.dependence.effects import Effects, Place, may_alias


@dataclass(slots=True)
class _Definitions:
    """All definitions of a function, numbered so that those of one variable are adjacent.

    Attributes:
        part: The part of the object that each changes (see `effects.Place`); None if it binds the name.
        range: The first number and the count of definitions, by variable.
        gen: The definitions that each node adds, as bits.
        kill: The definitions that each node kills, as bits.
    """

    node: list[int]
    part: list[str | None]
    range: dict[str, tuple[int, int]]
    gen: list[int]
    kill: list[int]


def data_dependence(graph: ControlFlowGraph) -> Iterator[tuple[int, int, str, bool]]:
    """Data dependence as (defining node, using node, variable, whether through the object)."""
    definitions = _number(graph)
    if not definitions.node:
        return
    successors = graph.data_successors()
    into = _solve(successors, definitions)
    behind = (
        _generated_after(successors, definitions) if any(effect.later for effect in graph.effects) else []
    )
    for node, effects in enumerate(graph.effects):
        for variable in effects.own:
            yield node, node, variable, False
        yield from _read(definitions, effects, node, into[node])
        for variable in effects.later:
            for number in _among(definitions, variable, into[node] | definitions.gen[node] | behind[node]):
                yield definitions.node[number], node, variable, definitions.part[number] is not None


def _read(
    definitions: _Definitions, effects: Effects, node: int, bits: int
) -> Iterator[tuple[int, int, str, bool]]:
    for variable in effects.reads:
        for number in _among(definitions, variable, bits):
            if definitions.part[number] is None:
                yield definitions.node[number], node, variable, False
    for variable, part in _places(effects):
        for number in _among(definitions, variable, bits):
            changed = definitions.part[number]
            if changed is not None and may_alias(changed, part):
                yield definitions.node[number], node, variable, True


def _places(effects: Effects) -> Iterator[Place]:
    for variable in effects.whole:
        yield variable, ""
    for part in effects.parts:
        if part[0] not in effects.whole:
            yield part


def _among(definitions: _Definitions, variable: str, bits: int) -> Iterator[int]:
    """The numbers of a variable's definitions among those in a bit set."""
    if variable not in definitions.range:
        return
    first, count = definitions.range[variable]
    bits = (bits >> first) & ((1 << count) - 1)
    while bits:
        low = bits & -bits
        yield first + low.bit_length() - 1
        bits ^= low


def _definitions_of(effects: Effects) -> Iterator[tuple[str, str | None, bool]]:
    """The definitions of a node, as (variable, part or None, whether nothing kills it)."""
    for variable in effects.strong:
        yield variable, None, False
    for variable in effects.weak - effects.strong:
        yield variable, None, False
    for variable, part in effects.changed:
        yield variable, part, False
    for variable in effects.floating:
        yield variable, None, True
    for variable, part in effects.floating_changed:
        yield variable, part, True


def _number(graph: ControlFlowGraph) -> _Definitions:
    made: dict[str, list[tuple[int, str | None, bool]]] = {}
    for node, effects in enumerate(graph.effects):
        for variable, part, floating in _definitions_of(effects):
            made.setdefault(variable, []).append((node, part, floating))
    numbering = _Definitions([], [], {}, [0] * len(graph), [0] * len(graph))
    killable = _Killable({}, {}, {})
    for variable, definitions in made.items():
        numbering.range[variable] = (len(numbering.node), len(definitions))
        for node, part, floating in definitions:
            bit = 1 << len(numbering.node)
            numbering.gen[node] |= bit
            if not floating:
                killable.add(variable, part, bit)
            numbering.node.append(node)
            numbering.part.append(part)
    for node, effects in enumerate(graph.effects):
        numbering.kill[node] = killable.killed_by(effects)
    return numbering


@dataclass(frozen=True, slots=True)
class _Killable:
    """Definitions that other definitions may kill, as bits.

    Attributes:
        all: All of them, by variable.
        changes: Those that change the object, by variable.
        places: Those that change the object, by place.
    """

    all: dict[str, int]
    changes: dict[str, int]
    places: dict[Place, int]

    def add(self, variable: str, part: str | None, bit: int) -> None:
        """Add a definition."""
        self.all[variable] = self.all.get(variable, 0) | bit
        if part is not None:
            self.changes[variable] = self.changes.get(variable, 0) | bit
            self.places[variable, part] = self.places.get((variable, part), 0) | bit

    def killed_by(self, effects: Effects) -> int:
        """The definitions that a node kills."""
        bits = 0
        for variable in effects.strong | effects.killed:
            bits |= self.all.get(variable, 0)
        for variable in effects.reset:
            bits |= self.changes.get(variable, 0)
        for place in effects.renewed:
            bits |= self.places.get(place, 0)
        return bits


def _solve(successors: list[list[int]], definitions: _Definitions) -> list[int]:
    """The definitions that reach each node, as bits."""
    order = _postorder(successors)
    order.reverse()
    into = [0] * len(successors)
    changed = True
    position = [0] * len(order)
    for at, node in enumerate(order):
        position[node] = at
    while changed:
        changed = False
        for node in order:
            out = (into[node] & ~definitions.kill[node]) | definitions.gen[node]
            for after in successors[node]:
                new = into[after] | out
                if new != into[after]:
                    into[after] = new
                    changed |= position[after] <= position[node]
    return into


def _generated_after(successors: list[list[int]], definitions: _Definitions) -> list[int]:
    """The definitions that may be made after each node, as bits."""
    order = _postorder(successors)
    behind = [0] * len(successors)
    changed = True
    while changed:
        changed = False
        for node in order:
            new = behind[node]
            for after in successors[node]:
                new |= definitions.gen[after] | behind[after]
            if new != behind[node]:
                behind[node] = new
                changed = True
    return behind


def _postorder(successors: list[list[int]]) -> list[int]:
    """All nodes in postorder: a node's successors precede it, except in loops."""
    order: list[int] = []
    seen = [False] * len(successors)
    for start in range(len(successors)):
        if seen[start]:
            continue
        seen[start] = True
        stack = [(start, iter(successors[start]))]
        while stack:
            node, rest = stack[-1]
            for after in rest:
                if not seen[after]:
                    seen[after] = True
                    stack.append((after, iter(successors[after])))
                    break
            else:
                order.append(node)
                stack.pop()
    return order
