"""Scoring in the background, unit by unit: visible units first, then the most recently changed ones.

What is neither visible nor edited is read when the budget for idle work allows it. A newer version of a
document cancels the scoring of the older one. The model gets one unit per request, so a more urgent document
waits for one chunk at most, and interrupts the request in progress. Responses are cached by unit, also from
one session to the next, so a unit that was scored before is available at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any, Generic, ParamSpec, TypeVar

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.correctness import Correctness, load_correctness
from counterlens.confidence.exclusion import reason_to_skip
from counterlens.confidence.scoring import join_scores, score_unit
from counterlens.errors import (
    Cancelled,
    CounterlensError,
    ModelProcessDiedError,
    SourceError,
    UnreachableError,
    UnscorableError,
)
from counterlens.lsp.analysis import Analysis, Memo, ScoringJob, ScoringState, Span
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.status import Announce, StepCount
from counterlens.models.base import Capability, Model, Progress, TokenScores
from counterlens.models.cache import NotCachedError
from counterlens.syntax.document import Document

Who = TypeVar("Who")

Given = ParamSpec("Given")
Made = TypeVar("Made")
QUIET_SECONDS = 0.3
"""Pause in typing after which a new version is scored."""
FIRST_RETRY, LAST_RETRY = 15.0, 240.0
"""Seconds until the first retry when a model server is unreachable, and the longest delay."""


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """The scores of one version of a document, as features get them."""

    confidence: Confidence
    memo: Memo = field(default_factory=Memo)
    correctness: Correctness | None = None


class BackgroundScorer:
    """Scores the units of documents one at a time, off the event loop.

    Args:
        executor: Runs the blocking requests.
        settings: The current settings.
        changed: Called on the event loop when the state of a document changes.
        grew: Called on the event loop when more of a document is scored, but not all.
        announce: Called on the event loop with a server state and a detail.
        prepare: Called on the executor with new scores, to compute in advance what features will request.
    """

    def __init__(
        self,
        host: ModelHost,
        executor: Executor,
        settings: Callable[[], EditorSettings],
        changed: Callable[[Analysis], None],
        grew: Callable[[Analysis], None],
        announce: Announce,
        prepare: Callable[[ScoredDocument], None],
    ) -> None:
        self._host, self._executor, self._settings = host, executor, settings
        self._changed, self._grew, self._announce, self._prepare = changed, grew, announce, prepare
        self._turns: Turns[ScoringJob] = Turns(lambda job: job.urgency)
        self._tasks: dict[str, asyncio.Task[object]] = {}
        self._jobs: dict[str, ScoringJob] = {}
        self._answered: dict[str, set[tuple[object, bytes]]] = {}
        self._views: dict[str, Span] = {}
        self._texts: dict[str, tuple[set[bytes], set[bytes]]] = {}  # of units: all, and edited ones
        self._order = itertools.count()

    def schedule(self, analysis: Analysis, *, quiet: float = QUIET_SECONDS) -> None:
        """Score the newest version of a document after a pause in typing."""
        self.withdraw(analysis.uri)
        self._start(analysis.uri, self._score(analysis, quiet))

    def withdraw(self, uri: str) -> None:
        """Cancel the scoring of a document."""
        self._jobs.pop(uri, None)
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    def forget(self, uri: str) -> None:
        """Cancel the scoring of a closed document."""
        self.withdraw(uri)
        self._views.pop(uri, None)
        self._texts.pop(uri, None)
        self._answered.pop(uri, None)

    def close(self) -> None:
        """Cancel all scoring."""
        for uri in list(self._tasks):
            self.withdraw(uri)

    def look(self, uri: str, view: Span) -> None:
        """Score the visible part of a document first.

        Args:
            view: The visible bytes.
        """
        self._views[uri] = view
        job = self._jobs.get(uri)
        if job is None:
            return
        before = job.urgency
        job.view, job.order = view, next(self._order)
        job.looked.set()
        task = self._tasks.get(uri)
        if task is None or task.done():
            if job.next_unit() is not None:
                self._start(uri, self._go_on(job))
        elif job.urgency < before:
            self._turns.interrupt(job)
            self._turns.reconsider()

    def _start(self, uri: str, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[uri] = task
        task.add_done_callback(lambda done: self._ended(uri, done))

    def _ended(self, uri: str, done: asyncio.Task[object]) -> None:
        if self._tasks.get(uri) is done:
            del self._tasks[uri]

    async def _score(self, analysis: Analysis, quiet: float, retry: float = FIRST_RETRY) -> None:
        """Score a document after `quiet` seconds; retry after `retry` seconds if a server was unreachable."""
        await asyncio.sleep(quiet)
        document = analysis.document
        if not document.text.strip():
            analysis.failed("the file is empty")
            self._changed(analysis)
            return
        reason = why_excluded(document, self._settings())
        if reason is not None:
            self._announce("ready", f"no confidence here, {reason}; the model can be probed")
            analysis.failed(str(SourceError(reason)))
            self._changed(analysis)
            return
        limit = self._settings().max_bytes
        job = await self._offload(ScoringJob, analysis, document, next(self._order), limit)
        job.view = self._views.get(analysis.uri)
        answered, asked = self._answered.get(analysis.uri, set()), self._settings().asked
        job.answered = {i for i in range(len(job.units)) if (asked, job.text_of(i)) in answered}
        texts = [job.text_of(i) for i in range(len(job.units))]
        before, edited = self._texts.get(analysis.uri) or (set(texts), set())
        job.edited = {i for i, text in enumerate(texts) if text in edited or text not in before}
        self._texts[analysis.uri] = set(texts), {texts[i] for i in job.edited}
        self._jobs[analysis.uri] = job
        if not await self._go_on(job):
            await self._score(analysis, retry, min(2 * retry, LAST_RETRY))

    async def _go_on(self, job: ScoringJob) -> bool:
        """Score the rest of a document, little by little; False if the model was unreachable."""
        while True:
            reached = await self._score_now(job)
            if not reached or self._jobs.get(job.analysis.uri) is not job or job.next_unit() is None:
                return reached
            while self._next_unit(job) is None:
                job.looked.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(job.looked.wait(), self._host.budget.delay)

    async def _score_now(self, job: ScoringJob) -> bool:
        """Score what may be scored now, and announce the result; False if the model was unreachable."""
        analysis, reached = job.analysis, True
        try:
            model = job.model or await self._opened(job)
            begun = False
            while not begun or self._next_unit(job) is not None:
                begun = True
                while (unit := self._next_unit(job)) is not None:
                    await self._next(job, model, unit)
                if job.parts or job.next_unit() is None:
                    await self._show(job)
        except (SourceError, UnscorableError) as reason:
            self._announce("ready", f"no confidence here, {reason}; the model can be probed")
            analysis.failed(str(reason))
        except CounterlensError as error:
            self._announce("error", str(error), error.brief)
            analysis.failed(str(error))
            reached = not isinstance(error, UnreachableError)
        else:
            self._announce("ready", _describe(job))
        if analysis.state is ScoringState.UNAVAILABLE:
            self._jobs.pop(analysis.uri, None)
        self._changed(analysis)
        return reached

    def _next_unit(self, job: ScoringJob) -> int | None:
        """The next unit that may be scored now."""
        return job.next_unit(idle=not self._host.budget.delay)

    async def _opened(self, job: ScoringJob) -> Model:
        settings, loop = self._settings(), asyncio.get_running_loop()

        def loading(done: int, total: int) -> None:
            steps = StepCount(done, total)
            detail = f"opening {settings.model_spec}"
            loop.call_soon_threadsafe(lambda: self._announce("loading", detail, "", steps))

        self._announce("loading", f"opening {settings.model_spec}")
        withdrawn = Event()
        try:
            job.model = await self._offload(self._open, settings, loading, withdrawn)
            job.idle_model = await self._offload(partial(self._host.get, settings, idle=True))
        except asyncio.CancelledError:
            withdrawn.set()
            raise
        self._announce("scoring", f"scoring {_name(job.document)}")
        return job.model

    def _open(self, settings: EditorSettings, loading: Callable[[int, int], None], withdrawn: Event) -> Model:
        model = self._host.get(settings, loading)
        if not model.offers(Capability.SCORE, cancel=withdrawn):
            raise UnscorableError("this model returns no token probabilities")
        return model

    async def _next(self, job: ScoringJob, model: Model, unit: int) -> None:
        """Score one more unit, when it is this document's turn."""
        loop = asyncio.get_running_loop()

        def scoring(done: int, _total: int) -> None:
            loop.call_soon_threadsafe(self._announce_progress, job, done - job.units[unit].start)

        try:
            async with self._turns.take(job) as interrupt:
                now = self._next_unit(job)  # the user may have scrolled meanwhile
                unit = unit if now is None else now
                scores = None if job.is_urgent(unit) else await self._offload(_recall, job, unit)
                if scores is None:
                    if self._next_unit(job) != unit:
                        return
                    reading = model if job.is_urgent(unit) else job.idle_model or model
                    scores = await self._offload(_score, reading, job, unit, interrupt, scoring)
                job.parts[unit] = scores
                answered = self._answered.setdefault(job.analysis.uri, set())
                answered.add((self._settings().asked, job.text_of(unit)))
        except ModelProcessDiedError as error:
            job.died(unit, error)
            self._announce("loading", f"{error.message}; restarting it")
            return
        if job.is_urgent(unit) or job.analysis.state is ScoringState.SCORING:
            self._announce_progress(job)
        if unit in job.parts and job.worth_showing(unit) and job.next_unit() is not None:
            job.being_shown = loop.create_task(self._show_part(job))

    async def _show_part(self, job: ScoringJob) -> None:
        """Show the finished units while scoring continues."""
        begun, unscored = time.monotonic(), job.unscored
        scored = await self._made(job)
        job.showed(time.monotonic() - begun)
        if self._jobs.get(job.analysis.uri) is job and job.analysis.state is ScoringState.SCORING:
            job.analysis.correctness = scored.correctness
            job.analysis.partly_scored(scored.confidence, scored.memo, unscored)
            self._grew(job.analysis)

    async def _show(self, job: ScoringJob) -> None:
        """Show all finished units when no unit is left to score now."""
        if not job.parts:
            raise job.failure or SourceError(
                f"its parts are too long to score (limit: {job.unasked:,} bytes)"
            )
        unscored = job.unscored
        scored = await self._made(job)
        job.analysis.correctness = scored.correctness
        job.analysis.scored(scored.confidence, scored.memo, unscored)

    async def _made(self, job: ScoringJob) -> ScoredDocument:
        parts = [part for _, part in sorted(job.parts.items())]
        return await self._offload(self._join, job.document, parts, job.scored, self._settings(), job.model)

    def _join(
        self,
        document: Document,
        parts: list[TokenScores],
        within: list[Span],
        settings: EditorSettings,
        model: Model | None,
    ) -> ScoredDocument:
        document_confidence = confidence(
            document,
            join_scores(parts, document.text),
            settings.aggregation,
            settings.alignment,
            within=within,
        )
        maps = load_correctness(model.info.identity) if model else None
        scored = ScoredDocument(
            document_confidence,
            correctness=maps if maps is not None and maps.language == document.language else None,
        )
        self._prepare(scored)
        return scored

    def _announce_progress(self, job: ScoringJob, more: int = 0) -> None:
        """Announce the progress of a document; `more` is the number of finished bytes of the current unit."""
        if self._jobs.get(job.analysis.uri) is not job:
            return  # a newer model would get the credit
        percent, (done, functions) = job.percent(more), job.functions_done
        steps = StepCount(done, functions, "functions") if functions > 1 else StepCount(percent, 100)
        self._announce("scoring", f"scoring {_name(job.document)}: {percent} %", steps=steps)

    async def _offload(self, work: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, partial(work, *given, **named))


