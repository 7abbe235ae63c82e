"""Requests about which operator belongs in a gap: one gap at a time, off the event loop, each only once.

The operator under the pointer comes before those asked in advance. An edit drops pending requests.
"""

from __future__ import annotations

import asyncio
from threading import Event

from counterlens.confidence import Confidence
from counterlens.confidence.units import units
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.known_operators import KnownOperator
from counterlens.lsp.language import error_text
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.probes.operator.belief import believe
from counterlens.syntax.document import Document
from counterlens.syntax.operators import OperatorSite, operator_at, operator_sites


class OperatorQueue:
    """Asks for the server.

    Args:
        ls: The server.
    """

    def __init__(self, ls: CounterlensServer) -> None:
        self._ls = ls
        self._waiting: list[tuple[Analysis, Document, int]] = []
        self._answered: dict[tuple[str, int], asyncio.Event] = {}
        self._worker: asyncio.Task[None] | None = None

    def known(self, analysis: Analysis) -> dict[int, KnownOperator]:
        """The answers for the newest version, by the operator's first byte."""
        return analysis.operators.on(analysis.document, self._ls.settings.asked)

    def ask(self, analysis: Analysis, start: int) -> asyncio.Event:
        """Ask for one operator before all others; the event is set when the request ends."""
        event = self._answered.setdefault((analysis.uri, start), asyncio.Event())
        self._waiting.insert(0, (analysis, analysis.document, start))
        self._begin()
        return event

    async def ask_all(self, analysis: Analysis, span: tuple[int, int] | None = None) -> None:
        """Ask for all operators of a document or a range, starting with those that surprised the model."""
        document, found = analysis.document, analysis.confidence
        starts = await self._ls.offload(_starts, document, span, found)
        if analysis.document is document:
            known = self.known(analysis)
            self._waiting += [(analysis, document, start) for start in starts if start not in known]
            self._begin()

    def _begin(self) -> None:
        if self._waiting and (self._worker is None or self._worker.done()):
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while self._waiting:
            analysis, document, start = self._waiting.pop(0)
            try:
                if analysis.document is document and self._ls.analyses.get(analysis.uri) is analysis:
                    await self._ask(analysis, document, start)
            finally:
                event = self._answered.pop((analysis.uri, start), None)
                if event is not None:
                    event.set()

    async def _ask(self, analysis: Analysis, document: Document, start: int) -> None:
        ls, settings = self._ls, self._ls.settings
        site = operator_at(document, start)
        if site is None or start in self.known(analysis):
            return
        try:
            answer = await ls.offload(_answer, ls.host, settings, document, site, analysis.cancel)
        except Cancelled:
            return
        except CounterlensError as error:
            if ls.asks(settings):
                analysis.operators.failure = error_text(error)
                self._waiting = [waiting for waiting in self._waiting if waiting[0] is not analysis]
            return
        if analysis.document is document and ls.asks(settings):
            analysis.operators.note(document, settings.asked, answer)
            if answer.belief.preferred is not None:
                ls.changed(analysis)


def _answer(
    host: ModelHost, settings: EditorSettings, document: Document, site: OperatorSite, cancel: Event
) -> KnownOperator:
    """Ask for one operator; takes up to some seconds."""
    unit = next(unit for unit in units(document) if unit.start <= site.start < unit.end)
    belief = believe(host.get(settings), document, site, cancel=cancel)
    return KnownOperator(site.start, site.end, (unit.start, unit.end), unit.context, belief)


def _starts(document: Document, span: tuple[int, int] | None, found: Confidence | None) -> list[int]:
    """The operators' first bytes, least likely first, by the scores of a reading from left to right."""
    try:
        sites = operator_sites(document, span)
    except SourceError:
        return []
    starts = [site.start for site in sites]
    if found is None or found.document is not document:
        return starts
    scores = found.scores
    likely = dict.fromkeys(starts, 0.0)
    for first, last, logprob in zip(
        scores.start.tolist(), scores.end.tolist(), scores.logprob.tolist(), strict=True
    ):
        for start in range(first, last):
            if start in likely:
                likely[start] = logprob
    return sorted(starts, key=lambda start: likely[start])
