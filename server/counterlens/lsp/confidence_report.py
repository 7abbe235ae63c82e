"""How expected code is to the model, as a report for reading: what a tool for assistants answers with.

Command `counterlens.confidence`: argument `{uri, function? | position?}`, answer `ConfidenceAnswer`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from threading import Event
from typing import Any

from counterlens.confidence import Confidence
from counterlens.confidence.measuring import measure
from counterlens.errors import Cancelled, CounterlensError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t, told
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import Report, progress
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import document_named, function_named, plain
from counterlens.reports.confidence_markdown import confidence_markdown
from counterlens.syntax.document import Document

COMMAND = "counterlens.confidence"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(COMMAND)(_confidence)


@dataclass(frozen=True, slots=True)
class ConfidenceAnswer:
    """A report, or why there is none.

    Attributes:
        ok: Whether there is one.
        markdown: The report.
        error: What happened and what to do.
        version: Of the document.
    """

    ok: bool
    markdown: str = ""
    error: str | None = None
    version: int = 0


async def _confidence(ls: CounterlensServer, argument: Any = None) -> ConfidenceAnswer:
    """Report the confidence on a document or on one of its functions."""
    named, cancel, span = plain(argument), Event(), None
    try:
        analysis = document_named(ls, argument)
        document = analysis.document
        if named.get("function") or named.get("position") is not None:
            _, function = function_named(ls, argument)
            span = function.start, function.end
        async with progress(ls, "Measuring confidence", cancel) as report:
            known = analysis.confidence if span is None else None
            text = await asyncio.get_running_loop().run_in_executor(
                ls.executor, _report, ls.host, ls.settings, document, known, span, cancel, report
            )
    except asyncio.CancelledError:
        cancel.set()
        raise
    except Cancelled:
        return ConfidenceAnswer(ok=False, error=t("Measuring the confidence was cancelled."))
    except CounterlensError as error:
        return ConfidenceAnswer(ok=False, error=told(error))
    return ConfidenceAnswer(ok=True, markdown=text, version=document.version)


def _report(
    host: ModelHost,
    settings: EditorSettings,
    document: Document,
    known: Confidence | None,
    span: tuple[int, int] | None,
    cancel: Event,
    report: Report,
) -> str:
    """The report; takes seconds where the document is not scored yet.

    Raises:
        ModelError: the model cannot be opened, or gives no probabilities.
        Cancelled: `cancel` was set.
    """
    report("opening the model", 0, 1)
    with host.lend(settings) as model:
        if known is None:
            known = measure(model, document, span=span, cancel=cancel, report=report)
        return confidence_markdown(known, model.info, span=span)
