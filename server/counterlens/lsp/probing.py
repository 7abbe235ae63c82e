"""The command `counterlens.probe`: the completion probe with progress and cancel."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from rich.console import Console

from counterlens.confidence import Confidence
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import Settings
from counterlens.probes.completion import Report
from counterlens.probes.session import Probed, ProbeSession
from counterlens.reports.terminal import probe_report
from counterlens.reports.wording import meaning
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

NOT_TRUSTED = (
    "This workspace is not trusted, so nothing in it is run. Probing runs the function's tests: "
    "trust the workspace first."
)


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What `counterlens.probe` returns to the client.

    Attributes:
        ok: Whether the probe was run to its end.
        summary: One sentence.
        report: The whole report as plain text.
        error: Why it was not.
    """

    ok: bool
    summary: str = ""
    report: str = ""
    error: str | None = None


def run_probe(
    host: ModelHost,
    settings: Settings,
    document: Document,
    qualname: str,
    *,
    scored: Confidence | None,
    cancel: Event,
    report: Report,
) -> Probed:
    """Probe one function; takes seconds, so it is called off the event loop.

    Raises:
        CounterlensError: as `ProbeSession.probe` and `ModelHost.get`.
    """
    report("opening the model", 0, 1)
    session = ProbeSession(
        host.get(settings), best_sandbox(), max_tokens=settings.max_tokens, cancel=cancel, report=report
    )
    return session.probe(document, qualname, scored=scored)


def answer(probed: Probed, root: Path | None) -> ProbeAnswer:
    """The answer for a finished probe; paths below `root`, the workspace's folder, are named from there."""
    console = Console(file=io.StringIO(), width=110, highlight=False, color_system=None)
    console.print(probe_report(probed.probe, probed.confidence, note=probed.note, root=root))
    text = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
    return ProbeAnswer(ok=True, summary=meaning(probed.probe), report=text)
