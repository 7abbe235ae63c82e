"""The processing of one item of a plan, up to its record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from counterlens.evaluation.run_consent import require_consent
from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Model
from counterlens.models.cache import AnswerStore
from counterlens.models.opening import open_cached
from counterlens.models.registry import Options, load
from counterlens.models.sentences import ModelSentences, SentenceEncoder
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import Record
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import run_probe
from counterlens.progress import ProgressCallback, Steps
from counterlens.sandbox.base import Sandbox


def perform(
    settings: RunSettings,
    task: str,
    target: Target,
    model: Model,
    sandbox: Sandbox,
    cancel: Event | None = None,
    *,
    encoder: SentenceEncoder | None = None,
    progress: ProgressCallback | None = None,
) -> Record:
    """Probe one function with the settings of a run.

    Args:
        settings: Settings of the run.
        task: The id of the probe.
        target: The function.
        model: The probed model.
        sandbox: The sandbox for programs.
        cancel: Set to cancel.
        encoder: The encoder for sentence similarity.
        progress: Called with each step.

    Raises:
        ModelError, SandboxError: the model or the sandbox failed, which shows nothing about the function.
        Cancelled: `cancel` was set.
    """
    steps = Steps(cancel, progress)
    context = Context(model, lambda: sandbox, steps, encoder, vetted=True, surveyed=True)
    return run_probe(PROBES[task], context, target, settings.options_of(task))


@contextmanager
def opened_encoder(
    settings: RunSettings, answers: AnswerStore | None = None
) -> Iterator[ModelSentences | None]:
    """The encoder of a run; None if the built-in one is used.

    It runs on the machine of the process that was started, whatever the engine: it reads single sentences.

    Args:
        settings: Settings of the run.
        answers: The cache of its vectors; None for no cache.

    Raises:
        ModelError: the encoder cannot be opened, or returns no embeddings.
        ForeignRunError: the run came from somebody else, and the user did not choose where texts would go.
    """
    if settings.encoder is None:
        yield None
        return
    require_consent(settings, [settings.encoder])
    options = Options(
        threads=settings.threads,
        gpu_layers=settings.gpu_layers,
        base_url=settings.base_url,
        entries=settings.entries,
    )
    with (
        load(settings.encoder, options)
        if answers is None
        else open_cached(settings.encoder, options, store=answers)
    ) as model:
        yield ModelSentences(model)
