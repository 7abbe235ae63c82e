"""Start and end of every sandboxed job: its task, its report, and captured output."""

from __future__ import annotations

import builtins
import io
import json
import os
import sys
import types

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PRINTED = 20000  # characters kept of what one call or example prints


class Output(io.StringIO):
    """Takes the place of standard output; keeps the beginning of a flood."""

    def write(self, text: str) -> int:
        """Keep some of it, and say that all was taken."""
        if self.tell() < _PRINTED:
            super().write(text[:_PRINTED])
        return len(text)


def take_task() -> tuple[dict[str, Any], int]:
    """The task, which no file tells any more, and the descriptor for the report; `__main__` is empty then."""
    with open("task.json", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would slow the start
        task = json.load(file)
    os.unlink("task.json")  # noqa: PTH108
    descriptor = take_descriptor("COUNTERLENS_RESULT_FD")
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = [task.get("path", "program.py")]
    return task, descriptor


def take_descriptor(variable: str) -> int:
    """A file descriptor that an environment variable names, and names no more; no process inherits it."""
    descriptor = int(os.environ.pop(variable))
    os.set_inheritable(descriptor, False)
    return descriptor


def send(descriptor: int, line: str) -> None:
    """Write a line of ASCII as a whole."""
    data = line.encode("ascii") + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]
