"""The server's knowledge of one open document: its text, its scores, its probed functions."""

from __future__ import annotations

import asyncio
import bisect
import copy
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Event
from typing import Any, TypeVar

from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.correctness import Correctness
from counterlens.confidence.units import Unit, units
from counterlens.dependence import Dependences
from counterlens.dependence.analysing import analysable_functions
from counterlens.errors import ModelProcessDiedError
from counterlens.lsp.known_results import KnownDoubts, KnownOperators
from counterlens.models.base import Model, TokenScores
from counterlens.models.cache import CachedModel
from counterlens.probes.dependence.inferred import Inferred
from counterlens.probes.pairs.record import PairsRecord
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

Made = TypeVar("Made")
MOST_DEATHS = 3
"""Deaths of the model's process on one unit after which the unit is set aside."""
_PAUSE = 1.0
"""Minimum number of seconds between updates for units that are not visible,"""
_SHARE = 5
"""... and the minimum as a multiple of the time to compute an update."""
FIRST_LINES = 60
"""Number of first lines that count as visible if the editor does not say what is."""
Span = tuple[int, int]


class ScoringState(StrEnum):
    """The progress of scoring a document."""

    SCORING = "scoring"
    READY = "ready"
    UNAVAILABLE = "unavailable"


class Memo:
    """Values that features derive from scores, computed once. A memo lives as long as its scores."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the value under a key, and compute it if it is missing."""
        if key not in self._kept:
            self._kept[key] = make()
        value: Made = self._kept[key]
        return value


@dataclass(frozen=True, slots=True)
class Examined:
    """The dependences of a function, with the line numbers from when they were computed.

    Attributes:
        start_line: First line of the function at that time.
        found: The true dependences.
        inferred: The dependences that the model infers, if it was asked.
    """

    start_line: int
    found: Dependences
    inferred: Inferred | None = None


@dataclass(frozen=True, slots=True)
class KnownFunction:
    """Results for a function, valid as long as its source is unchanged.

    Attributes:
        probe: Result of the completion probe.
        findings: Result of each probe, as a sentence, by probe id.
        examined: Dependences of the function.
        refusal: Why the completion probe refused it, if it did.
    """

    source: bytes = b""
    probe: PairsRecord | None = None
    findings: Mapping[str, str] = field(default_factory=dict)
    examined: Examined | None = None
    refusal: str = ""


