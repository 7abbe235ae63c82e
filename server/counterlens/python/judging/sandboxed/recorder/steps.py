"""Tracing of the branches that a call takes, with a bound on its steps."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


class TooLong(BaseException):
    """A call exceeded its limit of steps or time."""


class StepTracer:
    """Traces the lines of one file; arcs as coverage.py counts them, entry and exit as negative lines.

    A step is one executed line of the file, so the point where the bound stops a call depends only on the
    program.

    Attributes:
        arcs: The arcs that were not seen before `start`.
        exceeded: Whether the call was stopped.
    """

    def __init__(self, path: str, most: int) -> None:
        self._path, self._most, self._left = path, most, 0
        self._earlier_arcs: set[tuple[int, int]] = set()
        self.arcs: set[tuple[int, int]] = set()
        self.exceeded = False

    def start(self) -> None:
        """Begin tracing before a call."""
        self._earlier_arcs |= self.arcs
        self.arcs, self._left, self.exceeded = set(), self._most, False
        sys.settrace(self._enter)

    def stop(self) -> None:
        """End tracing after the call."""
        sys.settrace(None)
        self.arcs -= self._earlier_arcs

    def _enter(self, frame: FrameType, _event: str, _value: Any) -> Any:
        code = frame.f_code
        if code.co_filename != self._path:
            return None
        first, last = code.co_firstlineno, -code.co_firstlineno

        def local(frame: FrameType, event: str, _value: Any) -> Any:
            nonlocal last
            if event == "line":
                self.arcs.add((last, frame.f_lineno))
                last = frame.f_lineno
                self._left -= 1
                if self._left < 0:
                    self.exceeded = True
                    raise TooLong
            elif event == "return":
                self.arcs.add((last, -first))
            return local

        return local
