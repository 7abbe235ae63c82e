"""Ctrl-C: one interrupt ends a command soon, whatever its threads and its children do."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread, current_thread, main_thread
from types import FrameType

from counterlens.processes import kill_children

INTERRUPTED = 130
"""The exit code of a program that SIGINT ended."""
_CLEAN_UP = 0.7  # seconds until the children are killed: one that is stopped never answers
_END = 0.7  # seconds after that until the process ends
_LONGEST = 60.0  # seconds for what must be finished

_interrupted = False
_finishing = Lock()


def end_at_interrupt(*, also_in_background: bool = False) -> None:
    """Let the first SIGINT raise KeyboardInterrupt, and end the process soon after it.

    Later ones do nothing: Python would raise them anywhere, also where the clean-up of the first has just
    taken a lock, and the threads that wait for it would keep the process for ever. `timeout` sends two, and
    so do many people.

    Args:
        also_in_background: Whether to listen even if the process was started with the signal ignored, as
            shells start programs in the background.
    """
    usual = signal.getsignal(signal.SIGINT)
    listens = usual is signal.default_int_handler or (also_in_background and usual is signal.SIG_IGN)
    if listens and current_thread() is main_thread():
        signal.signal(signal.SIGINT, _interrupt)


def ignore_interrupts() -> None:
    """After the first SIGINT, let none change the exit code: one in the interpreter's own clean-up would."""
    if _interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def finishing() -> Iterator[None]:
    """Let a block finish that an interrupt must not cut off: it stores what was reached."""
    with _finishing:
        yield


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    global _interrupted
    if not _interrupted:
        _interrupted = True
        Thread(target=_end, daemon=True).start()
        raise KeyboardInterrupt


def _end() -> None:
    time.sleep(_CLEAN_UP)
    kill_children()
    time.sleep(_END)
    _finishing.acquire(timeout=_LONGEST)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)
