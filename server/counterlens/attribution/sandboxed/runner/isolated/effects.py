"""Effects of a request on things that the tests hold: files, and objects that they passed to the program."""

from __future__ import annotations

import builtins
import os

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


def is_emptied(thing: Any) -> bool:
    """Whether an object of the tests has the length 0."""
    try:
        return len(thing) == 0
    except Exception:
        return False


def is_special(frame: FrameType | None) -> bool:
    """Whether a function of the tests is a special method, whose errors may have another meaning."""
    name = frame.f_code.co_name if frame is not None else ""
    return name.startswith("__") and name not in ("__init__", "__call__", "__enter__")


def files_in(parts: Any) -> dict[str, Any]:
    """The states of the files whose paths are among some values."""
    found, todo = {}, [parts]
    while todo:
        value = todo.pop()
        if type(value) in (list, tuple):
            todo += value
        elif type(value) is dict:
            todo += value.values()
        elif type(value) is str or isinstance(value, os.PathLike):
            path = os.fspath(value)
            state = state_of(path)
            if state is not None:
                found[path] = state
    return found


def state_of(path: str) -> Any:
    """The state of a file; None if there is no file."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
