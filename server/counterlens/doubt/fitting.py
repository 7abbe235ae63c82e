"""Fits the margins of a model on code that is right: few false marks, and for these the most bugs found.

Right code gives both numbers. Any mark on it is false. And if an alternative makes it less likely, a mark
would find that alternative if it were in the code instead: the same two texts are compared, with opposite
signs. One alternative per kind and function is sampled for that.
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
from counterlens.doubt.marking import marks_of
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import Trial, trials, try_all
from counterlens.models.base import Model
from counterlens.progress import ProgressCallback

ALLOWED = 2.0
"""Maximum expected number of false marks per 1,000 lines."""
TAIL_FROM = 1.0
"""Nats: the gains of false marks are modelled as falling off exponentially above this."""
PRIOR = 10
"""Weight of the rate of all kinds in the rate of one kind, in number of gains."""
STEP = 0.5
"""Nats: the precision of a margin."""


@dataclass(frozen=True, slots=True)
class RightFunction:
    """A right function, evaluated by a model.

    Attributes:
        lines: Number of its lines of code.
        false: Its false marks without margins.
        planted: For each kind an alternative, sampled at random, compared with the existing code.
    """

    lines: int
    false: tuple[Trial, ...]
    planted: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """Fitted margins.

    Attributes:
        margins: Margins in nats, of the kinds that are not silent.
        lines: Number of lines of code that they were fitted on.
        false: Expected number of false marks per 1,000 lines, by kind.
        found: Share of the planted alternatives found, by kind.
        planted: Number of planted alternatives, by kind.
    """

    margins: dict[str, float]
    lines: int
    false: dict[str, float]
    found: dict[str, float]
    planted: dict[str, int]

    @property
    def data(self) -> dict[str, object]:
        """The fit as plain data."""
        return asdict(self)


def observe(model: Model, scope: DoubtScope, *, cancel: Event | None = None) -> RightFunction:
    """Evaluate a function that is right.

    Args:
        scope: The function; its text seeds the sampling of alternatives.

    Raises:
        UnscorableError, ModelError, Cancelled: as `trials`.
    """
    false = marks_of(trials(model, scope, cancel=cancel), dict.fromkeys(DOUBT_KINDS, 0.0))
    planted = try_all(model, scope, drawn(scope), cancel=cancel)
    return RightFunction(len(code_lines(scope)), tuple(false), tuple(planted))


def fit_margins(
    model: Model, right: Sequence[DoubtScope], report: ProgressCallback, *, cancel: Event | None = None
) -> Fit:
    """The margins that find the most on functions that are right; see `observe` and `fitted`.

    Args:
        report: Called before each function.

    Raises:
        UnscorableError, ModelError, Cancelled: as `trials`.
    """
    seen = []
    for number, scope in enumerate(right):
        report(f"looking at {scope.document.path}::{scope.function.qualname}", number, len(right))
        seen.append(observe(model, scope, cancel=cancel))
    return fitted(seen)


def drawn(scope: DoubtScope) -> list[Alternative]:
    """One alternative of each kind in a function, at random; the function's text is the seed."""
    by_kind: dict[str, list[Alternative]] = defaultdict(list)
    for alternative in alternatives_in(scope):
        by_kind[alternative.kind].append(alternative)
    draw = random.Random(scope.text(scope.function.start, scope.function.end))  # noqa: S311
    alternatives = []
    for some in by_kind.values():
        draw.shuffle(some)
        alternatives += [candidate for candidate in some if fits(scope, candidate)][:1]
    return alternatives


def is_found(planted: Trial, margin: float) -> bool:
    """Whether the existing code would be a mark if the planted alternative were in the code instead."""
    return -planted.gain > max(margin, planted.noise) and planted.rest < planted.noise


def code_lines(scope: DoubtScope) -> frozenset[int]:
    """The lines of a function's body with code, 0-based."""
    positions = scope.document.positions
    return frozenset(positions.line_of(node.start_byte) for node in scope.nodes if node.type != "block")


def fitted(seen: Sequence[RightFunction]) -> Fit:
    """The margins that find the most.

    They are those with at most `ALLOWED` expected false marks per 1,000 lines that find the largest share of
    the planted alternatives, with equal weight for each kind. Gains of false marks beyond `TAIL_FROM` fall
    off exponentially; their number and their rate are estimated for each kind, with one more than were
    observed, and with a rate shrunk towards that of all kinds.
    """
    lines = sum(function.lines for function in seen)
    beyond = {kind: _beyond(seen, kind) for kind in DOUBT_KINDS}
    everything = [gain for gains in beyond.values() for gain in gains]
    overall = sum(everything) / max(len(everything), 1)
    curves = {}
    for kind, gains in beyond.items():
        planted = _planted_trials(seen, kind)
        planted_gains = tuple(-trial.gain for trial in planted if is_found(trial, 0.0))
        if any(gain > TAIL_FROM for gain in planted_gains):
            scale = (sum(gains) + PRIOR * max(overall, 1.0)) / (len(gains) + PRIOR)
            curves[kind] = _Curve(len(gains) + 1, scale, planted_gains, len(planted))
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
    """The false marks and the found alternatives of one kind as functions of its margin.

    Attributes:
        number: Number of false gains beyond `TAIL_FROM`.
        scale: Their mean excess over it, in nats.
        gains: Gains of the existing code over planted alternatives that could be marked, in nats.
        planted: Number of planted alternatives.
    """

    number: int
    scale: float
    gains: tuple[float, ...]
    planted: int

    def false(self, margin: float) -> float:
        """Expected number of false marks."""
        return self.number * math.exp(-(margin - TAIL_FROM) / self.scale)

    def found(self, margin: float) -> float:
        """The share of planted alternatives that is found."""
        return sum(gain > margin for gain in self.gains) / self.planted

    def best(self, price: float) -> float:
        """The margin with the most found for its false marks; infinite if none is worth them."""
        most = max(self.gains, default=0.0)
        grid = [TAIL_FROM + STEP * i for i in range(int(max(most - TAIL_FROM, 0.0) / STEP) + 1)]
        worth = {margin: self.found(margin) - price * self.false(margin) for margin in grid}
        best = max(grid, key=lambda margin: worth[margin])
        return best if worth[best] > 0 else math.inf


def _beyond(seen: Iterable[RightFunction], kind: str) -> list[float]:
    return [
        trial.gain - TAIL_FROM
        for function in seen
        for trial in function.false
        if trial.alternative.kind == kind and trial.gain > TAIL_FROM
    ]


def _planted_trials(seen: Iterable[RightFunction], kind: str) -> list[Trial]:
    return [trial for function in seen for trial in function.planted if trial.alternative.kind == kind]
