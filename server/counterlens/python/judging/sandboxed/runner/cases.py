"""Outcomes of test cases, and their messages, shortened."""

from __future__ import annotations

import builtins
import errno
import importlib.machinery
import sys

from .failures import describe, shorten

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .candidate import Candidate
    from .tamper_check import TamperCheck


LONGEST_NAME = 300  # maximum characters of a name
_NO_NETWORK = "gaierror"
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENETUNREACH, errno.EMFILE, errno.ENOSPC}
PASSED, FAILED, SKIPPED, UNSUPPORTED = "passed", "failed", "skipped", "unsupported"


class Cases:
    """Collects the outcomes; no method of an object can be replaced.

    Attributes:
        expected: Number of cases to run.
        problem: An error outside the cases, if any.
        evaded: Whether the candidate itself raised an exception that skips the running case.
        every: Whether to run further cases after a failure.
        without: Names of cases that are left out.
        details: What cases that failed compared, and where; see `failures`.
        broken: Test files that cannot be imported, with the reason; filled only if all cases are to run.
        harness: An obstacle to a case that the program did not cause but might have faked; the outcome is
            then unknown.
        unstarted: Why the tests as a whole did not run, if that is not the program's fault.
    """

    __slots__ = (
        "_announce", "broken", "candidate", "details", "evaded", "every", "expected", "harness", "problem",
        "results", "tampering", "unstarted", "without",
    )  # fmt: skip

    def __init__(
        self,
        candidate: Candidate,
        tampering: TamperCheck,
        announce: Callable[[str, str], object],
        *,
        every: bool = False,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.candidate, self.tampering, self._announce = candidate, tampering, announce
        self.every, self.without = every, without
        self.details: dict[str, dict[str, Any]] = {}
        self.broken: dict[str, str] = {}
        self.harness: str | None = None
        self.unstarted: str | None = None
        self.results: list[tuple[str, str, str]] = []
        self.expected = 0
        self.problem: str | None = None
        self.evaded = False

    def announce(self, name: str) -> None:
        """Report that a case begins."""
        self._announce("case", name)

    def wants(self, name: str) -> bool:
        """Whether a case is not left out."""
        return name[:LONGEST_NAME] not in self.without

    @property
    def over(self) -> bool:
        """Whether no further case is to run."""
        return not self.every and bool(self.results) and self.results[-1][1] == FAILED

    @property
    def failed(self) -> bool:
        """Whether a case has failed."""
        return any(outcome == FAILED for _, outcome, _ in self.results)

    def add(self, name: str, outcome: str, message: str = "", detail: dict[str, Any] | None = None) -> None:
        """Record one outcome."""
        if outcome == SKIPPED and self.evaded:
            outcome, message = FAILED, "the program itself skips the test"
        self.evaded = False
        if outcome == FAILED:
            self._announce(FAILED, name)  # at once, so that nothing later takes it back
            self.details[name[:LONGEST_NAME]] = detail or {}
        self.results.append((name[:LONGEST_NAME], outcome, shorten(message)))

    def lacks(self, error: BaseException | None) -> str | None:
        """Why a test file cannot be imported, if that is not the candidate's fault.

        It is if its code is in the traceback, or if it lacks a name that the tests use. If code of it
        imports a missing module, the verdict is refused.
        """
        reason = self._missing(error)
        if self.involves_candidate(error):
            self.harness = self.harness or reason
            return None
        return reason or (None if error is None or self._lacks_name(error) else describe(error))

    def _lacks_name(self, error: BaseException) -> bool:
        """Whether an exception says that the candidate, which is loaded, does not define something."""
        module = self.candidate.module
        loaded = getattr(sys.modules.get(module), "__file__", None)  # another module may have its name
        if isinstance(error, ImportError) and loaded and self.candidate.is_at(loaded):
            return (error.name or "") in (module, module.rpartition(".")[0] or module)
        if isinstance(error, AttributeError):
            owner = getattr(error, "obj", None)
            return module in (getattr(owner, "__name__", ""), getattr(owner, "__module__", ""))
        return isinstance(error, NameError)  # the tests use the names without importing them

    def blame(self, error: BaseException | None, message: str) -> tuple[str, str]:
        """Outcome and message of a case that raised: a failure, unless that is not the candidate's fault.

        Denials of the sandbox, modules that are not installed and warnings turned into errors are attributed
        to the harness if no code of the candidate is in the traceback; otherwise the candidate might have
        faked them, and the verdict is refused.
        """
        reason = _of_harness(error) or self._missing(error)
        if reason is None:
            return FAILED, message
        if not self.involves_candidate(error):
            return UNSUPPORTED, f"{reason}: {message}"
        if isinstance(error, Warning):
            return FAILED, message
        self.harness = self.harness or f"{reason}: {message}"
        return FAILED, message

    def involves_candidate(self, error: BaseException | None) -> bool:
        """Whether an exception passed through code of the candidate."""
        step = error.__traceback__ if error is not None else None
        while step is not None:
            if step.tb_frame.f_code.co_filename == self.candidate.path:
                return True
            step = step.tb_next
        return False

    def _missing(self, error: BaseException | None) -> str | None:
        """The reason if an exception names a module that is not installed; None for other exceptions."""
        if not isinstance(error, ModuleNotFoundError):
            return None
        name = error.name or str(error).rpartition("No module named ")[2].strip("'")
        top = name.partition(".")[0]
        if (
            not top
            or top == self.candidate.module.partition(".")[0]
            or top in getattr(sys, "stdlib_module_names", ())
        ):
            return None
        if importlib.machinery.PathFinder.find_spec(top) is not None:
            return None
        return f"it needs {name}, which this interpreter does not have"

    def watch(self, skip: Any) -> None:
        """Detect if the candidate creates an exception of a class that skips tests."""
        make = skip.__init__

        def made(this: BaseException, *arguments: Any, **options: Any) -> None:
            self.evaded = self.evaded or self.candidate.is_running()
            make(this, *arguments, **options)

        skip.__init__ = made

    def report(self) -> dict[str, Any]:
        """The report for the parent."""
        return {
            "kind": "cases",
            "results": self.results,
            "expected": self.expected,
            "details": self.details,
            "problem": self.problem,
            "broken": self.broken,
            "harness": self.harness,
            "unstarted": self.unstarted,
        }


def _of_harness(error: BaseException | None) -> str | None:
    """The cause of an exception in the sandbox or the set-up; None if it has another cause."""
    if isinstance(error, OSError) and (error.errno in _FORBIDDEN or type(error).__name__ == _NO_NETWORK):
        return "the sandbox does not allow it"
    if isinstance(error, Warning):
        return "a warning is turned into an error"
    return None
