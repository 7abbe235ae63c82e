"""The constructs around the current statement that intercept jumps."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from counterlens.dependence.cfg import Loose


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
