"""The constructs around the current statement that catch the jumps out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from counterlens.dependence.cfg import Loose


class Jump(Enum):
    """The ways to leave a statement other than to the next one."""

    RETURN = auto()
    BREAK = auto()
    CONTINUE = auto()
    RAISE = auto()


_LABELLED = frozenset({Jump.BREAK, Jump.CONTINUE})


@dataclass(slots=True)
class Loop:
    """A loop, or what else `break` leaves: where `break` and `continue` end.

    Attributes:
        breaks: Arcs of the jumps out of it.
        continues: Arcs of the jumps to its head.
        labels: The names that a jump may call it by.
        plain: The jumps that it takes if they name nothing.
    """

    breaks: Loose = field(default_factory=list)
    continues: Loose = field(default_factory=list)
    labels: frozenset[str] = frozenset()
    plain: frozenset[Jump] = frozenset({Jump.BREAK, Jump.CONTINUE})

    def takes(self, jump: Jump, label: str) -> bool:
        """Whether a jump ends here; one to `label` if that is not empty."""
        if label:
            return jump in _LABELLED and label in self.labels
        return jump in self.plain


@dataclass(slots=True)
class Handlers:
    """A `try` with `except` clauses.

    Attributes:
        catches: The names of the exceptions that are caught for sure; `*` is all of them.
        raised: Arcs of the exceptions raised inside.
        escapes: Whether one of them may be of another type.
        risky: Arcs of the implicit exceptions inside.
    """

    catches: frozenset[str]
    raised: Loose = field(default_factory=list)
    escapes: bool = False
    risky: Loose = field(default_factory=list)


@dataclass(slots=True)
class Finally:
    """A `try` with a `finally` clause.

    Attributes:
        pending: Arcs of the jumps that go through it, by kind and label.
        risky: Arcs of the implicit exceptions inside.
    """

    pending: dict[tuple[Jump, str], Loose] = field(default_factory=dict)
    risky: Loose = field(default_factory=list)


@dataclass(slots=True)
class Managed:
    """A `with`.

    Attributes:
        swallows: Whether its manager is known to swallow exceptions.
        swallowed: Arcs of the exceptions that it may swallow.
        risky: Arcs of the implicit exceptions inside, if it swallows.
    """

    swallows: bool
    swallowed: Loose = field(default_factory=list)
    risky: Loose = field(default_factory=list)


Frame = Loop | Handlers | Finally | Managed
