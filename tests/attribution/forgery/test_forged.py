"""No wrong program passes with more than weak evidence, whatever its objects and its worker say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from counterlens.attribution.base import Isolation, Setting, Strength
from counterlens.attribution.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.registry import best_sandbox
from tests.attribution.forgery.attacks import ALIASES, CLASSES, FORMS, STOPS, walkers
from tests.attribution.forgery.conftest import LIMITS, Judged, side_by_side


@pytest.mark.parametrize("kind", CLASSES)
def test_what_passes_by_a_say_of_its_own_is_weak(judged: Judged, kind: str) -> None:
    turns = [(attack, FORMS[number % len(FORMS)]) for number, attack in enumerate(CLASSES[kind])]
    asked = [
        (f"{name}: {claim}, {form.__name__}", program, form(claim)) for (name, program, claim), form in turns
    ]
    verdicts = side_by_side(judged, asked)
    assert len(verdicts) == len(turns)
    passed = {name: verdict.evidence for name, verdict in verdicts.items() if verdict.passed}
    if kind == "ends of loops":  # but for `next` on an iterator, they fail
        assert all(name.startswith("an empty iterator") for name in passed)
    assert {name: each for name, each in passed.items() if each.strength is not Strength.WEAK} == {}
    if kind != "nothing given":
        assert {each.isolation for each in passed.values()} <= {Isolation.OWN_OPERATORS}
    elif passed:
        assert "nothing was compared there" in str(passed)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_given_twice_is_one_object_for_the_tests(judged: Judged, form: Callable[[str], str]) -> None:
    asked = [
        (name, program, form(claim).replace("import f", "import *").replace("check(f)", "check(_)"))
        for name, program, claim in ALIASES
    ]
    verdicts = side_by_side(judged, asked)
    assert {name: verdict for name, verdict in verdicts.items() if verdict.passed} == {}


def test_a_program_that_changes_its_worker_does_not_pass(judged: Judged) -> None:
    asked = [
        (f"{name} {form.__name__}", program, form("f(f(3)) == 6"))
        for number, (name, program) in enumerate(walkers().items())
        for form in (FORMS[number % len(FORMS)], FORMS[(number + 2) % len(FORMS)])
    ]
    assert not [name for name, verdict in side_by_side(judged, asked).items() if verdict.passed]


def test_given_tests_do_not_end_where_the_program_says_so() -> None:
    original = "def f(x):\n    return 2 * x\n"
    for attack in STOPS[: len(STOPS) // 3]:
        setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
        judge = SuppliedTestsJudge(f"assert {attack.claim}\n", "f", original, setting)
        assert judge.judge(original).passed
        assert not judge.judge(attack.program).passed, attack
