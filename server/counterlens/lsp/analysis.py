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
from counterlens.dependence import Dependences
from counterlens.dependence.languages import located
from counterlens.lsp.known_doubts import KnownDoubts
from counterlens.lsp.known_operators import KnownOperators
from counterlens.probes.dependence.inferred import Inferred
from counterlens.probes.pairs.record import PairsRecord
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

Made = TypeVar("Made")


class ScoringState(StrEnum):
    """How far the scoring of a document is."""

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
        found: Made = self._kept[key]
        return found


@dataclass(frozen=True, slots=True)
class Examined:
    """The dependences of a function, in the lines that it had when it was examined.

    Attributes:
        start_line: Its first line then.
        found: What is true of it.
        inferred: What the model makes of it, where it was asked.
    """

    start_line: int
    found: Dependences
    inferred: Inferred | None = None


@dataclass(frozen=True, slots=True)
class KnownFunction:
    """Results on a function, valid as long as its source is unchanged.

    Attributes:
        source: Its source.
        probe: What the completion probe found.
        findings: What any probe found, as a sentence, by its id.
        examined: Its dependences.
    """

    source: bytes = b""
    probe: PairsRecord | None = None
    findings: Mapping[str, str] = field(default_factory=dict)
    examined: Examined | None = None


@dataclass
class Analysis:
    """One open document. Changed only on the server's event loop.

    Attributes:
        uri: The document's URI.
        document: Its newest version.
        state: How far the scoring of that version is.
        reason: Why it has no scores, where it has none.
        confidence: The scores of exactly `document`, once there are any.
        shown: What is shown of them: the same, or calibrated; while a document is being scored, what is done.
        calibration: The map that made it so, if there was one.
        last: The newest scores of any version, while the newest one is still being scored.
        cancel: Set when the scoring that is under way has become stale.
        unscored: The bytes of the newest version that have no scores, or none yet.
        memo: What features made of the newest scores of any version.
        known: What is known of functions that did not change since, by qualified name.
        operators: What the model believes of its operators, as far as it was asked.
        doubts: Which of its functions were checked for doubts, and what was found.
        visible: The lines that the editor shows, as far as it said so.
        askable: How many prompts a probe of a function needs, by its source, as far as that was counted.
    """

    uri: str
    document: Document
    state: ScoringState = ScoringState.SCORING
    reason: str = ""
    confidence: Confidence | None = None
    shown: Confidence | None = None
    calibration: Calibration | None = None
    last: Confidence | None = None
    unscored: tuple[tuple[int, int], ...] = ()
    cancel: Event = field(default_factory=Event)
    memo: Memo = field(default_factory=Memo)
    known: dict[str, KnownFunction] = field(default_factory=dict)
    operators: KnownOperators = field(default_factory=KnownOperators)
    doubts: KnownDoubts = field(default_factory=KnownDoubts)
    visible: types.Range | None = None
    askable: dict[bytes, int] = field(default_factory=dict)

    def replace(self, document: Document) -> None:
        """Take a new version: all that was known is stale, but for functions that did not change."""
        self.cancel.set()
        self.cancel = Event()
        self.document, self.confidence, self.shown, self.unscored = document, None, None, ()
        self.state, self.reason = ScoringState.SCORING, ""
        if self.known:
            current = {function.qualname: self.source_of(function) for function in located(document)}
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
        found: Confidence,
        shown: Confidence | None = None,
        calibration: Calibration | None = None,
        memo: Memo | None = None,
        unscored: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Take the scores of the newest version, and what is shown of them if that differs."""
        self.partly_scored(found, shown, calibration, memo, unscored)
        self.confidence, self.last = found, found
        self.state, self.reason = ScoringState.READY, ""

    def partly_scored(
        self,
        found: Confidence,
        shown: Confidence | None = None,
        calibration: Calibration | None = None,
        memo: Memo | None = None,
        unscored: tuple[tuple[int, int], ...] = (),
    ) -> None:
        """Take what is done of the scores of the newest version; the rest follows."""
        self.shown, self.calibration, self.unscored = shown or found, calibration, unscored
        self.memo = memo or Memo()

    def waits_at(self, offset: int) -> bool:
        """Whether a byte has no scores yet, though it will."""
        if self.state is ScoringState.SCORING and self.shown is None:
            return True
        return any(start <= offset < end for start, end in self.unscored)

    def failed(self, reason: str) -> None:
        """Note that there will be no scores for this version, and why."""
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
    ) -> None:
        """Keep what was found of a function for as long as it does not change; the rest stays."""
        source, before = self.source_of(function), self.known_function(function.qualname)
        if before.source != source:
            before = KnownFunction()
        self.known[function.qualname] = KnownFunction(
            source,
            probe or before.probe,
            {**before.findings, **(findings or {})},
            examined or before.examined,
        )

    def forget_answers(self) -> None:
        """Another model is asked from now on: what the last one did says nothing of it."""
        self.last = None
        self.known = {
            name: KnownFunction(known.source, examined=replace(known.examined, inferred=None))
            for name, known in self.known.items()
            if known.examined
        }

    def frozen(self) -> Analysis:
        """Return the current state, for a thread that works on it while the server continues."""
        return copy.copy(self)