def _score(model: Model, job: ScoringJob, unit: int, interrupt: Event, progress: Progress) -> TokenScores:
    return score_unit(model, job.document, job.units[unit], cancel=interrupt, progress=progress)


def _recall(job: ScoringJob, unit: int) -> TokenScores | None:
    """The cached scores of a unit; None if there are none, which the job remembers."""
    if job.idle_model is None or unit in job.unread:
        return None
    try:
        return score_unit(job.idle_model.recalling(), job.document, job.units[unit])
    except NotCachedError:
        job.unread.add(unit)
        return None


def _name(document: Document) -> str:
    return document.path.name if document.path else "the text"


def _describe(job: ScoringJob) -> str:
    """Describe a finished document."""
    name = _name(job.document)
    if job.aside:
        lines = ", ".join(str(job.first_line(unit)) for unit in sorted(job.aside))
        why = "the model's process ended there" if job.failure else "it is too long"
        return f"{name} is scored, except for the part that begins at line {lines}: {why}"
    return f"the visible part of {name} is scored" if job.unscored else f"{name} is scored"


def why_excluded(document: Document, settings: EditorSettings) -> str | None:
    """Why a document is not scored; checked before a model is loaded for it."""
    if document.language not in settings.languages:
        return f"{document.language} is not among the languages in counterlens.languages"
    return reason_to_skip(document, settings.limits) if settings.exclude else None


