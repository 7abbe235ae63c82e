"""Operators: the hover shows which ones the model finds likely; a clear preference for another is marked.

No request is sent until the user points at an operator or probes, unless `operators.ask` is `scored`.

Requests about which operator belongs in a gap: one gap at a time, off the event loop, each only once.

The operator under the pointer comes before those asked in advance. An edit drops pending requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from functools import partial
from threading import Event

from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.exclusion import ignore_comments
from counterlens.confidence.units import units
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.lsp.actions import ignore_actions, replace_action
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CodeMark, CounterlensServer, HoverPart
from counterlens.lsp.known_results import KnownOperator
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.probes.operator.belief import believe
from counterlens.reports.expected import code
from counterlens.reports.nodes import belief_brief, belief_sentence, belief_table
from counterlens.reports.render.markdown import prose
from counterlens.reports.wording import share
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document
from counterlens.syntax.operators import OperatorSite, operator_at, operator_sites

CODE = "operator"
_TASKS: set[asyncio.Task[None]] = set()


def register(server: CounterlensServer) -> None:
    Operators(server)


class Operators:
    """The feature.

    Args:
        server: The server that gets the feature.
    """

    def __init__(self, server: CounterlensServer) -> None:
        self._queue = OperatorQueue(server)
        server.hovers.append(self._hover)
        server.hover_waits.append(self._wait)
        server.marks.append(self._marks)
        server.when_changed.append(self._ask_ahead)
        server.when_probed.append(self._ask_probed)

    def _wait(self, ls: CounterlensServer, analysis: Analysis, offset: int) -> Awaitable[object] | None:
        """Ask for the operator under the pointer."""
        if ls.settings.operators_ask == "never" or not ls.settings.enable:
            return None
        site = operator_at(analysis.document, offset)
        if site is None or site.start in self._queue.answers(analysis):
            return None
        return self._queue.ask(analysis, site.start).wait()

    def _hover(self, ls: CounterlensServer, analysis: Analysis, offset: int) -> HoverPart:
        site = operator_at(analysis.document, offset)
        answer = self._queue.answers(analysis).get(site.start) if site is not None else None
        if answer is not None:
            brief = belief_brief(answer.belief, ls.host.name)
            return HoverPart(brief, belief_table(answer.belief))
        if site is None or ls.settings.operators_ask == "never" or not ls.settings.enable:
            return HoverPart()
        if analysis.operators.failure:
            reason = prose(analysis.operators.failure)
            return HoverPart(f"*No operator preference: {reason}*")
        asked = code(site.text[:40])
        return HoverPart(f"*Asking which operator fits {asked}… Hover again in a moment.*")

    def _marks(self, ls: CounterlensServer, analysis: Analysis) -> Iterator[CodeMark]:
        """Mark the operators to which the model strongly prefers another; offer any that it prefers."""
        answers = self._queue.answers(analysis)
        if not answers:
            return
        comments = ignore_comments(analysis.document)
        hidden = Category.OPERATORS in {*ls.settings.ignored_concepts, *comments.everywhere}
        for answer in answers.values():
            ignored = hidden or comments.covers(answer.start, answer.end, Category.OPERATORS)
            doubted = not ignored and answer.belief.doubts(ls.settings.operators_threshold)
            level = ls.settings.operators_diagnostics if doubted and ls.settings.enable else "off"
            shown = level != "off"
            yield CodeMark(
                CODE,
                answer.start,
                answer.end,
                belief_sentence(answer.belief, ls.host.name) if shown else "",
                types.DiagnosticSeverity[level.capitalize() if shown else "Information"],
                partial(self._actions, ls, analysis, answer, doubted),
                {"preferred": answer.belief.preferred, "category": Category.OPERATORS},
            )

    def _actions(
        self, ls: CounterlensServer, analysis: Analysis, answer: KnownOperator, doubted: bool
    ) -> Iterator[types.CodeAction]:
        """Replace an operator with the one that the model prefers; at a mark, also offer to ignore it."""
        if (preferred := answer.belief.preferred) is None:
            return
        title = (
            f"Replace `{answer.belief.distribution.site.operator}` with `{preferred}` "
            f"({share(answer.belief.share)})"
        )
        yield replace_action(ls, analysis, answer.start, answer.end, preferred, title)
        if doubted:
            yield from ignore_actions(ls, analysis, answer.start, answer.end, Category.OPERATORS)

    def _ask_ahead(self, ls: CounterlensServer, analysis: Analysis) -> None:
        """Ask for all operators of a scored document, if the settings say so."""
        if ls.settings.operators_ask == "scored" and analysis.confidence is not None:
            # once for these scores
            analysis.memo.get("operators", lambda: _later(self._queue.ask_all(analysis)))

    def _ask_probed(
        self, _ls: CounterlensServer, analysis: Analysis, task: str, spans: list[tuple[int, int]]
    ) -> None:
        """Store the answers of the operator probe, for hover and marks."""
        if task == "operator":
            for span in spans:
                _later(self._queue.ask_all(analysis, span))


def _later(work: Awaitable[None]) -> None:
    task = asyncio.ensure_future(work)
    _TASKS.add(task)  # the loop keeps only a weak reference
    task.add_done_callback(_TASKS.discard)


class OperatorQueue:
    """Asks for the server."""

    def __init__(self, ls: CounterlensServer) -> None:
        self._ls = ls
        self._waiting: list[tuple[Analysis, Document, int]] = []
        self._answered: dict[tuple[str, int], asyncio.Event] = {}
        self._worker: asyncio.Task[None] | None = None

    def answers(self, analysis: Analysis) -> dict[int, KnownOperator]:
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
        document, confidence = analysis.document, analysis.confidence
        starts = await self._ls.offload(_starts, document, span, confidence)
        if analysis.document is document:
            answers = self.answers(analysis)
            self._waiting += [(analysis, document, start) for start in starts if start not in answers]
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
        if site is None or start in self.answers(analysis):
            return
        try:
            answer = await ls.offload(_answer, ls.host, settings, document, site, analysis.cancel)
        except Cancelled:
            return
        except CounterlensError as error:
            if ls.asks(settings):
                analysis.operators.failure = str(error)
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


def _starts(document: Document, span: tuple[int, int] | None, confidence: Confidence | None) -> list[int]:
    """The operators' first bytes, least likely first, by the scores of a reading from left to right."""
    try:
        sites = operator_sites(document, span)
    except SourceError:
        return []
    starts = [site.start for site in sites]
    if confidence is None or confidence.document is not document:
        return starts
    scores = confidence.scores
    likely = dict.fromkeys(starts, 0.0)
    for first, last, logprob in zip(
        scores.start.tolist(), scores.end.tolist(), scores.logprob.tolist(), strict=True
    ):
        for start in range(first, last):
            if start in likely:
                likely[start] = logprob
    return sorted(starts, key=lambda start: likely[start])
