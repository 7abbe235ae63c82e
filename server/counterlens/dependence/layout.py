"""Lowers statements to a control-flow graph: the part common to all languages.

Rules:

- Statements follow one another; unreachable code is lowered like any other, and no arc leads out of it.
- A jump passes outwards through the constructs around it until one intercepts it.
- An implicit exception goes to the innermost `try`: for data flow always, for control dependence only with
  `Rules.implicit_exceptions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Generic, TypeVar

from counterlens.dependence.cfg import EXIT, NOWHERE, Arc, ControlFlowGraph, Loose
from counterlens.dependence.effects import Effects, Rules


class Jump(Enum):
    """The ways to leave a statement other than by reaching the next one."""

    RETURN = auto()
    BREAK = auto()
    CONTINUE = auto()
    RAISE = auto()


_LABELLED = frozenset({Jump.BREAK, Jump.CONTINUE})


@dataclass(slots=True)
class Loop:
    """A loop, or another target of `break` and `continue`.

    Attributes:
        breaks: Loose arcs of the jumps out of it.
        continues: Loose arcs of the jumps to its head.
        labels: The labels by which a jump may name it.
        plain: The kinds of jumps without a label that it intercepts.
    """

    breaks: Loose = field(default_factory=list)
    continues: Loose = field(default_factory=list)
    labels: frozenset[str] = frozenset()
    plain: frozenset[Jump] = frozenset({Jump.BREAK, Jump.CONTINUE})

    def takes(self, jump: Jump, label: str) -> bool:
        """Whether a jump ends here; with a label, if `label` is not empty."""
        if label:
            return jump in _LABELLED and label in self.labels
        return jump in self.plain


@dataclass(slots=True)
class Handlers:
    """A `try` with `except` clauses.

    Attributes:
        catches: The names of the exceptions that are certainly caught; `*` stands for all.
        raised: Loose arcs of the exceptions raised inside.
        escapes: Whether one of them may be of another type.
        risky: Loose arcs of the implicit exceptions inside.
    """

    catches: frozenset[str]
    raised: Loose = field(default_factory=list)
    escapes: bool = False
    risky: Loose = field(default_factory=list)


@dataclass(slots=True)
class Finally:
    """A `try` with a `finally` clause.

    Attributes:
        pending: Loose arcs of the jumps that pass through it, by kind and label.
        risky: Loose arcs of the implicit exceptions inside.
    """

    pending: dict[tuple[Jump, str], Loose] = field(default_factory=dict)
    risky: Loose = field(default_factory=list)


@dataclass(slots=True)
class Managed:
    """A `with`.

    Attributes:
        swallows: Whether its manager is known to swallow exceptions.
        swallowed: Loose arcs of the exceptions that it may swallow.
        risky: Loose arcs of the implicit exceptions inside, if it swallows.
    """

    swallows: bool
    swallowed: Loose = field(default_factory=list)
    risky: Loose = field(default_factory=list)


Frame = Loop | Handlers | Finally | Managed


Syntax = TypeVar("Syntax")
"""A syntax node of the language."""


class FlowLayout(Generic[Syntax]):
    """The lowering of one function to a control-flow graph.

    Attributes:
        graph: The graph so far.
        frames: The constructs around the current statement, innermost last.
        rules: The chosen rules.
        copying: Number of `finally` bodies around the current statement.
    """

    def __init__(self, header: int, rules: Rules) -> None:
        self.graph = ControlFlowGraph(header)
        self.frames: list[Frame] = []
        self.rules = rules
        self.copying = 0
        self._live_from: int | None = None  # in unreachable code: the number of frames around it

    def lower_statement(self, statement: Syntax, loose: Loose) -> Loose:
        """Lower a statement at the end of loose arcs; returns the loose arcs after it."""
        raise NotImplementedError

    def caught(self, exception: str | None, catches: frozenset[str]) -> bool:
        """Whether clauses that name some classes certainly catch an exception."""
        return "*" in catches or exception in catches

    def body(self, statements: Sequence[Syntax], loose: Loose) -> Loose:
        """Lower statements in sequence; returns the loose arcs after them, if their end is reachable."""
        for number, statement in enumerate(statements):
            if self._live_from is None and all(arc is Arc.PHANTOM for _, arc in loose):
                self._live_from = len(self.frames)
                ends = self.body(statements[number:], loose)
                self._live_from = None
                self.graph.connect([(node, Arc.PHANTOM) for node, _ in ends], EXIT)
                return []
            loose = self.lower_statement(statement, loose)
        return loose

    def add(self, number: int, effects: Effects | None, loose: Loose, *, raises: bool) -> int:
        """Add a node of a statement at the end of loose arcs; `raises`: the statement itself may raise."""
        node = self.graph.node(number, effects)
        self.graph.connect(loose, node)
        if self.copying:
            self.graph.copied.setdefault(number, []).append(node)
        if self.rules.implicit_exceptions and raises:
            if not self._protected([(node, Arc.NEXT)]):
                self.graph.connect([(node, Arc.NEXT)], EXIT)
        elif self.frames:
            self._protected([(node, Arc.RAISED)])
        return node

    def branch_of(self, node: int) -> int:
        """Add a node that decides as part of another node's statement, but is not itself decided about."""
        new = self.graph.node(self.graph.statement[node])
        self.graph.deciding.add(new)
        self._protected([(new, Arc.RAISED)])
        return new

    def unseen(self, effects: Effects | None, loose: Loose) -> int:
        """Add a node that belongs to no statement."""
        node = self.graph.node(NOWHERE, effects)
        self.graph.connect(loose, node)
        self._protected([(node, Arc.RAISED)])
        return node

    def jump(self, jump: Jump, loose: Loose, exception: str | None = None, label: str = "") -> None:
        """Connect loose arcs to the target of a jump.

        Args:
            jump: The kind of jump.
            exception: The name of the exception's class, if the source shows it.
            label: The label of the loop or statement that is left or continued, if the source names it.
        """
        for frame in reversed(self.frames[self._live_from or 0 :]):
            if isinstance(frame, Loop):
                if frame.takes(jump, label):
                    (frame.breaks if jump is Jump.BREAK else frame.continues).extend(loose)
                    return
            elif isinstance(frame, Finally):
                frame.pending.setdefault((jump, label), []).extend(loose)
                return
            elif jump is Jump.RAISE and isinstance(frame, Handlers):
                frame.raised += loose
                frame.escapes |= not self.caught(exception, frame.catches)
                return
            elif jump is Jump.RAISE and isinstance(frame, Managed):
                arc = Arc.NEXT if frame.swallows else Arc.RAISED
                frame.swallowed += [(node, arc) for node, _ in loose]
        self.graph.connect(loose, EXIT)

    def never_left(self, head: int) -> None:
        """Record that only an exception leaves an endless loop."""
        for frame in reversed(self.frames[self._live_from or 0 :]):
            if isinstance(frame, Handlers):
                frame.risky.append((head, Arc.PHANTOM))
                return
            if isinstance(frame, Finally):
                break
        self.jump(Jump.RETURN, [(head, Arc.PHANTOM)])

    def raise_implicitly(self, loose: Loose) -> None:
        """Propagate an exception that no `raise` in the function raised: for data flow, not for control."""
        self._protected([(node, Arc.RAISED) for node, arc in loose if arc is not Arc.PHANTOM])

    def pass_on(self, loose: Loose) -> None:
        """Propagate an exception after a `finally` body."""
        if self.rules.implicit_exceptions:
            self.jump(Jump.RAISE, loose)
            return
        self.raise_implicitly(loose)
        self.graph.connect([(node, Arc.PHANTOM) for node, _ in loose], EXIT)

    def _protected(self, raised: Loose) -> bool:
        """Send implicit exceptions to their handlers; returns whether there is a `try` around them."""
        for frame in reversed(self.frames):
            if isinstance(frame, Managed) and frame.swallows:
                frame.risky += raised
            elif isinstance(frame, Handlers | Finally):
                frame.risky += raised
                return True
        return False
