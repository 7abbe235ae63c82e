"""Runs a program in the sandbox, and returns its outcome."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterlens.sandbox.base import Job, JobOutcome, Limits
from counterlens.sandbox.process import ProcessSandbox

Run = Callable[..., JobOutcome]


def patiently(
    run: Callable[[float], JobOutcome], ready: Callable[[JobOutcome], bool], seconds: float = 0.7
) -> JobOutcome:
    """What a program does within a time limit: a longer one if a busy machine stopped it earlier."""
    outcome = run(seconds)
    while not ready(outcome) and seconds < 60:
        seconds *= 4
        outcome = run(seconds)
    return outcome


@pytest.fixture(scope="session")
def sandbox() -> ProcessSandbox:
    return ProcessSandbox()


@pytest.fixture
def run(sandbox: ProcessSandbox) -> Run:
    """Runs a program with the tests' interpreter; keywords are fields of `Limits` or of the job."""

    def run(
        program: str, *, arguments: tuple[str, ...] = (), readable: tuple[Path, ...] = (), **limits: Any
    ) -> JobOutcome:
        files = {"program.py": textwrap.dedent(program).encode()}
        limits.setdefault("seconds", 20.0)
        job = Job(files, "program.py", Path(sys.executable), arguments, readable, Limits(**limits))
        return sandbox.run(job)

    return run


@pytest.fixture
def holds(sandbox: ProcessSandbox) -> Callable[[str], None]:
    """Skips a test of a guarantee that this kernel, or the container around it, does not allow."""
    guarantees = dict(sandbox.guarantees)

    def holds(what: str) -> None:
        if not guarantees[what]:
            pytest.skip(f"the sandbox does not isolate {what} on this machine")

    return holds
