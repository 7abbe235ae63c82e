"""Checks of functions for doubts in the background, one by one: changed and visible functions first.

The others are checked if all responses are cached, or when the budget for idle work allows it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Collection, Container
from dataclasses import replace
from enum import Enum
from functools import cache
from threading import Event

from lsprotocol import types

from counterlens.doubt.blaming import is_failing
from counterlens.doubt.generating import scopes
from counterlens.doubt.margins import margins_of
from counterlens.doubt.marking import Doubt, doubts, fingerprint
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import Cancelled, CounterlensError
from counterlens.languages.language import Feature
from counterlens.lsp.analysis import FIRST_LINES, Analysis, ScoringState
from counterlens.lsp.background import QUIET_SECONDS, why_excluded
from counterlens.lsp.base import LOG, CounterlensServer
from counterlens.lsp.doubt_tests import PATIENCE, Outline, TestsInIdleTime
from counterlens.lsp.known_results import CheckedFunction
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.models.cache import NotCachedError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import has_feature

KEPT = 4096
"""Maximum number of functions with cached results, in all documents together."""
Pending = list[tuple[str, DoubtScope]]
"""Functions to check, each with its fingerprint."""


class ModelAccess(Enum):
    """How the model is asked about a function."""

    NOW = "now"
    IDLE = "charged to the budget for idle work"
    NEVER = "only cached responses count"


class DoubtQueue:
    """Checks functions for the server. An edit cancels the requests about the older version."""

    def __init__(self, ls: CounterlensServer) -> None:
        self._ls = ls
        self._turn = asyncio.Lock()
        self._tests = TestsInIdleTime(ls)
        self._looked = asyncio.Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._passed: dict[str, tuple[Document, object]] = {}
        self._kept: OrderedDict[tuple[object, str], tuple[Doubt, ...]] = OrderedDict()
        ls.when_edited.append(self._edited)
        ls.when_changed.append(self._changed)
        ls.when_looked.append(self._look)
        ls.when_closed.append(self._closed)
        ls.when_forgotten.append(lambda _: self._forget())

    def checked_functions(self, analysis: Analysis) -> list[CheckedFunction]:
        """The functions of the newest version that were checked."""
        return analysis.doubts.on(analysis.document, self._ls.settings.asked)

    def _edited(self, _ls: CounterlensServer, analysis: Analysis) -> None:
        """Check edited functions before the document is scored."""
        self._start(analysis, changed_only=True)

    def _changed(self, ls: CounterlensServer, analysis: Analysis) -> None:
        """Check all unchecked functions once a document is scored, or cannot be."""
        now = analysis.document, ls.settings.asked
        if analysis.state is not ScoringState.SCORING and self._passed.get(analysis.uri) != now:
            self._passed[analysis.uri] = now
            self._start(analysis, changed_only=False)
        elif analysis.uri not in self._tasks:
            self._tests.wake()  # the workspace may be trusted now

    def _look(self, _ls: CounterlensServer, _analysis: Analysis) -> None:
        """Other functions may be visible."""
        self._looked.set()
        self._looked = asyncio.Event()

    def _forget(self) -> None:
        """Ask again: the model or its margins changed."""
        self._kept.clear()
        self._passed.clear()

    def _closed(self, _ls: CounterlensServer, analysis: Analysis) -> None:
        self._passed.pop(analysis.uri, None)
        self._stop(analysis.uri)

    def _stop(self, uri: str) -> None:
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    def _start(self, analysis: Analysis, *, changed_only: bool) -> None:
        self._stop(analysis.uri)
        if not self._ls.settings.enable or self._ls.settings.doubt_diagnostics == "off":
            self._passed.pop(analysis.uri, None)
            return
        cancel = Event()
        task = asyncio.get_running_loop().create_task(self._check(analysis, cancel, changed_only))
        self._tasks[analysis.uri] = task

        def ended(done: asyncio.Task[None]) -> None:
            cancel.set()  # if it was cancelled: the thread and, between two chunks, the model notice
            if not done.cancelled() and (error := done.exception()) is not None:
                LOG.warning("%s: %s", type(error).__name__, error)
            if self._tasks.get(analysis.uri) is done:
                del self._tasks[analysis.uri]

        task.add_done_callback(ended)

    async def _check(self, analysis: Analysis, cancel: Event, changed_only: bool) -> None:
        """Check the unchecked functions of the newest version, and show each mark as it is found."""
        await asyncio.sleep(QUIET_SECONDS if changed_only else 0)
        ls, document, settings = self._ls, analysis.document, self._ls.settings
        seen = {
            function.span[0]: function.fingerprint
            for function in self.checked_functions(analysis)
            if function.is_asked or function.shown
        }
        present, first = await ls.offload(_present, document, analysis.opened, settings)
        current = {scope.function.start: name for name, scope in present}
        same = {start for start, name in seen.items() if current.get(start) == name}
        if analysis.document is not document or not ls.asks(settings):
            return
        edited = self._tests.saw(analysis, document, [scope for _, scope in present], first)
        if analysis.doubts.keep(document, settings.asked, same):
            ls.changed(analysis)
        pending = [(name, scope) for name, scope in present if scope.function.start not in same]
        if changed_only:
            pending = [(name, scope) for name, scope in pending if scope.function.qualname in edited]
        if edited:  # an edit that breaks tests is shown before the model has read it
            self._tests.wake()
        checked = edited if changed_only else None
        if await self._check_pending(analysis, document, settings, cancel, pending, edited, checked):
            self._tests.checked(analysis, checked)

    async def _check_pending(
        self,
        analysis: Analysis,
        document: Document,
        settings: EditorSettings,
        cancel: Event,
        pending: Pending,
        edited: Collection[str],
        checked: set[str] | None,
    ) -> bool:
        """Check functions of a version; False if they were given up.

        Args:
            edited: The functions whose own text changed.
            checked: What the queue of tests is told, as in `TestsInIdleTime.checked`.
        """
        budget, unread, is_told = self._ls.host.budget, set[str](), False
        until = time.monotonic() + PATIENCE
        while pending:
            looked, delay = self._looked, budget.delay
            chosen = _choose(pending, edited, analysis.visible, unread, is_idle=not delay)
            if chosen is None:
                if not is_told:  # tests run before the model has read the rest
                    self._tests.checked(analysis, checked)
                    is_told = True
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(looked.wait(), delay)
                continue
            name, scope, access = chosen
            if scope.function.qualname in edited and await self._tests.first(analysis, scope, until):
                pending.remove((name, scope))
                continue  # a fix is searched among all alternatives, more than the model alone would mark
            try:
                async with self._turn:
                    marks = await self._found(name, scope, settings, cancel, access)
            except NotCachedError:
                unread.add(name)
                continue
            pending.remove((name, scope))
            if marks is None or analysis.document is not document or not self._ls.asks(settings):
                return False
            self._note(analysis, document, settings, name, scope, marks)
            is_told = is_told and not marks
        return True

    def _note(
        self,
        analysis: Analysis,
        document: Document,
        settings: EditorSettings,
        name: str,
        scope: DoubtScope,
        marks: tuple[Doubt, ...],
    ) -> None:
        """Store and show the marks of a function."""
        span = scope.function.start, scope.function.end
        function = CheckedFunction(name, span, marks, marks)
        tested = analysis.doubts.at(document, settings.asked, span[0])
        if tested is not None and not tested.is_asked and tested.shown:
            fails = any(map(is_failing, tested.shown))
            shown = tested.shown if fails else (*marks, *tested.shown)
            function = replace(tested, found=marks, shown=shown, is_asked=True)
        analysis.doubts.note(document, settings.asked, function)
        if marks:
            self._ls.changed(analysis)

    async def _found(
        self, name: str, scope: DoubtScope, settings: EditorSettings, cancel: Event, access: ModelAccess
    ) -> tuple[Doubt, ...] | None:
        """The marks of a function; None if they are unavailable.

        Raises:
            NotCachedError: the model may not be asked.
        """
        key = settings.asked, name
        if key not in self._kept:
            try:
                marks = await self._ls.offload(_ask, self._ls.host, settings, scope, cancel, access)
            except Cancelled:
                return None
            except NotCachedError:
                raise
            except CounterlensError as error:
                LOG.info("no doubts: %s", error)
                return None
            self._kept[key] = marks
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return tuple(doubt.within(scope) for doubt in self._kept[key])


def _present(
    document: Document, opened: Document, settings: EditorSettings
) -> tuple[list[tuple[str, DoubtScope]], Outline]:
    """The functions that can be checked, each with what its result depends on; takes a moment.

    Also returns the outline of the version that was opened.
    """
    if not has_feature(document, Feature.DOUBTS) or why_excluded(document, settings) is not None:
        return [], Outline({}, frozenset())
    here = scopes(document)
    return [(fingerprint(scope), scope) for scope in here], Outline.of(opened, scopes(opened))


@cache
def _say_unfitted(model: str) -> None:
    """Log once why a model marks nothing by default."""
    LOG.info(
        "no margins are fitted for %s, so only tests mark places; fit them with counterlens check --fit",
        model,
    )


def _ask(
    host: ModelHost, settings: EditorSettings, scope: DoubtScope, cancel: Event, access: ModelAccess
) -> tuple[Doubt, ...]:
    """Check one function; takes up to some seconds."""
    model = host.get(settings, idle=access is not ModelAccess.NOW)
    if access is ModelAccess.NEVER:
        model = model.recalling()
    if margins_of(model.info) is None:
        _say_unfitted(host.name)
    return tuple(doubts(model, scope, cancel=cancel))


def _choose(
    pending: Pending,
    edited: Container[str],
    lines: types.Range | None,
    unread: Container[str],
    *,
    is_idle: bool,
) -> tuple[str, DoubtScope, ModelAccess] | None:
    """The function that is checked next, the nearest to the visible lines; None if none may be checked now.

    Args:
        edited: The functions whose own text changed.
        lines: The visible lines; the first ones count if they are unknown.
        unread: The fingerprints of functions that the model must be asked about.
        is_idle: Whether it may be asked about functions that are neither visible nor edited.
    """
    first, last = (lines.start.line, lines.end.line) if lines else (0, FIRST_LINES)

    def distance(entry: tuple[str, DoubtScope]) -> int:
        function = entry[1].function
        return max(0, first - function.end_line + 1, function.start_line - 1 - last)

    ranked = sorted(pending, key=distance)
    urgent = [each for each in ranked if not distance(each) or each[1].function.qualname in edited]
    cached = [each for each in ranked if each[0] not in unread]
    for entries, access in (
        (urgent, ModelAccess.NOW),
        (cached, ModelAccess.NEVER),
        (ranked, ModelAccess.IDLE),
    ):
        if entries and (is_idle or access is not ModelAccess.IDLE):
            return (*entries[0], access)
    return None
