"""The scoring of one version of a document: which units are scored, and which comes next."""

from __future__ import annotations

import asyncio
import bisect
import time
from dataclasses import dataclass, field

from counterlens.confidence.units import Unit, units
from counterlens.errors import ModelProcessDiedError
from counterlens.lsp.analysis import Analysis
from counterlens.models.base import Model, TokenScores
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

MOST_DEATHS = 3
"""Deaths of the model's process on one unit after which the unit is set aside."""
_PAUSE = 1.0
"""Minimum number of seconds between updates for units that are not visible,"""
_SHARE = 5
"""... and the minimum as a multiple of the time to compute an update."""

Span = tuple[int, int]


@dataclass(eq=False)
class ScoringJob:
    """The finished and the remaining work on one version of a document. Modified only on the event loop.

    Attributes:
        order: Greater for documents opened, changed or viewed later.
        unasked: Maximum number of bytes scored without being visible; longer units are not scored.
        view: The visible bytes, if known.
        parts: Scores of the finished units, by index.
        aside: Indices of units that are not scored: too long, or the model's process died of them.
        model: The model, when it is open.
        failure: How its process ended, if it did.
        being_shown: Computes the display of finished units while others are scored.
        answered: Indices of units whose text the model answered in an earlier version: their scores come from
            the cache, so progress counts them from the start.
    """

    analysis: Analysis
    document: Document
    order: int
    unasked: int
    view: Span | None = None
    units: list[Unit] = field(init=False)
    aside: set[int] = field(init=False)
    parts: dict[int, TokenScores] = field(default_factory=dict)
    model: Model | None = None
    failure: ModelProcessDiedError | None = None
    being_shown: asyncio.Task[None] | None = None
    answered: set[int] = field(default_factory=set)
    _deaths: dict[int, int] = field(default_factory=dict)
    _shown_at: float = field(default_factory=time.monotonic)
    _cost: float = 0.0

    def __post_init__(self) -> None:
        self.units = units(self.document)
        self.aside = {i for i, unit in enumerate(self.units) if unit.end - unit.start > self.unasked}
        ends = sorted(function.end for function in functions(self.document))
        upto = [bisect.bisect_right(ends, unit.end) for unit in self.units]
        self._functions = [after - before for before, after in zip([0, *upto], upto, strict=False)]

    def next_unit(self) -> int | None:
        """The next unit to score: a visible one, then the nearest to the view; None if none is left."""
        left = [i for i in range(len(self.units)) if i not in self.parts and i not in self.aside]
        if not left:
            return None
        visible = [i for i in left if self._visible(i)]
        if visible:
            return visible[0]
        near = min(left, key=self._distance)
        return near if self.bytes_done < self.unasked else None

    @property
    def urgency(self) -> tuple[int, ...]:
        """Sort key: less for a visible next unit, then for documents touched later."""
        next_unit = self.next_unit()
        return (0 if next_unit is not None and self._visible(next_unit) else 1, -self.order)

    @property
    def bytes_done(self) -> int:
        """Number of scored bytes."""
        return sum(self.units[i].end - self.units[i].start for i in self.parts)

    def percent(self, more: int = 0) -> int:
        """Percentage of the bytes scored without being visible, with `more` bytes of the current unit."""
        cached = sum(self.units[i].end - self.units[i].start for i in self.answered - self.parts.keys())
        done = self.bytes_done + cached + more
        return min(100, 100 * done // max(1, min(self.unasked, len(self.document.data))))

    @property
    def functions_done(self) -> tuple[int, int]:
        """Number of scored functions, and of all functions."""
        return sum(self._functions[i] for i in self.parts.keys() | self.answered), sum(self._functions)

    def text_of(self, unit: int) -> bytes:
        """The text of a unit."""
        return self.document.data[self.units[unit].start : self.units[unit].end]

    @property
    def unscored(self) -> tuple[Span, ...]:
        """Byte ranges without scores that are scored when they become visible."""
        waiting = (i for i in range(len(self.units)) if i not in self.parts and i not in self.aside)
        return tuple((self.units[i].start, self.units[i].end) for i in waiting)

    @property
    def scored(self) -> list[Span]:
        """Scored byte ranges, in the order of the text."""
        return [(self.units[i].start, self.units[i].end) for i in sorted(self.parts)]

    def first_line(self, unit: int) -> int:
        """The first line of a unit's text, 1-based."""
        start, end = self.units[unit].start, self.units[unit].end
        text = self.document.data[start:end]
        return self.document.positions.line_of(start + len(text) - len(text.lstrip())) + 1

    def died(self, unit: int, failure: ModelProcessDiedError) -> None:
        """Record that the model's process died of a unit; set the unit aside if that happens repeatedly."""
        self.failure = failure
        self._deaths[unit] = self._deaths.get(unit, 0) + 1
        if self._deaths[unit] >= MOST_DEATHS:
            self.aside.add(unit)

    def worth_showing(self, unit: int) -> bool:
        """Whether to update the display now that a unit is done, although more are to come."""
        if self.being_shown is not None and not self.being_shown.done():
            return False
        wait = self._cost if self._visible(unit) else max(_PAUSE, _SHARE * self._cost)
        return time.monotonic() - self._shown_at >= wait

    def showed(self, cost: float) -> None:
        """Record that the display was updated, and how many seconds that took."""
        self._shown_at, self._cost = time.monotonic(), cost

    def _visible(self, at: int) -> bool:
        unit, view = self.units[at], self.view
        return view is not None and unit.start < view[1] and view[0] < unit.end

    def _distance(self, at: int) -> int:
        if self.view is None:
            return at
        unit = self.units[at]
        return max(unit.start - self.view[1], self.view[0] - unit.end)
