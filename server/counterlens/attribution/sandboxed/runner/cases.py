"""Outcomes of test cases."""

from __future__ import annotations

import builtins

from .wording import shorten

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .candidate import Candidate
    from .tamper_check import TamperCheck

_NAME = 300  # characters of a name
PASSED, FAILED, SKIPPED, UNSUPPORTED = "passed", "failed", "skipped", "unsupported"


class Cases:
    """Collects the outcomes.

    Attributes:
        expected: How many cases there are to run.
        problem: What went wrong outside of the cases, if something did.
        evaded: Whether the candidate itself raised an exception that skips the case that is running.
    """

    def __init__(
        self, candidate: Candidate, tampering: TamperCheck, announce: Callable[[str], object]
    ) -> None:
        self.candidate, self.tampering, self.announce = candidate, tampering, announce
        self.results: list[tuple[str, str, str]] = []
        self.expected = 0
        self.problem: str | None = None
        self.evaded = False

    @property
    def failed(self) -> bool:
        """Whether a case has failed."""
        return any(outcome == FAILED for _, outcome, _ in self.results)

    def add(self, name: str, outcome: str, message: str = "") -> None:
        """Note one outcome."""
        if outcome == SKIPPED and self.evaded:
            outcome, message = FAILED, "the program itself skips the test"
        self.evaded = False
        self.results.append((name[:_NAME], outcome, shorten(message)))

    def lacks(self, error: BaseException | None) -> str | None:
        """Why a test file cannot be imported here, where that is not the candidate's doing."""
        if not isinstance(error, ModuleNotFoundError) or error.name is None:
            return None
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename == self.candidate.path:
                return None
            step = step.tb_next
        if error.name.partition(".")[0] == self.candidate.module.partition(".")[0]:
            return None
        return f"it needs {error.name}, which this interpreter does not have"

    def watch(self, skip: Any) -> None:
        """Notice when an exception of a class that skips tests is made by the candidate."""
        make = skip.__init__

        def made(this: BaseException, *arguments: Any, **options: Any) -> None:
            self.evaded = self.evaded or self.candidate.is_running()
            make(this, *arguments, **options)

        skip.__init__ = made

    def report(self) -> dict[str, Any]:
        """All of it, for the parent."""
        return {
            "kind": "cases",
            "results": self.results,
            "expected": self.expected,
            "problem": self.problem,
        }
