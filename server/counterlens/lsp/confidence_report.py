"""The model's confidence in code, as a readable report: the answer of a tool for assistants.

Command `counterlens.confidence`: argument `{uri, function? | position?}`, answer `ConfidenceAnswer`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from counterlens.confidence.scoring import measure
from counterlens.errors import Cancelled, CounterlensError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import error_text, t
from counterlens.lsp.progress import with_progress
from counterlens.lsp.targets import document_named, function_named, plain
from counterlens.progress import Steps
from counterlens.reports.build.confidence import confidence_report
from counterlens.reports.render import markdown

COMMAND = "counterlens.confidence"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(COMMAND)(_confidence)


@dataclass(frozen=True, slots=True)
class ConfidenceAnswer:
    """A report, or the reason why there is none."""

    ok: bool
    markdown: str = ""
    error: str | None = None
    version: int = 0


async def _confidence(ls: CounterlensServer, argument: Any = None) -> ConfidenceAnswer:
    """Report the confidence on a document or on one of its functions."""
    named, settings, span = plain(argument), ls.settings, None
    try:
        analysis = document_named(ls, argument)
        document, known = analysis.document, analysis.confidence
        if named.get("function") or named.get("position") is not None:
            _, function = function_named(ls, argument)
            span, known = (function.start, function.end), None

        def work(steps: Steps) -> str:
            steps.next("opening the model")
            with ls.host.use_model(settings) as model:
                confidence = known
                if confidence is None:
                    confidence = measure(
                        model, document, span=span, cancel=steps.cancel, progress=steps.report
                    )
                return markdown.render(confidence_report(confidence, model.info, span=span))

        text = await with_progress(ls, "Measuring confidence", work)
    except Cancelled:
        return ConfidenceAnswer(ok=False, error=t("Measuring the confidence was cancelled."))
    except CounterlensError as error:
        return ConfidenceAnswer(ok=False, error=error_text(error))
    return ConfidenceAnswer(ok=True, markdown=text, version=document.version)
