"""Progress of something that takes longer than a moment, begun by the server, with a way to cancel it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from threading import Event

from lsprotocol import types

from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import recognised

Report = Callable[[str, int, int], None]
"""Called with what is being done, steps done and steps in all; from any thread."""


@asynccontextmanager
async def progress(ls: CounterlensServer, title: str, cancel: Event) -> AsyncIterator[Report]:
    """Show progress while the context lasts, where the client has such a thing.

    Args:
        ls: The server.
        title: What is being done.
        cancel: Set when the user cancels.
    """
    window = ls.client_capabilities.window
    if window is None or not window.work_done_progress:
        yield lambda _step, _done, _total: None
        return
    token, loop = str(uuid.uuid4()), asyncio.get_running_loop()
    await ls.work_done_progress.create_async(token)
    ls.work_done_progress.tokens[token].add_done_callback(lambda _future: cancel.set())
    ls.work_done_progress.begin(
        token, types.WorkDoneProgressBegin(title=recognised(title), cancellable=True, percentage=0)
    )

    def report(step: str, done: int, total: int) -> None:
        percentage = min(100, 100 * done // max(total, 1))
        value = types.WorkDoneProgressReport(message=recognised(step), percentage=percentage)
        loop.call_soon_threadsafe(ls.work_done_progress.report, token, value)

    try:
        yield report
    finally:
        ls.work_done_progress.end(token, types.WorkDoneProgressEnd())
        ls.work_done_progress.tokens.pop(token, None)
