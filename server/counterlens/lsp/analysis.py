"""The server's knowledge of one open document: its text, its scores, its probed functions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Event
from typing import Any, TypeVar

from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.calibration import Calibration
from counterlens.confidence.correctness import Correctness
from counterlens.dependence import Dependences
from counterlens.dependence.analysing import analysable_functions
from counterlens.lsp.known_results import KnownDoubts, KnownOperators
from counterlens.probes.dependence.inferred import Inferred
from counterlens.probes.pairs.record import PairsRecord
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

Made = TypeVar("Made")


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
        shown: Displayed scores: `confidence`, possibly calibrated; during scoring, the finished units.
        calibration: The map applied to `shown`, if any.
        correctness: What the model's confidence says about correctness, if it was measured.
        last: Scores of the last scored version, kept while a newer one is being scored.
        cancel: Set when the scoring in progress becomes stale.
        unscored: Byte ranges of the newest version that have no scores (yet).
        memo: Values that features derived from the newest scores of any version.
        known: Results for unchanged functions, by qualified name.
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
    calibration: Calibration | None = None
    correctness: Correctness | None = None
    last: Confidence | None = None
    unscored: tuple[tuple[int, int], ...] = ()
    cancel: Event = field(default_factory=Event)
    memo: Memo = field(default_factory=Memo)
    known: dict[str, KnownFunction] = field(default_factory=dict)
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
        if self.known:
            current = {
                function.qualname: self.source_of(function) for function in analysable_functions(document)
            }
            self.known = {
                name: known for name, known in self.known.items() if current.get(name) == known.source
            }

    def known_function(self, qualname: str) -> KnownFunction:
        """Return the results on a function."""
        return self.known.get(qualname) or KnownFunction()

    def source_of(self, function: Function) -> bytes:
        """The source of a function in the newest version."""
        return self.document.data[function.start : function.end]

    def scored(
        self,
        confidence: Confidence,
        shown: Confidence | None = None,
        calibration: Calibration | None = None,
        memo: Memo | None = None,
        unscored: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Store the scores of the newest version, and the displayed scores if they differ."""
        self.partly_scored(confidence, shown, calibration, memo, unscored)
        self.confidence, self.last = confidence, confidence
        self.state, self.reason = ScoringState.READY, ""

    def partly_scored(
        self,
        confidence: Confidence,
        shown: Confidence | None = None,
        calibration: Calibration | None = None,
        memo: Memo | None = None,
        unscored: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Store the finished part of the scores of the newest version; the rest follows."""
        self.shown, self.calibration, self.unscored = shown or confidence, calibration, unscored
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
        self.known[function.qualname] = KnownFunction(
            source,
            probe or before.probe,
            {**before.findings, **(findings or {})},
            examined or before.examined,
            refusal or ("" if probe else before.refusal),
        )

    def forget_answers(self) -> None:
        """Discard the previous model's answers after a change of model."""
        self.last = None
        self.known = {
            name: KnownFunction(known.source, examined=replace(known.examined, inferred=None))
            for name, known in self.known.items()
            if known.examined
        }

    def frozen(self) -> Analysis:
        """Return a snapshot for a thread that works on it while the server continues."""
        return copy.copy(self)
