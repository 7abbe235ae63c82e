"""What the server knows about one open document: its text, its scores, its probed functions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Event
from typing import Any, TypeVar

from counterlens.confidence import Confidence
from counterlens.confidence.calibration import Calibration
from counterlens.dependence import Dependences
from counterlens.lsp.operator_answers import OperatorAnswers
from counterlens.probes.inference.inferred import Inferred
from counterlens.probes.session import Probed
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

Made = TypeVar("Made")


class ScoringState(StrEnum):
    """How far the scoring of a document is."""

    SCORING = "scoring"
    READY = "ready"
    UNAVAILABLE = "unavailable"


class Memo:
    """What features make of scores, made once. A memo belongs to its scores, and goes with them."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept under a key; it is made where there is nothing yet."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Made = self._kept[key]
        return found


@dataclass(frozen=True, slots=True)
class Examined:
    """The dependences of a function, in the lines that it had when it was examined.

    Attributes:
        source: The function's source then.
        start_line: Its first line then.
        found: What is true of it.
        inferred: What the model makes of it, where it was asked.
    """

    source: bytes
    start_line: int
    found: Dependences
    inferred: Inferred | None = None


@dataclass
class Analysis:
    """One open document. Changed only on the server's event loop.

    Attributes:
        uri: The document's URI.
        document: Its newest version.
        state: How far the scoring of that version is.
        reason: Why it has no scores, where it has none.
        confidence: The scores of exactly `document`, once there are any.
        shown: What is shown of them: the same, or calibrated.
        calibration: The map that made it so, if there was one.
        last: The newest scores of any version, while the newest one is still being scored.
        cancel: Set when the scoring that is under way has become stale.
        memo: What features made of the newest scores of any version.
        probed: Probe results by qualified name, each with the function's source when it was probed.
        findings: What other tasks found by qualified name, with its source then: task to sentence.
        examined: Dependences by qualified name, of functions that did not change since.
        operators: What the model believes of its operators, as far as it was asked.
    """

    uri: str
    document: Document
    state: ScoringState = ScoringState.SCORING
    reason: str = ""
    confidence: Confidence | None = None
    shown: Confidence | None = None
    calibration: Calibration | None = None
    last: Confidence | None = None
    cancel: Event = field(default_factory=Event)
    probed: dict[str, tuple[bytes, Probed]] = field(default_factory=dict)
    memo: Memo = field(default_factory=Memo)
    findings: dict[str, tuple[bytes, Mapping[str, str]]] = field(default_factory=dict)
    examined: dict[str, Examined] = field(default_factory=dict)
    operators: OperatorAnswers = field(default_factory=OperatorAnswers)

    def replace(self, document: Document) -> None:
        """Take a new version: all that was known is stale, but for functions that did not change."""
        self.cancel.set()
        self.cancel = Event()
        self.document, self.confidence, self.shown = document, None, None
        self.state, self.reason = ScoringState.SCORING, ""
        if self.probed or self.findings or self.examined:
            current = {f.qualname: self.source_of(f) for f in functions(document)}
            self.probed = {
                name: known for name, known in self.probed.items() if current.get(name) == known[0]
            }
            self.findings = {
                name: known for name, known in self.findings.items() if current.get(name) == known[0]
            }
            self.examined = {
                name: known for name, known in self.examined.items() if current.get(name) == known.source
            }

    def source_of(self, function: Function) -> bytes:
        """The source of a function in the newest version."""
        return self.document.data[function.start : function.end]

    def scored(
        self,
        found: Confidence,
        shown: Confidence | None = None,
        calibration: Calibration | None = None,
        memo: Memo | None = None,
    ) -> None:
        """Take the scores of the newest version, and what is shown of them if that differs."""
        self.confidence, self.shown, self.last = found, shown or found, found
        self.calibration, self.state, self.reason = calibration, ScoringState.READY, ""
        self.memo = memo or Memo()

    def failed(self, reason: str) -> None:
        """Note that there will be no scores for this version, and why."""
        self.confidence, self.shown, self.last = None, None, None
        self.state, self.reason = ScoringState.UNAVAILABLE, reason
        self.memo = Memo()

    def note_probe(self, function: Function, probed: Probed) -> None:
        """Keep a probe's result for as long as its function does not change."""
        self.probed[function.qualname] = (self.source_of(function), probed)

    def note_finding(self, function: Function, task: str, summary: str) -> None:
        """Keep what a task found for as long as its function does not change."""
        source = self.source_of(function)
        kept = self.findings.get(function.qualname)
        before = kept[1] if kept and kept[0] == source else {}
        self.findings[function.qualname] = (source, {**before, task: summary})

    def forget_answers(self) -> None:
        """Another model is asked from now on: what the last one did says nothing of it."""
        self.probed, self.findings, self.last = {}, {}, None
        self.examined = {name: replace(known, inferred=None) for name, known in self.examined.items()}

    def frozen(self) -> Analysis:
        """What is known now, for a thread that works on it while this goes on."""
        return copy.copy(self)
