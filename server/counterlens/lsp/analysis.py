"""What the server knows about one open document: its text, its scores, its probed functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from threading import Event

from counterlens.confidence import Confidence
from counterlens.probes.session import Probed
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions


class State(StrEnum):
    """How far the scoring of a document is."""

    SCORING = "scoring"
    READY = "ready"
    UNAVAILABLE = "unavailable"


@dataclass
class Analysis:
    """One open document. Changed only on the server's event loop.

    Attributes:
        uri: The document's URI.
        document: Its newest version.
        state: How far the scoring of that version is.
        reason: Why it has no scores, where it has none.
        confidence: The scores of exactly `document`, once there are any.
        cancel: Set when the scoring that is under way has become stale.
        probed: Probe results by qualified name, each with the function's source when it was probed.
    """

    uri: str
    document: Document
    state: State = State.SCORING
    reason: str = ""
    confidence: Confidence | None = None
    cancel: Event = field(default_factory=Event)
    probed: dict[str, tuple[bytes, Probed]] = field(default_factory=dict)

    def replace(self, document: Document) -> None:
        """Take a new version: all that was known is stale, but for functions that did not change."""
        self.cancel.set()
        self.cancel = Event()
        self.document, self.confidence = document, None
        self.state, self.reason = State.SCORING, ""
        current = {f.qualname: self.source_of(f) for f in functions(document)}
        self.probed = {name: known for name, known in self.probed.items() if current.get(name) == known[0]}

    def source_of(self, function: Function) -> bytes:
        """The source of a function in the newest version."""
        return self.document.data[function.start : function.end]

    def scored(self, found: Confidence) -> None:
        """Take the scores of the newest version."""
        self.confidence, self.state, self.reason = found, State.READY, ""

    def failed(self, reason: str) -> None:
        """Note that there will be no scores for this version, and why."""
        self.confidence, self.state, self.reason = None, State.UNAVAILABLE, reason

    def note_probe(self, function: Function, probed: Probed) -> None:
        """Keep a probe's result for as long as its function does not change."""
        self.probed[function.qualname] = (self.source_of(function), probed)
