"""Runs one call of a program in the sandbox and reports what each of its lines changed.

Stands alone: it is copied into the sandbox. Arguments: the program's file, the call, and the folders to put
on `sys.path`. Followed is the function that the call names, its outermost activation. The report is one JSON
document on the result descriptor: `{"steps": [[line, {name: literal}]], "error": text or null}`, a step for
each time that a line ran, with the variables that it bound or changed, as far as they are plain values.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
from types import CodeType, FrameType
from typing import Any

MOST_STEPS = 400
MOST_BYTES = 100
SCALARS = (bool, int, float, str, bytes, type(None))

steps: list[tuple[int, dict[str, str]]] = []


def plain(value: object) -> bool:
    """Whether a literal stands for the value."""
    if type(value) in (list, tuple, set):
        return all(plain(part) for part in value)  # type: ignore[attr-defined]
    if type(value) is dict:
        return all(plain(key) and plain(part) for key, part in value.items())
    if type(value) is float:
        return value - value == 0
    return type(value) in SCALARS


def seen(frame: FrameType) -> dict[str, str]:
    """The plain variables of an activation, as literals."""
    found = {}
    for name, value in frame.f_locals.items():
        if name.isidentifier() and plain(value):
            written = repr(value)
            if len(written) <= MOST_BYTES:
                found[name] = written
    return found


class Follow:
    """Follows the outermost activation of one code object."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.frame: FrameType | None = None
        self.line = 0
        self.before: dict[str, str] = {}

    def enter(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "call" and frame.f_code is self.code and self.frame is None and not steps:
            self.frame, self.before = frame, seen(frame)
            return self.follow
        return None

    def follow(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line" and frame.f_lineno == self.line:
            return self.follow  # the same statement goes on
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
        return self.follow


def main() -> None:
    program, call, *folders = sys.argv[1:]
    with open(program, encoding="utf-8", newline="") as file:  # noqa: PTH123
        source = file.read()
    result = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    sys.path[:0] = folders
    error = None
    try:
        space: dict[str, Any] = {"__name__": "observed", "__file__": program}
        exec(compile(source, program, "exec"), space)  # noqa: S102 - this is what the sandbox is for
        function = inspect.unwrap(space[call.partition("(")[0].strip()])
        compiled = compile(call, "<call>", "eval")
        sys.settrace(Follow(function.__code__).enter)
        try:
            eval(compiled, space)  # noqa: S307
        finally:
            sys.settrace(None)
    except BaseException as caught:
        error = traceback.format_exception_only(caught)[-1].strip()[:200]
    os.write(result, json.dumps({"steps": steps, "error": error}).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
