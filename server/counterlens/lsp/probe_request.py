"""What a task is run with, by the settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

from counterlens.attribution.base import lasting
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import Report
from counterlens.lsp.settings import EditorSettings
from counterlens.models.base import Model
from counterlens.models.sentences import ModelSentences
from counterlens.probes.task import Request, Target
from counterlens.sandbox.registry import best_sandbox

_COMPARES_SENTENCES = "summary"
"""The task that does; for no other the model that is named for it is opened."""


def request_of(
    model: Model,
    settings: EditorSettings,
    cancel: Event,
    report: Report,
    *,
    targets: Sequence[Target] = (),
    path: Path | None = None,
    mutations: tuple[str, ...] = (),
) -> Request:
    """A request with what the settings say of all tasks.

    Args:
        model: Who is asked.
        settings: The rest.
        cancel: Set to give up.
        report: Told how far it is.
        targets: The functions.
        path: Of their file.
        mutations: Only these; all where there are none.
    """
    return Request(
        model,
        targets,
        best_sandbox,
        corpus=_corpus(settings, path),
        mutations=mutations,
        max_tokens=settings.max_tokens,
        limits=lasting(settings.timeout),
        code=settings.code,
        cancel=cancel,
        report=report,
    )


@contextmanager
def comparing(request: Request, task: str, host: ModelHost, settings: EditorSettings) -> Iterator[Request]:
    """The same request, where a task compares sentences with the model that is named for it.

    Raises:
        ModelError: that model cannot be opened, or gives no embeddings.
    """
    if task != _COMPARES_SENTENCES or not settings.encoder:
        yield request
        return
    # it is asked for embeddings, whatever way the model under examination is asked
    named = replace(settings, model=settings.encoder, remote_api="completions")
    with host.lend(named) as encoder:
        yield replace(request, encoder=ModelSentences(encoder))


def _corpus(settings: EditorSettings, path: Path | None) -> str | None:
    """The corpus; a relative path is one beside the file."""
    named = settings.probe_corpus
    if not named:
        return None
    beside = path.parent / named if path is not None else Path(named)
    return str(beside) if beside.exists() else named
