"""The report on the tests of a project while they run; see `mapping.py` for the lines."""

from __future__ import annotations

import contextlib
import os
import re
import time

from . import exclusion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any

    from .line_probes import LineProbes

    Test = tuple[str, str, str, str, str]

_FLUSH = 1.0  # seconds between two reports of executed lines
REASON = 300  # maximum characters of a reason
PASSED, FAILED, SKIPPED, EXCLUDED = "passed", "failed", "skipped", "excluded"


class SuiteSurvey:
    """Reports on the tests while they run.

    Args:
        emit: Receives the first word of a line and its content.
        probes: The probes in the modules of the project.
        done: Tests with results from an earlier run.
        seconds: Time after which no further test begins.
        excluded: Patterns of tests that do not run; see `exclusion.py`.
        folder: The folder of the project, which the patterns are relative to.

    Attributes:
        cut: Whether time ran out before all tests ran.
    """

    def __init__(
        self,
        emit: Callable[[str, Any], None],
        probes: LineProbes,
        done: Iterable[list[str]],
        seconds: float,
        excluded: Iterable[str] = (),
        folder: str = "",
    ) -> None:
        self._excluded, self._folder = list(excluded), folder
        self._emit, self._probes = emit, probes
        self._done = {tuple(test) for test in done}
        self._seconds, self._next = seconds, 0
        self._until = time.monotonic() + seconds
        self._waiting: list[int] = []
        self._lines: dict[str, dict[int, list[int]]] = {}
        self._look = time.monotonic() + _FLUSH
        self.cut = False

    def importing(self, file: str) -> None:
        """Report that a test file is about to be imported."""
        self._emit("import", os.path.realpath(file))

    def broken(self, file: str, reason: str) -> None:
        """Report that a test file cannot be imported."""
        self._emit("broken", [os.path.realpath(file), reason[:REASON]])

    def total(self, number: int) -> None:
        """Report the number of tests; the time limit starts now."""
        self._emit("total", number)
        self._until = time.monotonic() + self._seconds

    def wants(self, test: Test) -> bool:
        """Whether to run a test; an excluded one is reported."""
        if test in self._done:
            return False
        if self._excluded:
            file = os.path.relpath(test[1], self._folder).replace(os.sep, "/")
            if exclusion.is_excluded(self._excluded, file, test[4]):
                with self.of(test) as outcome:
                    outcome[:] = [EXCLUDED, exclusion.REASON]
                return False
        return True

    def over(self) -> bool:
        """Whether no time is left for another test."""
        self.cut = self.cut or time.monotonic() > self._until
        return self.cut

    @contextlib.contextmanager
    def of(self, test: Test) -> Generator[list[str], None, None]:
        """Context of one test, which fills in its outcome and the reason."""
        number, self._next = self._next, self._next + 1
        self._emit("start", [number, test])
        outcome = [PASSED, ""]
        self._probes.clear()
        began = time.process_time()
        try:
            yield outcome
        finally:
            spent = time.process_time() - began
            for path, line in dict.fromkeys(self._probes.run_since()):
                self._lines.setdefault(path, {}).setdefault(line, []).append(number)
            self._emit("end", [number, outcome[0], round(spent, 6), outcome[1][:REASON]])
            self._waiting.append(number)
            if time.monotonic() > self._look:
                self.flush()

    def flush(self) -> None:
        """Report the lines executed by the tests that have ended."""
        lines = {path: sorted(by_line.items()) for path, by_line in self._lines.items()}
        self._emit("lines", {"files": lines, "of": self._waiting})
        self._waiting, self._lines = [], {}
        self._look = time.monotonic() + _FLUSH


def reason_of(error: BaseException) -> str:
    """The class and message of an exception, on one line."""
    return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")
