"""Tests verify doubts in the background: in trusted workspaces, in idle time, at a limited rate."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import replace
from threading import Event

from counterlens.attribution.base import LIMITS, lasting
from counterlens.doubt.marking import Doubt
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import settled
from counterlens.errors import Cancelled, CounterlensError
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import LOG, CounterlensServer
from counterlens.lsp.consent import has_consent, is_workspace_trusted
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.sandbox.registry import best_sandbox

IDLE_SECONDS = 1.5
"""Seconds without an edit or another pending request before tests run."""
MINUTE = 60.0


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
) -> tuple[Doubt, ...]:
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
