"""Observation of one call in the sandbox: its output, how its loops ran, its states."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any, TypeVar

from counterlens.errors import SourceError
from counterlens.judging.base import Setting
from counterlens.probes.execution.language import Step
from counterlens.probes.prompts.literals import Literal
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.recording import OBSERVING
from counterlens.python.mutations.loops import Rounds
from counterlens.python.prompts.values import has_no_order, literal
from counterlens.python.syntax.parsing import parse_expression
from counterlens.sandbox.base import Ending, Job
from counterlens.sandbox.recalling import run_or_recall
from counterlens.sandbox.shipping import quick_files, start_script
from counterlens.syntax.document import Document

T = TypeVar("T")
_OBSERVERS = Path(__file__).with_name("observers.py")
_TRACE_BYTES = 1 << 20  # maximum bytes of the report of a trace


@dataclass(frozen=True, slots=True)
class _Messages:
    """The message on a call that cannot be observed; the exception follows `raised`."""

    timed_out: str = "the call times out"
    ended: str = "the program ends the process"
    raised: str = "the call raises"
    hint: str | None = None
    detailed: bool = False  # whether to give the exception's message, not only its class


def observe_loops(document: Document, call: str, setting: Setting) -> dict[int, Rounds]:
    """The number of rounds of each loop in a call, which `loop-unroll` needs (Liu et al. 2024, Table IV).

    Args:
        call: An expression over its names, such as `total([1, 2, 3])`.

    Returns:
        The observations of each entered loop, by its 1-based line.

    Raises:
        SourceError: the call is not an expression, fails, or times out.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    try:
        parse_expression(call)
    except SyntaxError as error:
        raise SourceError(
            f"{call!r} is not an expression: {error.msg}", "Write a call such as: total([1, 2, 3])"
        ) from None
    messages = _Messages(
        timed_out=f"{call} did not finish within {setting.limits.seconds:.0f} seconds",
        ended=f"{call} could not be observed: the program ended the process",
        raised=f"{call} raised",
        hint="Only an execution that ends normally can be unrolled",
        detailed=True,
    )
    return _observe("loops", document, call, setting, _read_loops, messages)


def output_of(document: Document, call: str, setting: Setting) -> Literal:
    """Like `ExecutedLanguage.output_of`."""
    outputs = _observe("outputs", document, call, setting, _read_outputs)
    if len(outputs) != 2 or outputs[0] != outputs[1]:
        raise SourceError("two equal calls return different results")
    value = literal(outputs[0])
    if value is None:
        raise SourceError("the result of the call is not a literal")
    return value


def require_ordered(document: Document, call: str, gives: Literal, setting: Setting) -> None:
    """Like `ExecutedLanguage.require_ordered`: the call runs again, with another hash seed."""
    if has_no_order(gives.value):
        raise SourceError("the result of the call is or contains a set, which has no order")
    outputs = _observe("reseeded", document, call, setting, _read_outputs)
    other = literal(outputs[0]) if outputs else None
    if other is None or other.written != gives.written:
        raise SourceError("the result of the call depends on the order of a set")


def trace(document: Document, call: str, setting: Setting) -> list[Step]:
    """Like `ExecutedLanguage.trace`."""
    messages = _Messages("the call times out while it is traced", raised="when traced, the call raises")
    wide = replace(setting, limits=replace(setting.limits, output_bytes=_TRACE_BYTES))
    return _observe("trace", document, call, wide, _read_steps, messages)


def _observe(
    observer: str,
    document: Document,
    call: str,
    setting: Setting,
    read: Callable[[Mapping[str, Any]], T],
    messages: _Messages = _Messages(),
) -> T:
    """Run a call with the program's project importable, and read the observer's report.

    The program shares the observer's process, so `read` must accept a report of any form.
    """
    place = layout_of(document.path, document.text) if document.path else None
    observers = quick_files(_OBSERVERS, MAGIC_NUMBER)
    replaced = observer == "reseeded"  # it starts another interpreter, which has imported nothing
    job = Job(
        files={
            **(observers if replaced else {}),
            "observed.py": document.data,
            "start.py": start_script("observers"),
        },
        entry="start.py",
        python=Path(sys.executable),
        arguments=(
            *(observer, "observed.py", call, place.package if place else ""),
            *(str(root) for root in (place.roots if place else ())),
        ),
        readable=place.readable if place else (),
        limits=replace(setting.limits, processes=0),
        preload=OBSERVING,
        cold_files={} if replaced else observers,
    )
    outcome = run_or_recall(setting.sandbox, job, cancel=setting.cancel)
    if outcome.ending is Ending.TIMED_OUT:
        raise SourceError(messages.timed_out)
    try:
        report = json.loads(outcome.result)
        error, seen = report["error"], read(report)
    except (KeyError, TypeError, ValueError):
        raise SourceError(messages.ended) from None
    if error is not None:
        text = str(error) if messages.detailed else str(error).partition(":")[0]
        raise SourceError(f"{messages.raised} {text}", messages.hint)
    return seen


def _read_loops(report: Mapping[str, Any]) -> dict[int, Rounds]:
    return {int(line): _rounds(loop) for line, loop in report["loops"].items()}


def _rounds(loop: Mapping[str, object]) -> Rounds:
    values, count, entries = loop["values"], loop["count"], loop["entries"]
    if not (isinstance(values, list) and isinstance(count, int) and isinstance(entries, int)):
        raise TypeError("a report of another form")
    all_texts = all(isinstance(value, str) for value in values)
    return Rounds(count=count, values=tuple(values) if all_texts else (), entries=entries)


def _read_outputs(report: Mapping[str, Any]) -> list[str]:
    return [str(output) for output in report["outputs"]]


def _read_steps(report: Mapping[str, Any]) -> list[Step]:
    return [Step(int(line), dict(changed)) for line, changed in report["steps"]]
