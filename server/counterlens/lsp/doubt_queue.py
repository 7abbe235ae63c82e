"""Checks of functions for doubts in the background, one by one: changed and visible functions first."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from threading import Event

from lsprotocol import types

from counterlens.doubt.generating import scopes
from counterlens.doubt.margins import margins_of
from counterlens.doubt.marking import Doubt, Mark, doubts, fingerprint
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import settled
from counterlens.errors import Cancelled, CounterlensError
from counterlens.judging.base import LIMITS, lasting
from counterlens.languages.language import Feature
from counterlens.lsp.analysis import Analysis, ScoringState
from counterlens.lsp.background import QUIET_SECONDS, excluded
from counterlens.lsp.base import LOG, CounterlensServer
from counterlens.lsp.consent import has_consent, is_workspace_trusted
from counterlens.lsp.known_doubts import CheckedFunction
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import has_feature

IDLE_SECONDS = 1.5
"""Seconds without an edit or another pending request before tests run."""
MINUTE = 60.0

KEPT = 4096
"""Maximum number of functions with cached results, in all documents together."""


class DoubtQueue:
    """Checks functions for the server. An edit cancels the requests about the older version.

    Args:
        ls: The server.
    """

    def __init__(self, ls: CounterlensServer) -> None:
        self._ls = ls
        self._turn = asyncio.Lock()
        self._settler = DoubtSettler(ls)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._passed: dict[str, tuple[Document, object]] = {}
        self._present: dict[str, set[str]] = {}
        self._early: set[str] = set()  # edited before the first check: the earlier state is unknown
        self._edited_ones: dict[str, set[str]] = {}
        self._kept: OrderedDict[tuple[object, str], tuple[Doubt, ...]] = OrderedDict()
        ls.when_edited.append(self._edited)
        ls.when_changed.append(self._changed)
        ls.when_closed.append(self._closed)

    def known(self, analysis: Analysis) -> list[CheckedFunction]:
        """The functions of the newest version that were checked."""
        return analysis.doubts.on(analysis.document, self._ls.settings.asked)

    def _edited(self, _ls: CounterlensServer, analysis: Analysis) -> None:
        """Check edited functions before the document is scored, if the others were checked before."""
        if analysis.uri in self._present:
            self._start(analysis, changed_only=True)
        else:
            self._early.add(analysis.uri)

    def _changed(self, ls: CounterlensServer, analysis: Analysis) -> None:
        """Check all unchecked functions once a document is scored, or cannot be."""
        now = analysis.document, ls.settings.asked
        if analysis.state is not ScoringState.SCORING and self._passed.get(analysis.uri) != now:
            self._passed[analysis.uri] = now
            self._start(analysis, changed_only=False)

    def _closed(self, _ls: CounterlensServer, analysis: Analysis) -> None:
        self._passed.pop(analysis.uri, None)
        self._present.pop(analysis.uri, None)
        self._early.discard(analysis.uri)
        self._edited_ones.pop(analysis.uri, None)
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
        seen = {one.span[0]: one.fingerprint for one in self.known(analysis)}
        present = await ls.offload(_present, document, settings)
        current = {scope.function.start: name for name, scope in present}
        same = {start for start, name in seen.items() if current.get(start) == name}
        if analysis.document is not document or not ls.asks(settings):
            return
        names = {name for name, _ in present}
        before = self._present.get(analysis.uri, set() if analysis.uri in self._early else names)
        self._present[analysis.uri] = names
        edited = self._edited_ones.setdefault(analysis.uri, set())
        edited |= names - before
        edited &= names
        if analysis.doubts.keep(document, settings.asked, same):
            ls.changed(analysis)
        pending = [(name, scope) for name, scope in present if scope.function.start not in same]
        if changed_only:
            pending = [(name, scope) for name, scope in pending if name not in before]
        lines = analysis.visible
        for name, scope in sorted(pending, key=lambda one: not _is_visible(one[1], lines)):
            async with self._turn:
                found = await self._found(name, scope, settings, cancel)
            if found is None or analysis.document is not document or not ls.asks(settings):
                return
            span = scope.function.start, scope.function.end
            analysis.doubts.note(document, settings.asked, CheckedFunction(name, span, found, found))
            if found:
                ls.changed(analysis)
        if not changed_only:
            scopes_by_start = {scope.function.start: scope for _, scope in present}
            await self._settler.settle(analysis, scopes_by_start, edited, cancel)

    async def _found(
        self, name: str, scope: DoubtScope, settings: EditorSettings, cancel: Event
    ) -> tuple[Doubt, ...] | None:
        """The marks of a function; None if they are unavailable."""
        key = settings.asked, name
        if key not in self._kept:
            try:
                found = await self._ls.offload(_ask, self._ls.host, settings, scope, cancel)
            except Cancelled:
                return None
            except CounterlensError as error:
                LOG.info("no doubts: %s", error)
                return None
            self._kept[key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return tuple(doubt.within(scope) for doubt in self._kept[key])


def _present(document: Document, settings: EditorSettings) -> list[tuple[str, DoubtScope]]:
    """The functions that can be checked, each with what its result depends on; takes a moment."""
    if not has_feature(document, Feature.DOUBTS) or excluded(document, settings) is not None:
        return []
    return [(fingerprint(scope), scope) for scope in scopes(document)]


@cache
def _say_unfitted(model: str) -> None:
    """Log once why a model marks nothing by default."""
    LOG.info(
        "no margins are fitted for %s, so only tests mark places; fit them with counterlens check --fit",
        model,
    )


def _ask(host: ModelHost, settings: EditorSettings, scope: DoubtScope, cancel: Event) -> tuple[Doubt, ...]:
    """Check one function; takes up to some seconds."""
    model = host.get(settings)
    if margins_of(model.info) is None:
        _say_unfitted(host.name)
    return tuple(doubts(model, scope, cancel=cancel))


def _is_visible(scope: DoubtScope, lines: types.Range | None) -> bool:
    """Whether a part of a function is visible in the editor."""
    function = scope.function
    return (
        lines is not None
        and function.start_line - 1 <= lines.end.line
        and lines.start.line < function.end_line
    )


class DoubtSettler:
    """Runs tests for the server.

    Args:
        ls: The server.
    """

    def __init__(self, ls: CounterlensServer) -> None:
        self._ls = ls
        self._turn = asyncio.Lock()
        self._ran: deque[float] = deque()

    async def settle(
        self, analysis: Analysis, scopes: Mapping[int, DoubtScope], edited: Collection[str], cancel: Event
    ) -> None:
        """Run the tests of marked or edited functions of the newest version, if allowed.

        Args:
            analysis: The document.
            scopes: Functions of the document, by first byte.
            edited: Fingerprints of the edited functions.
            cancel: Set to cancel.
        """
        ls, document, settings = self._ls, analysis.document, self._ls.settings
        if not settings.doubt_tests_per_minute or document.path is None:
            return
        if not is_workspace_trusted(ls, document.path):
            return
        for one in list(analysis.doubts.on(document, settings.asked)):
            scope = scopes.get(one.span[0])
            due = one.found or one.shown or (one.settled_in is None and one.fingerprint in edited)
            if not due or scope is None or one.settled_in is document:
                continue
            found = tuple(doubt.within(scope) for doubt in one.found)
            await asyncio.sleep(IDLE_SECONDS)
            async with self._turn:
                await self._wait(max(len(found), 1))
                if analysis.document is not document or not ls.asks(settings):
                    return
                try:
                    shown = await ls.offload(_settled, ls.host, scope, found, settings, cancel)
                except Cancelled:
                    return
                except CounterlensError as error:
                    LOG.info("no tests were run: %s", error)
                    return
            if analysis.document is not document or not ls.asks(settings):
                return
            analysis.doubts.note(document, settings.asked, replace(one, shown=shown, settled_in=document))
            ls.changed(analysis)

    async def _wait(self, number: int) -> None:
        """Wait until `number` more places fit into the limit per minute."""
        while True:
            now = time.monotonic()
            while self._ran and now - self._ran[0] >= MINUTE:
                self._ran.popleft()
            if not self._ran or len(self._ran) + number <= self._ls.settings.doubt_tests_per_minute:
                break
            await asyncio.sleep(MINUTE - (now - self._ran[0]))
        self._ran.extend([now] * number)


def _settled(
    host: ModelHost, scope: DoubtScope, found: tuple[Doubt, ...], settings: EditorSettings, cancel: Event
) -> tuple[Mark, ...]:
    """Return the marks of a function that remain after its tests, with the test results; takes seconds."""
    if not has_consent(settings.allow_weaker_sandbox):
        return found
    timeout = settings.probe.get("timeout")
    limits = lasting(timeout) if timeout else LIMITS
    with host.use_model(settings, background=True) as model:
        return tuple(
            settled(
                model,
                scope,
                found,
                best_sandbox(),
                limits=limits,
                excluded=tuple(settings.probe.get("excluded_tests", ())),
                cancel=cancel,
            )
        )
