"""Tests that show nothing about a program: those that fail for reasons outside of it.

A test that fails on the unchanged file, on this machine, now, is unusable. It does not exclude a function: it
is left out, and listed with the reason. Unusable tests are found by one run of all tests on the original, in
the same way as later judgements. So effects of the sandbox or the set-up on a test never count against a
program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from counterlens.counting import plural
from counterlens.judging.base import Evidence, Judgement, Verdict, brief
from counterlens.python.judging.test_run import Reader, TestRun

_ATTEMPTS = 4
"""Maximum number of runs; after each one that a test ended or stopped, that test is left out."""


@dataclass(frozen=True, slots=True)
class Vetted:
    """The results of all tests on one program.

    Attributes:
        passed: The names of the cases that passed.
        without: The names of unusable cases, with the reason; the key of a reason for all of them is "all".
        broken: The test files that cannot be imported, with the reason.
        seconds: The time of the run.
        cpu_seconds: Its processor time; None if unknown.
    """

    passed: tuple[str, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float | None = None

    @property
    def failures(self) -> dict[str, str]:
        """The cases and test files that did not pass, with the reasons."""
        return {**self.broken, **self.without}

    @property
    def left_out(self) -> str:
        """The number of tests left out, and the first reason; empty if there are none."""
        if not self.failures:
            return ""
        name, why = next(iter(self.failures.items()))
        return brief(f"{plural(len(self.failures), 'test')} left out: {name.rpartition('/')[2]}: {why}")

    def verdict(self, attribution: str) -> Verdict:
        """The verdict on the original."""
        evidence = Evidence(attribution, len(self.passed), None, self.left_out)
        return Verdict(Judgement.PASSED, evidence, self.seconds, self.cpu_seconds)


def vet(test_run: TestRun, program: str, cancel: Event | None, listen: Reader | None = None) -> Vetted:
    """Run all cases on a program, also after a failure.

    Args:
        program: The program, usually the original.
        listen: Called with the runner's reports.

    Raises:
        Cancelled: `cancel` was set.
        SandboxError: the sandbox could not be set up.
    """
    without: dict[str, str] = {}
    for _ in range(_ATTEMPTS):
        heard: dict[str, Any] = {}

        def read(report: dict[str, Any], heard: dict[str, Any] = heard) -> tuple[Judgement, Evidence]:
            heard.update(report)
            if listen is not None:
                listen(report)
            return Judgement.PASSED, Evidence(test_run.attribution, 0)

        trial = test_run.with_task(every=True, without=sorted(without))
        verdict = trial.run(program, read, cancel)
        if heard.get("results") or heard.get("broken"):
            return _sort_out(heard, without, verdict)
        culprit = verdict.evidence.failed
        reason = str(heard.get("problem") or verdict.evidence.message or verdict.judgement)
        if culprit is None or culprit in without:
            return Vetted(without={**without, "all": reason})
        without[culprit] = reason
    return Vetted(without=without)


def _sort_out(heard: Mapping[str, Any], without: Mapping[str, str], verdict: Verdict) -> Vetted:
    results = [(str(name), str(outcome), str(message)) for name, outcome, message in heard["results"]]
    bad = {name: message or outcome for name, outcome, message in results if outcome != "passed"}
    passed = tuple(name for name, outcome, _ in results if outcome == "passed" and name not in bad)
    broken = {str(path): str(why) for path, why in heard.get("broken", {}).items()}
    return Vetted(passed, {**without, **bad}, broken, verdict.seconds, verdict.cpu_seconds)
