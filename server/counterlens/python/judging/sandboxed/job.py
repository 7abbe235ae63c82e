"""Start and end of every sandboxed job: its task, its report, the pipe for results, and captured output."""

from __future__ import annotations

import _json
import builtins
import gc
import io
import json
import os
import sys
import types

from .file_watch import watch_files

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_PRINTED = 20000  # maximum characters kept of the output of one call or example


class Output(io.StringIO):
    """Replaces standard output; keeps the beginning of a long output."""

    def write(self, text: str) -> int:
        """Keep the text up to the limit; report all of it as written."""
        if self.tell() < _PRINTED:
            super().write(text[:_PRINTED])
        return len(text)


def take_task() -> tuple[dict[str, Any], int]:
    """The task, whose file is deleted, and the descriptor for the report; `__main__` is emptied."""
    with open("task.json", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would slow the start
        task = json.load(file)
    os.unlink("task.json")  # noqa: PTH108
    descriptor = take_descriptor("COUNTERLENS_RESULT_FD")
    readable, writable = (os.environ.pop(f"COUNTERLENS_{name}", "") for name in ("READABLE", "WRITABLE"))
    if writable:
        watch_files(readable, writable, lambda line: send(descriptor, line))
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = [task.get("path", "program.py")]
    return task, descriptor


def take_descriptor(variable: str) -> int:
    """A file descriptor from an environment variable, which is deleted; child processes do not inherit it."""
    descriptor = int(os.environ.pop(variable))
    os.set_inheritable(descriptor, False)
    return descriptor


def send(descriptor: int, line: str) -> None:
    """Write a whole line of ASCII."""
    data = line.encode("ascii") + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def open_pipe(
    descriptor: int, nonce: str
) -> tuple[Callable[[str, str], None], Callable[[dict[str, Any]], None]]:
    """The functions `case(word, name)` and `finish(report)`, which also ends the process.

    Only the latter holds the nonce, and `gc` does not list it. They call nothing that could meanwhile be
    replaced through a module's attributes.
    """
    write, leave, quote, kind, text, whole = os.write, os._exit, _json.encode_basestring_ascii, type, str, int
    lists, mapping, decimal = (list, tuple), dict, int.__repr__

    def encode(value: Any) -> str:
        if value is None:
            return "null"
        if kind(value) is whole:
            return decimal(value)
        if kind(value) in lists:
            return "[" + ",".join([encode(item) for item in value]) + "]"
        if kind(value) is mapping:
            return "{" + ",".join([quote(key) + ":" + encode(item) for key, item in value.items()]) + "}"
        return quote(value if kind(value) is text else text(value))

    def send(line: str) -> None:
        data = line.encode() + b"\n"
        while data:
            data = data[write(descriptor, data) :]

    def case(word: str, name: str) -> None:
        send(word + " " + quote(name[:200]))

    def finish(report: dict[str, Any]) -> None:
        try:
            send("report " + nonce + " " + encode(report))
        finally:
            leave(0)

    gc.freeze()
    return case, finish
