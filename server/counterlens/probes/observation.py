"""How loops run for one input: what `loop-unroll` is made from (Liu et al. 2024, Table IV)."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from threading import Event

from counterlens.errors import SourceError
from counterlens.mutations.loop_unroll import Rounds
from counterlens.probes.observing import run_observer
from counterlens.sandbox.base import Ending, Limits, Sandbox
from counterlens.syntax.document import Document

_OBSERVER = Path(__file__).with_name("loop_observer.py")


def observe_loops(
    document: Document, call: str, sandbox: Sandbox, *, cancel: Event | None = None
) -> dict[int, Rounds]:
    """Make one call in the sandbox and see how often each loop ran.

    Args:
        document: The program.
        call: An expression over its names, such as `total([1, 2, 3])`.
        sandbox: Where it is run.
        cancel: Set it to give up.

    Returns:
        What was seen of each loop that was entered, by its 1-based line.

    Raises:
        SourceError: the call is no expression, fails, or does not end.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    try:
        ast.parse(call, mode="eval")
    except SyntaxError as error:
        raise SourceError(
            f"{call!r} is not an expression: {error.msg}", "Write a call such as: total([1, 2, 3])"
        ) from None
    limits = Limits()
    outcome = run_observer(_OBSERVER, document, call, sandbox, limits, cancel=cancel)
    if outcome.ending is Ending.TIMED_OUT:
        raise SourceError(f"{call} did not end within {limits.seconds:.0f} seconds")
    try:
        report = json.loads(outcome.result)
        failure, loops = report["error"], report["loops"]
        found = {int(line): _rounds(loop) for line, loop in loops.items()}
    except (KeyError, TypeError, ValueError):
        raise SourceError(f"{call} could not be observed: the program ended the process") from None
    if failure:
        raise SourceError(f"{call} raised {failure}", "Only an execution that ends normally can be unrolled")
    return found


def _rounds(loop: dict[str, object]) -> Rounds:
    values, count, entries = loop["values"], loop["count"], loop["entries"]
    if not (isinstance(values, list) and isinstance(count, int) and isinstance(entries, int)):
        raise TypeError("a report of another form")
    known = all(isinstance(value, str) for value in values)
    return Rounds(count=count, values=tuple(values) if known else (), entries=entries)
