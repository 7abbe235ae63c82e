"""Fit the margins of a model on code that is right: few false marks, and of these the most that is found.

Right code shows both sides. A mark on it is false. And where an alternative makes it less likely, a mark
would find the alternative if that stood there instead: the same two texts are compared, with the signs
exchanged. For each kind one alternative of a function is drawn for that.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from threading import Event

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.generating import alternatives_in, fits
from counterlens.doubt.marking import marked
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import Trial, trials, tried
from counterlens.models.base import Model

ALLOWED = 2.0
"""False marks in 1,000 lines that are expected at most."""
TAIL_FROM = 1.0
"""Nats: from where on the gains of false marks are taken to fall off exponentially."""
PRIOR = 10
"""The rate at which they do of all kinds counts as much as so many of one kind's own."""
STEP = 0.5
"""Nats: the precision of a margin."""


@dataclass(frozen=True, slots=True)
class RightFunction:
    """A function that is right, as a model sees it.

    Attributes:
        lines: Its lines of code.
        false: What would be a mark if no kind had a margin.
        planted: For each kind an alternative, drawn at random, compared with the existing code.
    """

    lines: int
    false: tuple[Trial, ...]
    planted: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """Fitted margins.

    Attributes:
        margins: Nats, of the kinds that are not silent.
        lines: The lines of code that they were fitted on.
        false: How many false marks are expected in 1,000 lines, by kind.
        found: The share of the planted alternatives that they find, by kind.
        planted: How many were planted, by kind.
    """

    margins: dict[str, float]
    lines: int
    false: dict[str, float]
    found: dict[str, float]
    planted: dict[str, int]

    @property
    def data(self) -> dict[str, object]:
        """All of it, as plain data."""
        return asdict(self)


def observed(model: Model, scope: DoubtScope, *, cancel: Event | None = None) -> RightFunction:
    """Look at a function that is right.

    Args:
        model: The model.
        scope: The function; its text decides which alternatives are drawn.
        cancel: Set it to give up.

    Raises:
        UnscorableError, ModelError, Cancelled: as `trials`.
    """
    false = marked(trials(model, scope, cancel=cancel), dict.fromkeys(DOUBT_KINDS, 0.0))
    planted = tried(model, scope, drawn(scope), cancel=cancel)
    return RightFunction(len(code_lines(scope)), tuple(false), tuple(planted))


def drawn(scope: DoubtScope) -> list[Alternative]:
    """One alternative of each kind that a function has, at random; its text is the seed."""
    by_kind: dict[str, list[Alternative]] = defaultdict(list)
    for one in alternatives_in(scope):
        by_kind[one.kind].append(one)
    draw = random.Random(scope.text(scope.function.start, scope.function.end))  # noqa: S311
    found = []
    for some in by_kind.values():
        draw.shuffle(some)
        found += [one for one in some if fits(scope, one)][:1]
    return found


def is_found(planted: Trial, margin: float) -> bool:
    """Whether the existing code would be a mark if a planted alternative took its place."""
    return -planted.gain > max(margin, planted.noise) and planted.rest < planted.noise


def code_lines(scope: DoubtScope) -> frozenset[int]:
    """The lines of a function's body with code, 0-based."""
    positions = scope.document.positions
    return frozenset(positions.line_of(node.start_byte) for node in scope.nodes if node.type != "block")


def fitted(seen: Sequence[RightFunction]) -> Fit:
    """The margins with which most is found.

    At most `ALLOWED` false marks are expected in 1,000 lines; among such margins those are taken with which
    the largest share of the planted alternatives is found, each kind counting alike. Gains of false marks
    beyond `TAIL_FROM` fall off exponentially; how many there are, and how fast, is estimated for each kind,
    with one more than were seen, and with a rate that leans towards that of all kinds.
    """
    lines = sum(one.lines for one in seen)
    beyond = {kind: _beyond(seen, kind) for kind in DOUBT_KINDS}
    everything = [gain for gains in beyond.values() for gain in gains]
    overall = sum(everything) / max(len(everything), 1)
    curves = {}
    for kind, gains in beyond.items():
        planted = _planted(seen, kind)
        found = tuple(-one.gain for one in planted if is_found(one, 0.0))
        if any(gain > TAIL_FROM for gain in found):
            scale = (sum(gains) + PRIOR * max(overall, 1.0)) / (len(gains) + PRIOR)
            curves[kind] = _Curve(len(gains) + 1, scale, found, len(planted))
    low, high = -20.0, 20.0
    for _ in range(50):  # the price of a false mark, as a power of e, that allows just enough of them
        middle = (low + high) / 2
        false = sum(curve.false(curve.best(math.exp(middle))) for curve in curves.values())
        low, high = (low, middle) if false <= ALLOWED * lines / 1000 else (middle, high)
    margins = {kind: curve.best(math.exp(high)) for kind, curve in curves.items()}
    loud = {kind: margin for kind, margin in margins.items() if margin < math.inf}
    return Fit(
        loud,
        lines,
        {kind: 1000 * curves[kind].false(margin) / lines for kind, margin in loud.items()},
        {kind: curves[kind].found(margin) for kind, margin in loud.items()},
        {kind: curves[kind].planted for kind in loud},
    )


@dataclass(frozen=True, slots=True)
class _Curve:
    """The false marks and the found alternatives of one margin of one kind.

    Attributes:
        number: False gains beyond `TAIL_FROM`.
        scale: How much further they go on average, in nats.
        gains: By how much the existing code is likelier than planted alternatives that could be marked.
        planted: How many alternatives were planted.
    """

    number: int
    scale: float
    gains: tuple[float, ...]
    planted: int

    def false(self, margin: float) -> float:
        """How many false marks are expected."""
        return self.number * math.exp(-(margin - TAIL_FROM) / self.scale)

    def found(self, margin: float) -> float:
        """The share of planted alternatives that is found."""
        return sum(gain > margin for gain in self.gains) / self.planted

    def best(self, price: float) -> float:
        """The margin that finds most for its false marks; infinite if none is worth them."""
        most = max(self.gains, default=0.0)
        grid = [TAIL_FROM + STEP * i for i in range(int(max(most - TAIL_FROM, 0.0) / STEP) + 1)]
        worth = {margin: self.found(margin) - price * self.false(margin) for margin in grid}
        best = max(grid, key=lambda margin: worth[margin])
        return best if worth[best] > 0 else math.inf


def _beyond(seen: Iterable[RightFunction], kind: str) -> list[float]:
    return [
        trial.gain - TAIL_FROM
        for one in seen
        for trial in one.false
        if trial.alternative.kind == kind and trial.gain > TAIL_FROM
    ]


def _planted(seen: Iterable[RightFunction], kind: str) -> list[Trial]:
    return [trial for one in seen for trial in one.planted if trial.alternative.kind == kind]
