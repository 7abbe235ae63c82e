"""The truth about a call: its output, and the iterations of its loops."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Any

from counterlens.errors import SourceError
from counterlens.probes.observe.run import observe_loops, output_of, require_ordered
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True)
class CallTruth:
    """The result of a call.

    Attributes:
        value: Its output.
        written: The same as a literal.
        rounds: How often the bodies of all loops ran together; None if that could not be seen.
    """

    value: Any
    written: str
    rounds: int | None


def truth_of(
    document: Document, call: str, sandbox: Sandbox, *, limits: Limits, cancel: Event | None = None
) -> CallTruth:
    """Run a call, and see how often its loops run; the arguments and the errors are those of `output_of`.

    A value that is a set, holds one, or follows the order of one has no truth: a SourceError, too.
    """
    output = output_of(document, call, sandbox, limits=limits, cancel=cancel)
    require_ordered(document, call, output, sandbox, limits=limits, cancel=cancel)
    try:
        loops = observe_loops(document, call, sandbox, limits=limits, cancel=cancel)
        rounds = sum(loop.count for loop in loops.values())
    except SourceError:
        rounds = None
    return CallTruth(output.value, output.written, rounds)
