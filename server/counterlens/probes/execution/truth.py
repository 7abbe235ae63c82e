"""What a call truly gives, and how often its loops run: seen by running it in the sandbox."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.errors import SourceError
from counterlens.probes.observation import observe_loops
from counterlens.probes.observing import run_observer
from counterlens.probes.prompts.literals import Literal, literal
from counterlens.sandbox.base import Ending, Limits, Sandbox
from counterlens.syntax.document import Document

_OBSERVER = Path(__file__).with_name("output_observer.py")
_LIMITS = Limits(seconds=10)


@dataclass(frozen=True, slots=True)
class Truth:
    """What a call gives.

    Attributes:
        call: The call.
        value: What it gives.
        written: The same as a literal.
        rounds: How often the bodies of all loops ran together; None where that could not be seen.
    """

    call: str
    value: Any
    written: str
    rounds: int | None


def truth_of(document: Document, call: str, sandbox: Sandbox, *, cancel: Event | None = None) -> Truth:
    """Run a call, and see how often its loops run; the errors are those of `output_of`."""
    found = output_of(document, call, sandbox, cancel=cancel)
    return Truth(call, found.value, found.written, _rounds(document, call, sandbox, cancel))


def output_of(document: Document, call: str, sandbox: Sandbox, *, cancel: Event | None = None) -> Literal:
    """Run a call.

    Raises:
        SourceError: it fails, does not end, gives no literal, or something else each time; says which.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    outcome = run_observer(_OBSERVER, document, call, sandbox, _LIMITS, cancel=cancel)
    if outcome.ending is Ending.TIMED_OUT:
        raise SourceError("the call does not end in time")
    try:
        report = json.loads(outcome.result)
        outputs, error = list(report["outputs"]), report["error"]
    except (KeyError, TypeError, ValueError):
        raise SourceError("the program ends the process") from None
    if error is not None:
        raise SourceError(f"the call raises {str(error).partition(':')[0]}")
    if len(outputs) != 2 or outputs[0] != outputs[1]:
        raise SourceError("the call does not give the same twice")
    found = literal(str(outputs[0]))
    if found is None:
        raise SourceError("what the call gives is not a literal")
    return found


def _rounds(document: Document, call: str, sandbox: Sandbox, cancel: Event | None) -> int | None:
    try:
        loops = observe_loops(document, call, sandbox, cancel=cancel)
    except SourceError:
        return None
    return sum(loop.count for loop in loops.values())
