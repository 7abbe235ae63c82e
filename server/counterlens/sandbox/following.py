"""Notify the observers of a thread's work, such as a run with a remaining time, of each program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Sandbox = TypeVar("_Sandbox")
_Outcome = TypeVar("_Outcome")
Note = Callable[[float], None]
"""Called with the seconds of a program."""

_NOTE: ContextVar[Note | None] = ContextVar("note", default=None)


@contextmanager
def following_programs(note: Note) -> Iterator[None]:
    """Within the context, `note` is called after each program that this thread runs in a sandbox."""
    token = _NOTE.set(note)
    try:
        yield
    finally:
        _NOTE.reset(token)


def follow(
    run: Callable[Concatenate[_Sandbox, _Given], _Outcome],
) -> Callable[Concatenate[_Sandbox, _Given], _Outcome]:
    """Decorate `Sandbox.run` so that its programs can be followed."""

    @wraps(run)
    def noted(sandbox: _Sandbox, /, *given: _Given.args, **options: _Given.kwargs) -> _Outcome:
        note = _NOTE.get()
        if note is None:
            return run(sandbox, *given, **options)
        begun = time.monotonic()
        try:
            return run(sandbox, *given, **options)
        finally:
            note(time.monotonic() - begun)

    return noted
