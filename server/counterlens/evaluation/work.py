"""One item of a plan, from the question to a record that holds nothing of the clock or the machine.

The body of a record is what the task found, as plain data (`probes.task.Result.data`), and `left_out`: what
of the function does not count, by reason.
"""

from __future__ import annotations

import re
from threading import Event

from counterlens.attribution.base import lasting
from counterlens.errors import CounterlensError, SourceError, UnscorableError
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import LEFT_OUT, PROBED, Record
from counterlens.models.base import Model
from counterlens.models.sentences import SentenceEncoder
from counterlens.probes.pair_records import steady
from counterlens.probes.registry import BENCHABLE
from counterlens.probes.task import Request, Target
from counterlens.sandbox.base import Sandbox

_COUNTED = re.compile(r"1 ([^;]+)")  # the one reason in the hint of a task that was given one function


def perform(
    settings: Settings,
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
        task: What is probed.
        target: The function.
        model: Who is asked.
        sandbox: Where programs run.
        cancel: Set it to give up.
        encoder: Compares sentences; see `encoder_of`.

    Returns:
        The record; one with a reason where the function cannot be probed.

    Raises:
        ModelError, SandboxError: the model or the sandbox failed, which says nothing about the function.
        Cancelled: `cancel` was set.
    """
    try:
        found = BENCHABLE[task].run(request_of(settings, target, model, sandbox, cancel, encoder=encoder))
    except (SourceError, UnscorableError) as error:
        return Record(LEFT_OUT, steady(_reason(error)), {})
    left_out = {steady(reason): count for reason, count in found.left_out.items()}
    return Record(PROBED, "", {**found.data, "left_out": left_out})


def request_of(
    settings: Settings,
    target: Target,
    model: Model,
    sandbox: Sandbox,
    cancel: Event | None = None,
    *,
    encoder: SentenceEncoder | None = None,
) -> Request:
    """What a task is run with for one function of a run."""
    return Request(
        model,
        (target,),
        lambda: sandbox,
        seed=settings.seed,
        windows=settings.windows,
        corpus=settings.corpus,
        method=settings.method,
        mutations=settings.mutations,
        without=settings.without,
        prefix_ratio=settings.prefix_ratio,
        max_tokens=settings.max_tokens,
        limits=lasting(settings.timeout),
        unroll=settings.unroll,
        encoder=encoder,
        code=settings.code,
        cancel=cancel,
    )


def _reason(error: CounterlensError) -> str:
    counted = _COUNTED.fullmatch(error.hint or "")
    return counted[1] if counted else error.message
