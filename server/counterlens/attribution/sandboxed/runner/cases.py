"""Outcomes of test cases."""

from __future__ import annotations

import builtins
import errno

from .wording import shorten

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .candidate import Candidate
    from .tamper_check import TamperCheck

LONGEST_NAME = 300  # characters of a name
_ISOLATED = "/runner/isolated/"
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENETUNREACH, errno.EMFILE, errno.ENOSPC}
PASSED, FAILED, SKIPPED, UNSUPPORTED = "passed", "failed", "skipped", "unsupported"


class Cases:
    """Collects the outcomes.

    Attributes:
        expected: How many cases there are to run.
        problem: An error outside the cases, if any.
        evaded: Whether the candidate itself raised an exception that skips the case that is running.
        every: Whether cases are run on after one has failed.
        without: Names of cases that are left out.
        broken: Test files that cannot be imported, with the reason; filled only if all are to be run.
        harness: Obstacles to a case that the program did not cause but might have faked: then nothing is
            known.
        unstarted: Why the tests as a whole did not run, if the program is not to blame.
    """

    def __init__(
        self,
        candidate: Candidate,
        tampering: TamperCheck,
        announce: Callable[[str], object],
        *,
        every: bool = False,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.candidate, self.tampering, self.announce = candidate, tampering, announce
        self.every, self.without = every, without
        self.broken: dict[str, str] = {}
        self.harness: str | None = None
        self.unstarted: str | None = None
        self.results: list[tuple[str, str, str]] = []
        self.expected = 0
        self.problem: str | None = None
        self.evaded = False

    def wants(self, name: str) -> bool:
        """Whether a case is not left out."""
        return name[:LONGEST_NAME] not in self.without

    @property
    def over(self) -> bool:
        """Whether the case that was run last is to be the last one."""
        return not self.every and bool(self.results) and self.results[-1][1] == FAILED

    @property
    def failed(self) -> bool:
        """Whether a case has failed."""
        return any(outcome == FAILED for _, outcome, _ in self.results)

    def add(self, name: str, outcome: str, message: str = "") -> None:
        """Note one outcome."""
        if outcome == SKIPPED and self.evaded:
            outcome, message = FAILED, "the program itself skips the test"
        self.evaded = False
        self.results.append((name[:LONGEST_NAME], outcome, shorten(message)))

    def lacks(self, error: BaseException | None) -> str | None:
        """Why a test file cannot be imported here, if that is not the candidate's doing."""
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

    def blame(self, error: BaseException | None, message: str) -> tuple[str, str]:
        """Outcome and message of a case that raised: a failure, unless that is not the candidate's doing.

        What the sandbox forbids and warnings that are made errors are the harness's doing where no code of
        the candidate is on the way; where some is, it might have feigned that, and the verdict is refused.
        """
        reason = _of_harness(error)
        if reason is None:
            return FAILED, message
        frames, step = [], error.__traceback__ if error is not None else None
        while step is not None:
            frames.append(step.tb_frame.f_code.co_filename)
            step = step.tb_next
        if not any(name == self.candidate.path or _ISOLATED in name for name in frames):
            return UNSUPPORTED, f"{reason}: {message}"
        if isinstance(error, Warning):
            return FAILED, message
        self.harness = self.harness or f"{reason}: {message}"
        return FAILED, message

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
            "broken": self.broken,
            "harness": self.harness,
            "unstarted": self.unstarted,
        }


def _of_harness(error: BaseException | None) -> str | None:
    """The cause in the sandbox or the set-up, if an exception is of that kind."""
    if isinstance(error, OSError) and error.errno in _FORBIDDEN:
        return "the sandbox does not allow it"
    if isinstance(error, Warning):
        return "a warning is made an error"
    return None