@dataclass
class Analysis:
    """One open document. Modified only on the server's event loop.

    Attributes:
        document: Newest version.
        state: Progress of scoring that version.
        reason: Why it has no scores, if it has none.
        confidence: Scores of exactly `document`; None until there are any.
        shown: Displayed scores: `confidence`; during scoring, the finished units.
        correctness: What the model's confidence says about correctness, if it was measured.
        last: Scores of the last scored version, kept while a newer one is being scored.
        cancel: Set when the scoring in progress becomes stale.
        unscored: Byte ranges of the newest version that have no scores (yet).
        memo: Values that features derived from the newest scores of any version.
        results: Results for unchanged functions, by qualified name.
        operators: The model's answers about operators, for those it was asked about.
        doubts: Functions checked for doubts, with the results.
        visible: The visible lines, if the editor sent them.
        gone: Whether the file was deleted or renamed on disk while it is open.
        opened: The version that was opened.
        askable: Number of prompts that a probe of a function needs, by the function's source, if counted.
    """

    uri: str
    document: Document
    state: ScoringState = ScoringState.SCORING
    reason: str = ""
    confidence: Confidence | None = None
    shown: Confidence | None = None
    correctness: Correctness | None = None
    last: Confidence | None = None
    unscored: tuple[tuple[int, int], ...] = ()
    cancel: Event = field(default_factory=Event)
    memo: Memo = field(default_factory=Memo)
    results: dict[str, KnownFunction] = field(default_factory=dict)
    operators: KnownOperators = field(default_factory=KnownOperators)
    doubts: KnownDoubts = field(default_factory=KnownDoubts)
    visible: types.Range | None = None
    gone: bool = False
    opened: Document = field(init=False)
    askable: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.opened = self.document

    def replace(self, document: Document) -> None:
        """Take a new version: discard all results except those of unchanged functions."""
        self.cancel.set()
        self.cancel = Event()
        self.document, self.confidence, self.shown, self.unscored = document, None, None, ()
        self.state, self.reason = ScoringState.SCORING, ""
        if self.results:
            current = {
                function.qualname: self.source_of(function) for function in analysable_functions(document)
            }
            self.results = {
                name: result for name, result in self.results.items() if current.get(name) == result.source
            }

    def known_function(self, qualname: str) -> KnownFunction:
        """Return the results on a function."""
        return self.results.get(qualname) or KnownFunction()

    def source_of(self, function: Function) -> bytes:
        """The source of a function in the newest version."""
        return self.document.data[function.start : function.end]

    def scored(
        self,
        confidence: Confidence,
        memo: Memo | None = None,
        unscored: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Store the scores of the newest version."""
        self.partly_scored(confidence, memo, unscored)
        self.confidence, self.last = confidence, confidence
        self.state, self.reason = ScoringState.READY, ""

    def partly_scored(
        self,
        confidence: Confidence,
        memo: Memo | None = None,
        unscored: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Store the finished part of the scores of the newest version; the rest follows."""
        self.shown, self.unscored = confidence, unscored
        self.memo = memo or Memo()

    def waits_at(self, offset: int) -> bool:
        """Whether a byte has no scores yet but will be scored."""
        if self.state is ScoringState.SCORING and self.shown is None:
            return True
        return any(start <= offset < end for start, end in self.unscored)

    def failed(self, reason: str) -> None:
        """Record that this version gets no scores, and why."""
        self.confidence, self.shown, self.last = None, None, None
        self.state, self.reason = ScoringState.UNAVAILABLE, reason
        self.memo = Memo()

    def note(
        self,
        function: Function,
        *,
        probe: PairsRecord | None = None,
        findings: Mapping[str, str] | None = None,
        examined: Examined | None = None,
        refusal: str = "",
    ) -> None:
        """Store results for a function until it changes; arguments left out change nothing."""
        source, before = self.source_of(function), self.known_function(function.qualname)
        if before.source != source:
            before = KnownFunction()
        self.results[function.qualname] = KnownFunction(
            source,
            probe or before.probe,
            {**before.findings, **(findings or {})},
            examined or before.examined,
            refusal or ("" if probe else before.refusal),
        )

    def forget_answers(self) -> None:
        """Discard the previous model's answers after a change of model."""
        self.last = None
        self.results = {
            name: KnownFunction(result.source, examined=replace(result.examined, inferred=None))
            for name, result in self.results.items()
            if result.examined
        }

    def frozen(self) -> Analysis:
        """Return a snapshot for a thread that works on it while the server continues."""
        return copy.copy(self)


@dataclass(eq=False)
class ScoringJob:
    """The finished and the remaining work on one version of a document. Modified only on the event loop.

    Attributes:
        order: Greater for documents opened, changed or viewed later.
        unasked: Maximum number of bytes scored without being visible; longer units are not scored.
        view: The visible bytes, if known.
        edited: Indices of units that differ from the version before.
        unread: Indices of units whose text is known to be in no cached response.
        parts: Scores of the finished units, by index.
        aside: Indices of units that are not scored: too long, or the model's process died of them.
        model: The model, when it is open.
        idle_model: The model for what is neither visible nor edited.
        looked: Set when other units may have become visible.
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
    edited: set[int] = field(default_factory=set)
    unread: set[int] = field(default_factory=set)
    units: list[Unit] = field(init=False)
    aside: set[int] = field(init=False)
    parts: dict[int, TokenScores] = field(default_factory=dict)
    model: Model | None = None
    idle_model: CachedModel | None = None
    looked: asyncio.Event = field(default_factory=asyncio.Event)
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
        positions = self.document.positions
        self._first_lines = positions.line_start(min(FIRST_LINES, positions.lines - 1))
        self._functions = [after - before for before, after in zip([0, *upto], upto, strict=False)]

    def next_unit(self, *, idle: bool = True) -> int | None:
        """The next unit to score: a visible one, then the nearest to the view; None if none is left.

        Args:
            idle: Whether units count that are not urgent and have to be read.
        """
        left = [i for i in range(len(self.units)) if i not in self.parts and i not in self.aside]
        visible = [i for i in left if self._visible(i)]
        if visible:
            return visible[0]
        able = [i for i in left if idle or i not in self.unread or self.is_urgent(i)]
        if not able or self.bytes_done >= self.unasked:
            return None
        return min(able, key=lambda i: (not self.is_urgent(i), self._distance(i)))

    def is_urgent(self, unit: int) -> bool:
        """Whether a unit is visible or was edited; the first lines count if the visible ones are unknown."""
        first = self.view is None and self.units[unit].start < self._first_lines
        return first or self._visible(unit) or unit in self.edited

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
