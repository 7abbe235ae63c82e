"""Scoring in the background: a newer version of a document cancels the older one's scoring."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from threading import Event

from counterlens.confidence import Confidence, confidence, score_document
from counterlens.confidence.calibrated import calibrated, fits
from counterlens.confidence.calibration import Calibration, load_calibration
from counterlens.confidence.exclusion import reason_to_skip
from counterlens.errors import Cancelled, CounterlensError, SourceError, UnscorableError
from counterlens.lsp.analysis import Analysis, Memo
from counterlens.lsp.language import error_text, t
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.status import Announce, StepCount
from counterlens.models.base import Capability
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions

QUIET_SECONDS = 0.3
"""How long the user has to pause before a new version is scored."""


@dataclass(frozen=True, slots=True)
class ScoredDocument:
    """What there is to know about a version of a document."""

    confidence: Confidence
    shown: Confidence
    calibration: Calibration | None
    memo: Memo = field(default_factory=Memo)


class BackgroundScorer:
    """Scores documents one at a time, off the event loop.

    Args:
        host: The model.
        executor: Where the waiting happens.
        settings: The current settings.
        changed: Called on the event loop when the state of a document has changed.
        announce: Called on the event loop with a state of the server and a detail.
        prepare: Called on the executor with new scores, to make ahead what the features will want.
    """

    def __init__(
        self,
        host: ModelHost,
        executor: Executor,
        settings: Callable[[], EditorSettings],
        changed: Callable[[Analysis], None],
        announce: Announce,
        prepare: Callable[[ScoredDocument], None],
    ) -> None:
        self._host, self._executor, self._settings = host, executor, settings
        self._changed, self._announce, self._prepare = changed, announce, prepare
        self._turn = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def schedule(self, analysis: Analysis, *, quiet: float = QUIET_SECONDS) -> None:
        """Score the newest version of a document, once the user has paused."""
        self.withdraw(analysis.uri)
        analysis.cancel = Event()  # that of a scoring that was withdrawn is set, or will be
        task = asyncio.get_running_loop().create_task(self._score(analysis, quiet))
        self._tasks[analysis.uri] = task
        task.add_done_callback(lambda done: self._forget(analysis.uri, done))

    def withdraw(self, uri: str) -> None:
        """Give up the scoring of a document."""
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    def _forget(self, uri: str, done: asyncio.Task[None]) -> None:
        if self._tasks.get(uri) is done:
            del self._tasks[uri]

    async def _score(self, analysis: Analysis, quiet: float) -> None:
        await asyncio.sleep(quiet)
        document, cancel = analysis.document, analysis.cancel
        if not document.text.strip():
            analysis.failed(t("the file is empty"))
            self._changed(analysis)
            return
        outcome: ScoredDocument | CounterlensError
        try:
            async with self._turn:
                found = await asyncio.get_running_loop().run_in_executor(
                    self._executor, self._work, document, cancel, asyncio.get_running_loop()
                )
        except asyncio.CancelledError:
            cancel.set()  # the thread notices, and the model between two chunks
            raise
        except Cancelled:
            return
        except (SourceError, UnscorableError) as reason:
            outcome = reason
            self._announce("ready", f"no confidence here, {reason}; the model can be probed")
        except CounterlensError as error:
            outcome = error
            self._announce("error", str(error), error.brief)
        else:
            outcome = found
            self._announce("ready", f"{document.path.name if document.path else 'the text'} is scored")
        if analysis.document is not document:
            return  # a newer version has been taken, and is scored by itself
        if isinstance(outcome, ScoredDocument):
            analysis.scored(outcome.confidence, outcome.shown, outcome.calibration, outcome.memo)
        else:
            analysis.failed(error_text(outcome))
        self._changed(analysis)

    def _work(self, document: Document, cancel: Event, loop: asyncio.AbstractEventLoop) -> ScoredDocument:
        settings = self._settings()

        def announce(state: str, detail: str, steps: StepCount | None = None) -> None:
            def tell() -> None:
                if not cancel.is_set():  # or it would be said under the name of a newer model
                    self._announce(state, detail, "", steps)

            loop.call_soon_threadsafe(tell)

        def loading(done: int, total: int) -> None:
            announce("loading", f"opening {settings.model_spec}", StepCount(done, total))

        reason = excluded(document, settings)
        if reason is not None:
            raise SourceError(reason)
        announce("loading", f"opening {settings.model_spec}")
        model = self._host.get(settings, loading)
        if not model.offers(Capability.SCORE, cancel=cancel):
            raise UnscorableError("this model gives no token probabilities")
        name = document.path.name if document.path else "the text"
        announce("scoring", f"scoring {name}")
        ends = [function.end for function in functions(document)]

        def scoring(done: int, total: int) -> None:
            percent = 100 * done // total
            scored = sum(end <= done for end in ends)
            steps = StepCount(scored, len(ends), "functions") if len(ends) > 1 else StepCount(percent, 100)
            announce("scoring", f"scoring {name}: {percent} %", steps)

        scores = score_document(
            model,
            document,
            max_bytes=settings.max_bytes,
            cancel=cancel,
            progress=scoring,
        )
        found = confidence(document, scores, settings.aggregation, settings.alignment)
        known = load_calibration(model.info.identity) if settings.calibrated else None
        usable = known if known is not None and fits(found, known) else None
        scored = ScoredDocument(found, calibrated(found, usable) if usable else found, usable)
        self._prepare(scored)
        return scored


def excluded(document: Document, settings: EditorSettings) -> str | None:
    """Why a document is not scored, before anything is loaded for it."""
    if document.language not in settings.languages:
        return f"{document.language} is not among the languages in counterlens.languages"
    return reason_to_skip(document, settings.limits) if settings.exclude else None
