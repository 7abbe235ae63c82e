"""One item of a plan, from the question to a record that holds nothing of the clock or the machine.

The body of a record is plain data. Of a pair task: `judged_by`, `pairs`, `refused`, `dropped`; of the
execution task: `answers`. What a program prints may hold addresses and temporary folders; they are blanked,
because they differ from run to run.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping
from threading import Event
from typing import Any

from counterlens.errors import SourceError, UnscorableError
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import LEFT_OUT, PROBED, Record
from counterlens.models.base import Model
from counterlens.probes.completion import probe_completion
from counterlens.probes.registry import TASKS
from counterlens.probes.repair import probe_repair
from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.probes.task import Request, Target
from counterlens.sandbox.base import Sandbox

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_FOLDER = re.compile(r"(?:/private)?(?:/var/folders|/tmp|/dev/shm)/[^\s'\"),:]+")


def perform(
    settings: Settings, target: Target, model: Model, sandbox: Sandbox, cancel: Event | None = None
) -> Record:
    """Probe one function.

    Args:
        settings: Of the run.
        target: The function.
        model: Who is asked.
        sandbox: Where programs run.
        cancel: Set it to give up.

    Returns:
        The record; one with a reason where the function cannot be probed.

    Raises:
        ModelError, SandboxError: the model or the sandbox failed, which says nothing about the function.
        Cancelled: `cancel` was set.
    """
    try:
        if settings.task == "execution":
            body = _execution(settings, target, model, sandbox, cancel)
        else:
            body = _pairs(settings, target, model, sandbox, cancel)
    except (SourceError, UnscorableError) as error:
        return Record(LEFT_OUT, steady(error.message), {})
    return Record(PROBED, "", body)


def steady(text: str) -> str:
    """A text without addresses and temporary folders, which no two runs share."""
    return _FOLDER.sub("…", _ADDRESS.sub("0x…", text))


def _pairs(
    settings: Settings, target: Target, model: Model, sandbox: Sandbox, cancel: Event | None
) -> dict[str, Any]:
    if settings.task == "repair":
        found = probe_repair(
            model,
            target.document,
            target.qualname,
            sandbox,
            judge=target.judge,
            mutations=settings.mutations,
            seed=settings.seed,
            without=settings.without,
            max_tokens=settings.max_tokens,
            cancel=cancel,
        )
    else:
        found = probe_completion(
            model,
            target.document,
            target.qualname,
            sandbox,
            judge=target.judge,
            mutations=settings.mutations,
            seed=settings.seed,
            prefix_ratio=settings.prefix_ratio,
            without=settings.without,
            max_tokens=settings.max_tokens,
            cancel=cancel,
        )
    return {
        "judged_by": found.judged_by,
        "pairs": [_pair(found, pair) for pair in found.pairs],
        "refused": dict(sorted(Counter(one.mutation for one in found.refusals).items())),
        "dropped": dict(sorted(Counter(one.mutation for one, _ in found.dropped).items())),
    }


def _pair(probe: CompletionProbe, pair: Pair) -> dict[str, Any]:
    one, effect = pair.counterfactual, pair.effect
    before, after = probe.document.text.splitlines(), one.source.splitlines()
    return {
        "mutation": one.mutation,
        "concept": str(one.concept),
        "start_line": one.start_line,
        "end_line": one.end_line,
        "description": one.description,
        "assumptions": list(one.assumptions),
        "diff": list(difflib.unified_diff(before, after, lineterm="", n=2))[2:],
        "original": _attempt(pair.original),
        "counterfactual": _attempt(pair.mutated),
        "original_right": effect.original if effect else None,
        "counterfactual_right": effect.counterfactual if effect else None,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    evidence = attempt.verdict.evidence
    return {
        "completion": attempt.completion,
        "finish": attempt.finish,
        "verdict": str(attempt.verdict.judgement),
        "attribution": evidence.attribution,
        "strength": str(evidence.strength) if evidence.strength else None,
        "failed": steady(evidence.failed) if evidence.failed else None,
        "message": steady(evidence.message),
    }


def _execution(
    settings: Settings, target: Target, model: Model, sandbox: Sandbox, cancel: Event | None
) -> Mapping[str, Any]:
    request = Request(model, [target], lambda: sandbox, seed=settings.seed, cancel=cancel)
    try:
        return TASKS["execution"].run(request).data
    except SourceError as error:  # its message is of several functions, its hint of this one
        raise SourceError((error.hint or error.message).removeprefix("1 ")) from error
