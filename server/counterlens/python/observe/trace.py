"""Observer of states: reports the variables that each line of a function changes while the call runs.

It traces the outermost activation of the called function. The report has `steps`:
`[[line, {name: literal}]]`, one for each execution of a line, with the variables that it bound or changed, if
they have plain values.
"""

from __future__ import annotations

import inspect
import sys

from .kit import Observed, observe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

MOST_STEPS = 400
MOST_BYTES = 100
SCALARS = (bool, int, float, str, bytes, type(None))

steps: list[tuple[int, dict[str, str]]] = []


def plain(value: object) -> bool:
    """Whether a literal can represent the value."""
    if type(value) in (list, tuple, set):
        return all(plain(part) for part in value)  # type: ignore[attr-defined]
    if type(value) is dict:
        return all(plain(key) and plain(part) for key, part in value.items())
    if type(value) is float:
        return value - value == 0
    return type(value) in SCALARS


def seen(frame: FrameType) -> dict[str, str]:
    """The plain variables of an activation, as literals."""
    variables = {}
    for name, value in frame.f_locals.items():
        if name.isidentifier() and plain(value):
            written = repr(value)
            if len(written) <= MOST_BYTES:
                variables[name] = written
    return variables


class ActivationTracer:
    """Traces the outermost activation of one code object."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.frame: FrameType | None = None
        self.line = 0
        self.before: dict[str, str] = {}

    def on_call(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "call" and frame.f_code is self.code and self.frame is None and not steps:
            self.frame, self.before = frame, seen(frame)
            return self.on_line
        return None

    def on_line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line" and frame.f_lineno == self.line:
            return self.on_line  # the same statement continues
        if event in ("line", "return"):
            if self.line and len(steps) < MOST_STEPS:
                now = seen(frame)
                changed = {name: text for name, text in now.items() if self.before.get(name) != text}
                steps.append((self.line, changed))
                self.before = now
            self.line = frame.f_lineno
        if event == "return" or len(steps) >= MOST_STEPS:
            frame.f_trace = None
            sys.settrace(None)
            return None
        return self.on_line


def run(observed: Observed, report: dict[str, Any]) -> None:
    """Make the call and trace the function that it names."""
    report["steps"] = steps
    space = observed.namespace()
    observed.load(space)
    function = inspect.unwrap(space[observed.call.partition("(")[0].strip()])
    sys.settrace(ActivationTracer(function.__code__).on_call)
    try:
        observed.evaluate(space)
    finally:
        sys.settrace(None)


def main() -> None:
    """Observe the call given by the arguments."""
    observe(run)
