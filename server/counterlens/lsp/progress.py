"""Long-running work off the event loop, with progress and cancel; and what becomes of its result.

Requests about a document come before its scoring. A report in a client without a view for it is a Markdown
file, if it can open one; an error is the answer of the command.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import platformdirs
from lsprotocol import types

from counterlens.atomic_file import replace_file
from counterlens.errors import Cancelled, CounterlensError
from counterlens.evaluation.time_left import StepsLeft
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.wording import about
from counterlens.progress import ProgressCallback, Steps, WholeShare

Made = TypeVar("Made")
Handler = Callable[[CounterlensServer, Any], Coroutine[Any, Any, Made]]


@dataclass(frozen=True, slots=True)
class Announcements:
    """The messages about one piece of work.

    Attributes:
        title: Title of its progress.
        begun: Status while it runs.
        ended: Status when it is done.
        cancelled: Status when it was cancelled.
    """

    title: str
    begun: str
    ended: str
    cancelled: str

    @classmethod
    def of_probe(cls, name: str) -> Announcements:
        """The messages about a probe of something."""
        return Announcements(
            f"Probing {name}", f"probing {name}", f"{name} was probed", f"the probe of {name} was cancelled"
        )


def refusing(
    refused: Callable[..., Made],
    cancelled: str = "",
    *,
    announced: bool = True,
) -> Callable[[Handler[Made]], Handler[Made]]:
    """Decorate the handler of a command: an error becomes its answer.

    Args:
        refused: Makes the answer from the text of the error, as `error`.
        cancelled: The text if the user cancelled; empty: as for other errors.
        announced: Whether the error is announced, too, as by `CounterlensServer.refuse`.
    """

    def decorate(handler: Handler[Made]) -> Handler[Made]:
        @wraps(handler)
        async def answer(ls: CounterlensServer, argument: Any = None) -> Made:
            settings = ls.settings
            try:
                return await handler(ls, argument)
            except CounterlensError as error:
                if cancelled and isinstance(error, Cancelled):
                    return refused(error=cancelled)
                return refused(error=ls.refuse(error, settings) if announced else str(error))

        return answer

    return decorate


async def ask_first(
    ls: CounterlensServer,
    settings: EditorSettings,
    analysis: Analysis,
    announcements: Announcements,
    work: Callable[[Steps], Made],
    expected: float | None = None,
) -> Made:
    """Run requests about a document before its scoring, with status messages; scoring resumes afterwards.

    Args:
        settings: Settings that name the model; no status is sent after a change to another model.
        work: The work, run on the executor.
        expected: Seconds that it takes, if known.

    Raises:
        Cancelled: the user cancelled.
        Also the errors of `work`.
    """
    document, interrupted = analysis.document, analysis.confidence is None

    def announce(detail: str) -> None:
        if ls.asks(settings):
            ls.announce("ready", detail)

    if interrupted:
        ls.scorer.withdraw(analysis.uri)
    ls.announce("probing", announcements.begun)
    try:
        made = await with_progress(ls, announcements.title, work, expected)
    except (asyncio.CancelledError, Cancelled):
        announce(announcements.cancelled)
        raise
    finally:
        if interrupted and analysis.document is document:
            ls.scorer.schedule(analysis, quiet=0)
    announce(announcements.ended)
    return made


async def with_progress(
    ls: CounterlensServer, title: str, work: Callable[[Steps], Made], expected: float | None = None
) -> Made:
    """Run work off the event loop, with progress if the client supports it.

    Args:
        work: The work; its steps are cancelled with the progress or with the request.
        expected: Seconds that it takes, if known.
    """
    cancel = Event()
    try:
        async with _progress(ls, title, cancel, StepsLeft(expected)) as report:
            return await ls.offload(work, Steps(cancel, report))
    except asyncio.CancelledError:
        cancel.set()
        raise


@asynccontextmanager
async def _progress(
    ls: CounterlensServer, title: str, cancel: Event, left: StepsLeft
) -> AsyncIterator[ProgressCallback]:
    """Show progress while the context lasts; `cancel` is set when the user cancels it."""
    window = ls.client_capabilities.window
    if window is None or not window.work_done_progress:
        yield lambda _step, _done, _total: None
        return
    token, loop, whole = str(uuid.uuid4()), asyncio.get_running_loop(), WholeShare()
    await ls.work_done_progress.create_async(token)
    ls.work_done_progress.tokens[token].add_done_callback(lambda _future: cancel.set())
    ls.work_done_progress.begin(
        token, types.WorkDoneProgressBegin(title=title, cancellable=True, percentage=0)
    )

    def report(step: str, done: int, total: int) -> None:
        share = min(1.0, done / max(total, 1))
        seconds = left.after(step, share)
        message = step
        if seconds is not None and left.is_whole:
            message = f"{message} · {about(seconds)} left"
        elif seconds is not None:
            message = f"{message} · {about(seconds)} left for this step"
        percentage = int(100 * whole.after(step, done, total))
        value = types.WorkDoneProgressReport(message=message, percentage=percentage)
        loop.call_soon_threadsafe(ls.work_done_progress.report, token, value)

    try:
        yield report
    finally:
        ls.work_done_progress.end(token, types.WorkDoneProgressEnd())
        ls.work_done_progress.tokens.pop(token, None)


async def show_markdown(ls: CounterlensServer, name: str, summary: str, markdown: str) -> None:
    """Show a result in one sentence, and open its report.

    Args:
        name: Subject of the report; a newer report of this name replaces an older one.
    """
    ls.show(summary, types.MessageType.Info)
    await open_markdown(ls, name, markdown)


async def open_markdown(ls: CounterlensServer, name: str, markdown: str) -> None:
    """Open a text, if the client can; a newer one of this name replaces an older one."""
    window = ls.client_capabilities.window
    if window is None or window.show_document is None or not window.show_document.support:
        return
    place = await ls.offload(_write_page, name, markdown)
    # Not awaited: a client may show nothing before it gets the response that this is part of.
    ls.window_show_document(types.ShowDocumentParams(place.as_uri(), take_focus=False))


def _write_page(name: str, markdown: str) -> Path:
    folder = Path(platformdirs.user_cache_dir("counterlens")) / "reports"
    safe = "".join(char if char.isalnum() or char in "._-" else "-" for char in name)[:60]
    place = folder / f"{safe}-{hashlib.blake2b(name.encode(), digest_size=4).hexdigest()}.md"
    replace_file(place, markdown)
    return place
