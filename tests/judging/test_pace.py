"""A counterfactual that does not end is stopped soon; what is merely slower than the original is not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.judging.base import LIMITS, Evidence, Judge, Judgement, Setting, Verdict
from counterlens.judging.pace import ANSWER, COUNTERFACTUAL, Bound, bound_limits, pace
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.python.judging.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

SOURCE = '''\
def steps(n):
    """
    >>> steps(3)
    3
    """
    count = 0
    while n > 0:
        n = n - 1
        count = count + 1
    return count
'''
ENDLESS = SOURCE.replace("n = n - 1", "n = n - 0")


def took(seconds: float) -> Verdict:
    return Verdict(Judgement.PASSED, Evidence("doctest", 1), seconds)


def test_the_limit_follows_the_original_between_two_bounds() -> None:
    assert bound_limits(LIMITS) == LIMITS
    with pace(took(0.01)):
        assert bound_limits(LIMITS).cpu_seconds == COUNTERFACTUAL.least
        assert bound_limits(LIMITS).seconds == LIMITS.seconds  # a busy machine takes none of it away
    with pace(took(0.41)):
        assert bound_limits(LIMITS).cpu_seconds == 4.5
    with pace(took(30)):
        assert bound_limits(LIMITS) == LIMITS
    assert bound_limits(LIMITS) == LIMITS


def test_other_load_does_not_count_and_an_answer_may_take_longer() -> None:
    quick = replace(took(5.0), cpu_seconds=0.12)
    with pace(quick):
        assert bound_limits(LIMITS).cpu_seconds == COUNTERFACTUAL.least
    with pace(replace(quick, cpu_seconds=0.21), ANSWER):
        assert bound_limits(LIMITS).cpu_seconds == 4.5
    with pace(took(0.01), ANSWER):
        assert bound_limits(LIMITS).cpu_seconds == ANSWER.least > COUNTERFACTUAL.least


def test_an_original_that_fails_sets_no_limit() -> None:
    with pace(replace(took(0.01), judgement=Judgement.FAILED)):
        assert bound_limits(LIMITS) == LIMITS


@pytest.mark.skipif(sys.platform == "win32", reason="processor time is bounded by a job there")
@pytest.mark.parametrize("kind", ["doctest", "given"])
def test_an_endless_program_is_stopped_by_its_processor_time(kind: str) -> None:
    document = Document(SOURCE)
    patient = replace(LIMITS, seconds=120.0, cpu_seconds=100)  # on a busy machine two seconds are long
    if kind == "given":
        setting = Setting(best_sandbox(), Path(sys.executable), patient)
        judge: Judge | None = SuppliedTestsJudge("assert steps(3) == 3\n", "steps", SOURCE, setting)
    else:
        function = find_function(document, "steps")
        judge = find_judge(
            document,
            function,
            Setting(best_sandbox(), interpreter_for(document.path), patient),
            fallback=False,
        )
    assert judge is not None
    original = judge.judge(SOURCE)
    assert original.passed
    assert kind == "given" or 0 < (original.cpu_seconds or 0) < original.seconds
    with pace(took(0.05), Bound(10, 1)):
        verdict = judge.judge(ENDLESS)
        assert judge.judge(SOURCE).passed
    assert verdict.judgement is Judgement.TIMED_OUT
    assert verdict.evidence.message.startswith("stopped after")
    assert verdict.seconds < 100
