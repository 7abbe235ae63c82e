"""Lays out statements as a control-flow graph: the part common to all languages.

Rules:

- Statements follow one after the other; code that cannot be reached is laid out like any other, and nothing
  leads out of it.
- A jump goes outwards through what lies around it (`frames.py`) until something takes it.
- An implicit exception goes to the innermost `try`; data flows there, control does not see it unless
  `Rules.implicit_exceptions` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from counterlens.dependence.cfg import EXIT, NOWHERE, Arc, ControlFlowGraph, Loose
from counterlens.dependence.effects import Effects
from counterlens.dependence.frames import Finally, Frame, Handlers, Jump, Loop, Managed
from counterlens.dependence.rules import Rules

Syntax = TypeVar("Syntax")
"""A syntax node of the language."""


_NO_EXCEPTIONS = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException"})


class FlowLayout(Generic[Syntax]):
    """One function on its way to a control-flow graph.

    Attributes:
        graph: The graph so far.
        frames: The constructs around the current statement, innermost last.
        rules: The chosen rules.
        copying: How many `finally` bodies the statement at hand is inside of.
        dead_ends: Whether code behind a jump is taken to be out of reach; not so where there is `goto`.
    """

    def __init__(self, header: int, rules: Rules) -> None:
        self.graph = ControlFlowGraph(header)
        self.frames: list[Frame] = []
        self.rules = rules
        self.copying = 0
        self.dead_ends = True
        self._live_from: int | None = None  # in code that cannot be reached: the frames inside of it

    def lay(self, statement: Syntax, loose: Loose) -> Loose:
        """Lay out a statement behind loose arcs and give the loose arcs behind it."""
        raise NotImplementedError

    def caught(self, exception: str | None, catches: frozenset[str]) -> bool:
        """Whether clauses that name some classes catch an exception for sure."""
        if "*" in catches or exception in catches:
            return True
        return "Exception" in catches and exception is not None and exception not in _NO_EXCEPTIONS

    def body(self, statements: Sequence[Syntax], loose: Loose) -> Loose:
        """Lay out statements one after the other; what can be reached leads on."""
        for number, statement in enumerate(statements):
            if self._live_from is None and self.dead_ends and all(arc is Arc.PHANTOM for _, arc in loose):
                self._live_from = len(self.frames)
                ends = self.body(statements[number:], loose)
                self._live_from = None
                self.graph.connect([(node, Arc.PHANTOM) for node, _ in ends], EXIT)
                return []
            loose = self.lay(statement, loose)
        return loose

    def add(self, number: int, effects: Effects | None, loose: Loose, *, raises: bool) -> int:
        """Add a node of a statement behind loose arcs; whether the statement may raise by itself."""
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
        """Add a node that decides in the name of another one's statement, and is not decided about."""
        new = self.graph.node(self.graph.statement[node])
        self.graph.deciding.add(new)
        self._protected([(new, Arc.RAISED)])
        return new

    def unseen(self, effects: Effects | None, loose: Loose) -> int:
        """Add a node that stands for no statement."""
        node = self.graph.node(NOWHERE, effects)
        self.graph.connect(loose, node)
        self._protected([(node, Arc.RAISED)])
        return node

    def jump(self, jump: Jump, loose: Loose, exception: str | None = None, label: str = "") -> None:
        """Send loose arcs to where a jump ends.

        Args:
            jump: How the statement is left.
            loose: The arcs.
            exception: The name of the exception's class, if the source tells.
            label: The loop or label that is left or continued, if the source names it.
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
        """Say that nothing but an exception leads out of an endless loop."""
        for frame in reversed(self.frames[self._live_from or 0 :]):
            if isinstance(frame, Handlers):
                frame.risky.append((head, Arc.PHANTOM))
                return
            if isinstance(frame, Finally):
                break
        self.jump(Jump.RETURN, [(head, Arc.PHANTOM)])

    def raise_implicitly(self, loose: Loose) -> None:
        """Send an exception on that no `raise` in the function raised: data flows, control does not."""
        self._protected([(node, Arc.RAISED) for node, arc in loose if arc is not Arc.PHANTOM])

    def pass_on(self, loose: Loose) -> None:
        """Pass an exception on after a `finally` body."""
        if self.rules.implicit_exceptions:
            self.jump(Jump.RAISE, loose)
            return
        self.raise_implicitly(loose)
        self.graph.connect([(node, Arc.PHANTOM) for node, _ in loose], EXIT)

    def _protected(self, raised: Loose) -> bool:
        """Send implicit exceptions to what catches them; whether anything does."""
        for frame in reversed(self.frames):
            if isinstance(frame, Managed) and frame.swallows:
                frame.risky += raised
            elif isinstance(frame, Handlers | Finally):
                frame.risky += raised
                return True
        return False
