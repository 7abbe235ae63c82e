"""Definitions and uses of variables in a piece of code, in the order of evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field

from counterlens.dependence.heap import Place


@dataclass(slots=True)
class Effects:
    """Variables by what a statement does with them.

    Attributes:
        reads: Read before the statement itself binds them.
        own: Read after the statement itself has bound them.
        later: Captured: read at some time from here on.
        parts: Places that are read, of variables that are not read as a whole.
        whole: Variables whose objects are read as a whole.
        strong: Bound for sure.
        weak: Bound perhaps.
        changed: Places that are changed.
        reset: Variables whose objects keep nothing of earlier changes.
        renewed: Places that keep nothing of earlier changes of them.
        killed: Deleted.
        floating: Bound at any time from here on.
        floating_changed: Places that are changed at any time from here on.
        star: Whether any name may be bound (`from m import *`).
        into: The values that flow into each bound or changed variable, if known to be fewer than all reads.
    """

    reads: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    parts: set[Place] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    strong: set[str] = field(default_factory=set)
    weak: set[str] = field(default_factory=set)
    changed: set[Place] = field(default_factory=set)
    reset: set[str] = field(default_factory=set)
    renewed: set[Place] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    floating: set[str] = field(default_factory=set)
    floating_changed: set[Place] = field(default_factory=set)
    star: bool = False
    into: dict[str, set[str]] = field(default_factory=dict)


def see(effects: Effects, variable: str, which: str = "") -> None:
    """Note that a variable is read now, or a part of its object."""
    if which:
        effects.parts.add((variable, which))
    else:
        effects.whole.add(variable)
    if variable in effects.strong:
        effects.own.add(variable)
        return
    if variable in effects.weak:
        effects.own.add(variable)
    effects.reads.add(variable)


def bind(effects: Effects, variable: str, *, perhaps: bool = False) -> None:
    """Note that a variable is bound now, or perhaps."""
    (effects.weak if perhaps else effects.strong).add(variable)
