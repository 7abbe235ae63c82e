"""Tests that are given as text: how datasets write them, and programs that want to get by them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.attribution.base import Judgement, Setting, Strength
from counterlens.attribution.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox

ORIGINAL = "def double(values):\n    return [2 * value for value in values]\n"
CHECK = """
def check(candidate):
    assert candidate([1, 2]) == [2, 4]
    assert candidate([]) == [], "nothing"

check(double)
"""
ALWAYS_EQUAL = """
class Same(list):
    def __eq__(self, other):
        return True
    __hash__ = None
def double(values):
    return Same()
"""


@pytest.fixture
def setting() -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), Limits(seconds=10.0))


def test_the_forms_that_datasets_have(setting: Setting) -> None:
    lines = "assert double([3]) == [6]\nassert set(double((1, 1))) == {2}"
    for tests, number in ((CHECK, 2), (lines, 2), ("assert double([0.5]) == [1.0]", 1)):
        verdict = SuppliedTestsJudge(tests, "double", ORIGINAL, setting).judge(ORIGINAL)
        assert verdict.passed, verdict
        assert verdict.evidence.tests == number
        assert verdict.evidence.strength is Strength.STRONG


@pytest.mark.parametrize(
    ("program", "judgement", "said"),
    [
        (ORIGINAL.replace("2 *", "3 *"), Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
        (ORIGINAL.replace("[2 * value", "[1 // 0 * value"), Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
        (ORIGINAL + ")", Judgement.INVALID, None),
        ("", Judgement.FAILED, None),
        ("import os\nos._exit(0)", Judgement.FAILED, None),
        ("raise SystemExit", Judgement.FAILED, None),
        (ALWAYS_EQUAL, Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
        (ORIGINAL + "import builtins\nbuiltins.list = lambda *_: []\n", Judgement.FAILED, None),
        ("def double(values):\n    raise AssertionError\n", Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
        ("def double(values):\n    return lambda: values\n", Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
    ],
)
def test_programs(setting: Setting, program: str, judgement: Judgement, said: str | None) -> None:
    verdict = SuppliedTestsJudge(CHECK, "double", ORIGINAL, setting).judge(program)
    assert verdict.judgement is judgement, verdict
    assert said is None or said in (verdict.evidence.failed or "")


def test_a_program_that_does_not_end(setting: Setting) -> None:
    short = Setting(setting.sandbox, setting.python, Limits(seconds=1.0))
    verdict = SuppliedTestsJudge(CHECK, "double", ORIGINAL, short).judge(
        "def double(values):\n    while True: pass\n"
    )
    assert verdict.judgement is Judgement.TIMED_OUT


def test_arguments_that_the_function_changes_and_objects_that_it_takes(setting: Setting) -> None:
    original = """
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

def swap(pairs):
    for pair in pairs:
        pair.a, pair.b = pair.b, pair.a
    pairs.reverse()
    return pairs[0]
"""
    tests = (
        "pairs = [Pair(1, 2), Pair(3, 4)]\nassert swap(pairs).a == 4\nassert [p.b for p in pairs] == [3, 1]"
    )
    judge = SuppliedTestsJudge(tests, "swap", original, setting)
    assert judge.judge(original).passed
    assert not judge.judge(original.replace("    pairs.reverse()\n", "")).passed


def test_random_arguments_and_recursion(setting: Setting) -> None:
    original = "def depth(n):\n    return 0 if n < 1 else 1 + depth(n - 1)\n"
    tests = "import random\nfor _ in range(9):\n    n = random.randint(0, 9)\n    assert depth(n) == n\n"
    judge = SuppliedTestsJudge(tests, "depth", original, setting)
    assert judge.judge(original).passed
    assert judge.judge("def depth(n):\n    return n\n").passed
    assert not judge.judge("def depth(n):\n    return n + 1\n").passed


def test_what_cannot_be_handed_over_is_refused(setting: Setting) -> None:
    original = "def apply(function, value):\n    return function(value)\n"
    verdict = SuppliedTestsJudge("assert apply(lambda x: x, 1) == 1", "apply", original, setting).judge(
        original
    )
    assert verdict.judgement is Judgement.REFUSED
    assert "cannot cross between processes" in verdict.evidence.message
    nothing = SuppliedTestsJudge("assert True", "apply", original, setting).judge(original)
    assert nothing.judgement is Judgement.REFUSED


def test_what_is_too_large_to_be_handed_over_is_not_held_against_the_program(setting: Setting) -> None:
    original = "def first(n):\n    return list(range(n))\n"
    tests = "assert first(2) == [0, 1]\nassert len(first(300000)) == 300000"
    judge = SuppliedTestsJudge(tests, "first", original, setting)
    verdict = judge.judge(original)
    assert verdict.judgement is Judgement.REFUSED, verdict
    assert "too large" in verdict.evidence.message
    wrong = judge.judge(original.replace("range(n)", "range(n + 1)"))
    assert (wrong.judgement, wrong.evidence.failed) == (Judgement.FAILED, "assert first(2) == [0, 1]")
