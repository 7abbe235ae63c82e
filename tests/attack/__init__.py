"""Everything that attacks Counterlens, by what is attacked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

CLASSES = {
    "verdicts: forged by programs, plain Python": (
        "tests/judging/test_forgery.py",
        "tests/judging/test_one_process.py",
    ),
    "verdicts: wrong and hostile programs in Java": ("tests/judging/java/test_hostile.py",),
    "sandbox: hostile programs in each back end": (
        "tests/sandbox/hostile",
        "tests/sandbox/test_isolation.py",
        "tests/sandbox/test_wide.py",
        "tests/sandbox/test_seccomp.py",
        "tests/sandbox/test_claims.py",
        "tests/sandbox/test_interpreter.py",
        "tests/sandbox/test_zygote.py",
    ),
    "trust: a repository's code, the root, links": ("tests/test_trust.py",),
    "folders: code of the current one, in every command": (
        "tests/current_folder",
        "tests/test_environment.py",
        "tests/sandbox/java/test_compiling.py",
    ),
    "git: what a repository's settings name": ("tests/datasets/test_git.py",),
    "content: what is said to people, in every form": (
        "tests/reports/test_inert.py",
        "tests/cli/test_bad_files.py",
    ),
    "damage: files of runs and kept answers": (
        "tests/evaluation/test_damage.py",
        "tests/evaluation/test_damaged_notes.py",
    ),
    "endpoints: answers that expand or nest": ("tests/models/remote/test_expanding.py",),
    "editors: frames that are broken": ("tests/lsp/test_frames.py",),
}
"""The files and folders of each class of attacks."""


@dataclass(eq=False)  # pytest wants plug-ins that can be hashed
class Tally:
    """Counts the attacks of each class as pytest reports them: it is a plug-in of it.

    Attributes:
        tried: How many were tried.
        held: Of these, how many came to nothing.
        passed_over: How many could not be tried here, such as those of a back end that does not work.
    """

    tried: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one report: of an attack there is one of each phase, and a failure in any counts."""
        name = class_of(report.nodeid)
        if report.skipped:
            self.passed_over[name] += 1
        elif report.when == "call":
            self.tried[name] += 1
            self.held[name] += report.passed
        elif report.failed:
            self.tried[name] += 1

    def table(self) -> str:
        """Class, tried, held; and how many could not be tried, where there are any."""
        rows = [f"{'class':<50}{'tried':>7}{'held':>7}"]
        for name in CLASSES:
            more = f"   {self.passed_over[name]} not tried here" if self.passed_over[name] else ""
            rows.append(f"{name:<50}{self.tried[name]:>7}{self.held[name]:>7}{more}")
        return "\n".join([*rows, f"{'all':<50}{self.tried.total():>7}{self.held.total():>7}"])


def class_of(nodeid: str) -> str:
    """The class that a test belongs to.

    Raises:
        LookupError: none.
    """
    for name, places in CLASSES.items():
        if nodeid.startswith(places):
            return name
    raise LookupError(nodeid)
