"""The processing of one item of a plan, up to its record."""

from __future__ import annotations

from threading import Event

from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Model
from counterlens.models.sentences import SentenceEncoder
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
