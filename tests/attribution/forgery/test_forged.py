"""No wrong program passes with more than weak evidence, whatever its objects and its worker say."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterlens.attribution.base import Isolation, Setting, Strength, Verdict
from counterlens.attribution.programs import judge_by_tests
from counterlens.attribution.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from tests.attribution.forgery.attacks import ALIASES, CLASSES, FORMS, STOPS, walkers

Judged = Callable[[str, str], Verdict]
LIMITS = Limits(seconds=30.0, output_bytes=1 << 20)


@pytest.fixture
def judged(tmp_path: Path, bare_python: Path) -> Judged:
    """The verdict on a program, by tests."""

    def judge(program: str, tests: str) -> Verdict:
        folder = tmp_path / str(abs(hash((program, tests))))
        folder.mkdir()
        path, beside = folder / "program.py", folder / "test_program.py"
        path.write_text(program)
        beside.write_text(tests)
        return judge_by_tests(program, path, beside, Setting(best_sandbox(), bare_python, LIMITS))

    return judge


def side_by_side(judge: Judged, asked: Iterable[tuple[str, str, str]]) -> dict[str, Verdict]:
    """Verdicts by name."""
    with ThreadPoolExecutor(4) as pool:
        coming = {name: pool.submit(judge, program, tests) for name, program, tests in asked}
        return {name: verdict.result() for name, verdict in coming.items()}


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
