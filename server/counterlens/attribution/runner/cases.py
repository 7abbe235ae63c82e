"""What became of each test case."""

from __future__ import annotations

from .wording import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .candidate import Candidate
    from .seals import Seals

_NAME = 300  # characters of a name
PASSED, FAILED, SKIPPED, UNSUPPORTED = "passed", "failed", "skipped", "unsupported"


class Cases:
    """Collects the outcomes.

    Attributes:
        expected: How many cases there are to run.
        problem: What went wrong outside of the cases, if something did.
        evaded: Whether the candidate itself raised an exception that skips the case that is running.
    """

    def __init__(self, candidate: Candidate, seals: Seals, announce: Callable[[str], None]) -> None:
        self.candidate, self.seals, self.announce = candidate, seals, announce
        self.results: list[tuple[str, str, str]] = []
        self.expected = 0
        self.problem: str | None = None
        self.evaded = False

    def add(self, name: str, outcome: str, message: str = "") -> None:
        """Note one outcome."""
        if outcome == SKIPPED and self.evaded:
            outcome, message = FAILED, "the program itself skips the test"
        self.evaded = False
        self.results.append((name[:_NAME], outcome, shorten(message)))

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
