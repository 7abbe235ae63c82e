"""Find the usable tests of a function: those that pass on the unchanged file, on this machine, now.

An unusable test does not exclude a function: it is left out, and listed with the reason. Unusable tests are
found by one run of all tests on the original (two, if some need its process), in the same way as later
judgements. So effects of the sandbox or the set-up on a test never count against a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from counterlens.attribution.base import Evidence, Isolation, Judgement, Verdict
from counterlens.attribution.pace import COUNTERFACTUAL, FIRST_APART, at_most, paced
from counterlens.attribution.test_run import OWN_OPERATORS, Reader, TestRun, brief, in_lines, shared_since
from counterlens.counting import plural

_ATTEMPTS = 4
"""Maximum number of runs; after each one that a test ended or stopped, that test is left out."""


@dataclass(frozen=True, slots=True)
class Vetted:
    """The results of all tests on the original.

    Attributes:
        passed: The names of the cases that passed.
        without: The names of unusable cases, with the reason.
        broken: The test files that cannot be imported, with the reason.
        apart: Whether they ran in a separate process from the original.
        isolation: The isolation of the original from its tests, as for any program.
        seconds: The time of the run.
        cpu_seconds: The processor time of its longer process; None if unknown.
        late: Whether the time limit was reached.
        why_shared: The first test that only passed in the process of the original, with the reason; empty if
            they ran apart.
    """

    passed: tuple[str, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    apart: bool = True
    isolation: Isolation | None = None
    seconds: float = 0.0
    cpu_seconds: float | None = None
    late: bool = False
    why_shared: str = ""

    @property
    def left_out(self) -> str:
        """The number of tests left out, and the first reason; empty if there are none."""
        reasons = self._reasons
        return brief(f"{plural(len(reasons), 'test')} left out: {_first(reasons)}") if reasons else ""

    def why_not_like(self, other: Vetted) -> str:
        """The first test that is usable in the other results only, with the reason; empty if none is."""
        return _first({name: why for name, why in self._reasons.items() if name not in other._reasons})

    @property
    def _reasons(self) -> dict[str, str]:
        return {**self.broken, **self.without}

    def keeps_most_of(self, other: Vetted) -> bool:
        """Whether these pass more than half as many cases as the other results."""
        return 2 * len(self.passed) > len(other.passed)


def vet(test_run: TestRun, original: str, cancel: Event | None) -> Vetted:
    """Run all cases on the original in another process, and in its process if some are unusable that way.

    A test that exchanges a hundred thousand values with the program is too slow in another process, and each
    such test would use the whole time limit. So if the first run takes long, the time of the tests in the
    program's own process decides how long they may take in another one.

    Raises:
        Cancelled: `cancel` was set.
        SandboxError: the sandbox could not be set up.
    """
    with at_most(FIRST_APART):
        apart = _one_way(test_run, original, cancel, apart=True, attempts=1)
    if apart.passed and not apart.without and not apart.broken:
        return apart
    shared = _one_way(test_run, original, cancel, apart=False)
    together = verdict_of(shared, test_run.attribution)
    if not apart.passed and not (apart.late and COUNTERFACTUAL.seconds(together) <= FIRST_APART):
        with paced(together):
            apart = _one_way(test_run, original, cancel, apart=True)
    return apart if apart.keeps_most_of(shared) else replace(shared, why_shared=apart.why_not_like(shared))


def failures_in_one_process(
    test_run: TestRun, program: str, cancel: Event | None, listen: Reader
) -> Mapping[str, str]:
    """The cases and test files that a program does not pass in the process of its tests, with the reasons.

    The key of a reason for all of them is "all"; `listen` hears the runner's reports.
    """
    return _one_way(test_run, program, cancel, apart=False, listen=listen)._reasons


def _first(reasons: Mapping[str, str]) -> str:
    return next((f"{name.rpartition('/')[2]}: {why}" for name, why in reasons.items()), "")


def _one_way(
    test_run: TestRun,
    original: str,
    cancel: Event | None,
    *,
    apart: bool,
    attempts: int = _ATTEMPTS,
    listen: Reader | None = None,
) -> Vetted:
    without: dict[str, str] = {}
    for _ in range(attempts):
        heard: dict[str, Any] = {}

        def read(report: dict[str, Any], heard: dict[str, Any] = heard) -> tuple[Judgement, Evidence]:
            heard.update(report)
            if listen is not None:
                listen(report)
            return Judgement.PASSED, Evidence(test_run.attribution, 0)

        trial = test_run.with_task(every=True, without=sorted(without))
        verdict = trial.once(original, read, cancel, apart=apart)
        if heard.get("results") or heard.get("broken"):
            return _sorted(heard, without, verdict, apart=apart)
        culprit = verdict.evidence.failed
        reason = str(heard.get("problem") or verdict.evidence.message or verdict.judgement)
        if culprit is None or culprit in without:
            return Vetted(without={**without, "all": reason}, apart=apart)
        without[culprit] = reason
    return Vetted(without=without, apart=apart, late=verdict.judgement is Judgement.TIMED_OUT)


def _sorted(heard: Mapping[str, Any], without: Mapping[str, str], verdict: Verdict, *, apart: bool) -> Vetted:
    results = [(str(name), str(outcome), str(message)) for name, outcome, message in heard["results"]]
    bad = {name: message or outcome for name, outcome, message in results if outcome != "passed"}
    passed = tuple(name for name, outcome, _ in results if outcome == "passed" and name not in bad)
    broken = {str(path): str(why) for path, why in heard.get("broken", {}).items()}
    return Vetted(
        passed,
        {**without, **bad},
        broken,
        apart,
        verdict.evidence.isolation,
        verdict.seconds,
        verdict.cpu_seconds,
    )


def verdict_of(vetted: Vetted, attribution: str) -> Verdict:
    """The verdict on the original, from the results of vetting."""
    far = vetted.isolation or TestRun.isolation_of(apart=vetted.apart)
    weak = OWN_OPERATORS if far is Isolation.OWN_OPERATORS else shared_since(vetted.why_shared)
    message = brief(in_lines(vetted.left_out, weak))
    evidence = Evidence(attribution, len(vetted.passed), None, message, isolation=far)
    return Verdict(Judgement.PASSED, evidence, vetted.seconds, vetted.cpu_seconds)