class Turns(Generic[Who]):
    """One turn at a time, the most urgent caller first. For one event loop.

    Args:
        urgency: Current sort key of a caller; less comes first.
    """

    def __init__(self, urgency: Callable[[Who], tuple[int, ...]]) -> None:
        self._urgency = urgency
        self._waiting: list[tuple[Who, asyncio.Future[Event]]] = []
        self._holder: tuple[Who, Event] | None = None

    @asynccontextmanager
    async def take(self, who: Who) -> AsyncIterator[Event]:
        """Wait for a turn, and hold it while the context lasts.

        The event that it yields is set when the work should stop: because a more urgent caller waits, or
        because the task was cancelled. `Cancelled` from interrupted work ends the context quietly; the
        interrupted caller asks for another turn.
        """
        granted = asyncio.get_running_loop().create_future()
        entry = (who, granted)
        self._waiting.append(entry)
        self.reconsider()
        try:
            interrupt = await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self._release()
            else:
                self._waiting.remove(entry)
            raise
        try:
            yield interrupt
        except asyncio.CancelledError:
            interrupt.set()
            raise
        except Cancelled:
            if not interrupt.is_set():
                raise
        finally:
            self._release()

    def reconsider(self) -> None:
        """Give the turn to the most urgent caller, or ask its holder to give way."""
        able = [waiting for waiting in self._waiting if not waiting[1].done()]
        if not able:
            return
        entry = min(able, key=lambda waiting: self._urgency(waiting[0]))
        if self._holder is None:
            self._waiting.remove(entry)
            interrupt = Event()
            self._holder = (entry[0], interrupt)
            entry[1].set_result(interrupt)
        elif self._urgency(entry[0]) < self._urgency(self._holder[0]):
            self._holder[1].set()

    def interrupt(self, who: Who) -> None:
        """Ask a caller that has the turn to stop its work, because it has something more urgent to do."""
        if self._holder is not None and self._holder[0] is who:
            self._holder[1].set()

    def _release(self) -> None:
        self._holder = None
        self.reconsider()
