"""No wrong program passes its tests with more than weak evidence; right ones keep theirs strong."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pytest

from counterlens.attribution.base import Isolation, Judgement, Strength, Verdict
from tests.attribution.forgery.conftest import Judged, side_by_side
from tests.attribution.forgery.honest import HONEST, HONEST_BY_PYTEST
from tests.attribution.forgery.open_pairs import BY_PYTEST, OPEN_PAIRS
from tests.attribution.forgery.pairs import PAIRS


@pytest.mark.parametrize("kind", PAIRS)
def test_what_passes_is_weak(judged: Judged, kind: str) -> None:
    verdicts = side_by_side(judged, _asked(PAIRS[kind]))
    passed = {name: verdict.evidence for name, verdict in verdicts.items() if verdict.passed}
    assert {name: each for name, each in passed.items() if each.strength is not Strength.WEAK} == {}
    reasons = {each.isolation for each in passed.values() if not each.message}
    assert reasons <= {Isolation.OWN_OPERATORS, Isolation.SHARED}


@pytest.mark.parametrize("kind", OPEN_PAIRS)
def test_what_tests_leave_open_is_weak(judged: Judged, judged_by_pytest: Judged, kind: str) -> None:
    judge = judged_by_pytest if kind == BY_PYTEST else judged
    verdicts = side_by_side(judge, _asked(OPEN_PAIRS[kind]))
    other = {name: verdict for name, verdict in verdicts.items() if not _is_weak(verdict)}
    assert other == {}


def test_what_is_right_stays_strong(judged: Judged, judged_by_pytest: Judged) -> None:
    verdicts = side_by_side(judged, _asked(HONEST)) | side_by_side(judged_by_pytest, _asked(HONEST_BY_PYTEST))
    other = {name: verdict for name, verdict in verdicts.items() if not _is_strong(verdict)}
    assert other == {}


def _asked(pairs: Mapping[str, tuple[str, str]]) -> list[tuple[str, str, str]]:
    return [
        (name, textwrap.dedent(program), textwrap.dedent(tests)) for name, (program, tests) in pairs.items()
    ]


def _is_weak(verdict: Verdict) -> bool:
    return verdict.passed and verdict.evidence.strength is Strength.WEAK


def _is_strong(verdict: Verdict) -> bool:
    found = verdict.evidence
    how = (verdict.judgement, found.strength, found.isolation)
    return how == (Judgement.PASSED, Strength.STRONG, Isolation.APART)


@pytest.mark.parametrize(
    "tests",
    [
        "def helper():\n    assert f(3) == 6\n",
        "if __name__ == '__main__':\n    assert f(3) == 6\n",
        "def helper():\n    assert f(3) == 6\ndef other():\n    helper()\n",
    ],
)
def test_tests_in_which_nothing_runs_judge_nothing(judged: Judged, tests: str) -> None:
    verdict = judged("def f(x): return 5\n", tests)
    assert verdict.judgement is Judgement.REFUSED
    assert "nothing in it could fail" in verdict.evidence.message
