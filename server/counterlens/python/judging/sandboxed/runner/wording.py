"""Error messages, shortened."""

from __future__ import annotations

import builtins
import traceback

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
LONGEST = 4000


def shorten(text: str) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n…\n{text[-LONGEST // 2 :]}"


def describe(error: BaseException) -> str:
    """The type and message of an exception, as the last lines of its traceback."""
    return shorten("".join(traceback.format_exception_only(type(error), error)).strip())
