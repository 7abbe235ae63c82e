"""One item of a plan, from the question to its record."""

from __future__ import annotations

from threading import Event

from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Model
from counterlens.models.sentences import SentenceEncoder
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import Record
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import run_probe
from counterlens.progress import Steps
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
) -> Record:
    """Probe one function.

    Args:
        settings: Of the run.
        task: The id of the probe.
        target: The function.
        model: The model under examination.
        sandbox: Where programs run.
        cancel: Set it to give up.
        encoder: Compares sentences.

    Raises:
        ModelError, SandboxError: the model or the sandbox failed, which says nothing about the function.
        Cancelled: `cancel` was set.
    """
    context = Context(model, lambda: sandbox, Steps(cancel), encoder)
    return run_probe(PROBES[task], context, target, settings.options_of(task))
