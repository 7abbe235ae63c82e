"""Tests that are given as text: how datasets write them, and programs that want to get by them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.judging.base import Judgement, Setting
from counterlens.python.judging.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox

ORIGINAL = "def double(values):\n    return [2 * value for value in values]\n"
CHECK = """
def check(candidate):
    assert candidate([1, 2]) == [2, 4]
    assert candidate([]) == [], "nothing"

check(double)
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


@pytest.mark.parametrize(
    ("program", "judgement", "said"),
    [
        (ORIGINAL.replace("2 *", "3 *"), Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
        (ORIGINAL.replace("[2 * value", "[1 // 0 * value"), Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
        (ORIGINAL + ")", Judgement.INVALID, None),
        ("", Judgement.FAILED, None),
        ("import os\nos._exit(0)", Judgement.FAILED, None),
        ("raise SystemExit", Judgement.FAILED, None),
        ("def double(values):\n    raise SystemExit(0)\n", Judgement.FAILED, "candidate([1, 2]) == [2, 4]"),
        ("def double(values):\n    import os\n    os._exit(0)\n", Judgement.FAILED, None),
        ("import unittest\ndef double(values):\n    raise unittest.SkipTest\n", Judgement.FAILED, None),
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


def test_functions_generators_and_long_results_are_values_like_others(setting: Setting) -> None:
    for original, tests in (
        ("def f(g, x):\n    return g(x)\n", "assert f(lambda x: 2 * x, 1) == 2\n"),
        ("def f(n):\n    yield from range(n)\n", "assert next(f(1)) == 0\n"),
        ("def f(n):\n    return list(range(n))\n", "assert len(f(300000)) == 300000\n"),
        ("def f(n):\n    return lambda: n\n", "assert f(3)() == 3\n"),
        ("SEEN = []\ndef f(n):\n    SEEN.append(n)\n", "f(1)\nSEEN.append(2)\nassert SEEN == [1, 2]\n"),
    ):
        judge = SuppliedTestsJudge(tests, "f", original, setting)
        assert judge.judge(original).passed, tests
        wrong = judge.judge("def f(*_):\n    return None\n")
        assert wrong.judgement is Judgement.FAILED, tests


@pytest.mark.parametrize("tests", ["assert True", "assert double(1"])
def test_tests_that_do_not_parse_or_call_it_are_refused(setting: Setting, tests: str) -> None:
    verdict = SuppliedTestsJudge(tests, "double", ORIGINAL, setting).judge(ORIGINAL)
    assert verdict.judgement is Judgement.REFUSED
