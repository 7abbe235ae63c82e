"""Objects that tests pass to a program, and the limits for honest programs and their tests."""

from __future__ import annotations

import pytest

from counterlens.attribution.base import Isolation, Judgement, Strength
from tests.attribution.forgery.conftest import Judged

MOCK = """
from unittest.mock import Mock
from program import f

def test_f():
    told = Mock()
    f(told, 3)
    told.send.assert_called_once_with(6)
"""
HONEST_MOCK = "def f(told, x): told.send(2 * x)\n"
TRICKS = [
    "told.send.configure_mock(assert_called_once_with=lambda x: None)",
    "told.configure_mock(**{'send.assert_called_once_with': None})",
    "told.attach_mock(told.send, 'assert_called_once_with')",
    "told.send.return_value.assert_called_once_with(6)",
    "told.reset_mock()",
]


@pytest.mark.parametrize("trick", TRICKS)
def test_a_mock_is_set_up_by_tests_alone(judged: Judged, trick: str) -> None:
    verdict = judged(f"def f(told, x):\n    told.send(5)\n    {trick}\n", MOCK)
    assert not verdict.passed, verdict


def test_a_mock_can_be_called(judged: Judged) -> None:
    verdict = judged(HONEST_MOCK, MOCK)
    assert (verdict.judgement, verdict.evidence.strength) == (Judgement.PASSED, Strength.STRONG), verdict


def test_a_name_that_changes_as_it_is_read_opens_nothing(judged: Judged) -> None:
    program = """
import sys
class Name:
    asked = 0
    def __str__(self):
        Name.asked += 1
        return "name" if Name.asked == 1 else "__globals__"
def f(told):
    kind = type(told)
    found = told._worker.back("get", told._number, [Name()], {})
    return 6 if "test_f" in found else 5
"""
    tests = "from program import f\ndef test_f():\n    assert f(lambda: 0) == 6\n"
    assert not judged(program, tests).passed


def test_a_context_that_swallows_what_the_tests_find_is_weak(judged: Judged) -> None:
    program = """
class f:
    def __init__(self, x): pass
    def __enter__(self): return 5
    def __exit__(self, *_): return True
"""
    verdict = judged(program, "with f(3) as found:\n    assert found == 6\n")
    found = verdict.evidence
    assert (found.strength, found.isolation) == (Strength.WEAK, Isolation.OWN_OPERATORS), verdict
    verdict = judged(program.replace("return True", "pass"), "with f(3) as found:\n    assert found == 6\n")
    assert verdict.judgement is Judgement.FAILED, verdict


@pytest.mark.parametrize(
    ("program", "tests"),
    [
        ("def f(x):\n    yield from range(x)\n", "assert list(f(3)) == [0, 1, 2]\nassert next(f(2)) == 0\n"),
        (
            "def f(x):\n    return map(str, range(x))\n",
            "for found, wanted in zip(f(2), '01'):\n    assert found == wanted\n",
        ),
        (
            "class Stack:\n    items = []\n    def push(self, x): self.items.append(x)\n",
            "s = Stack()\ns.push(3)\nassert s.items == [3]\n",
        ),
        ("import math\ndef f(x):\n    return x / 3\n", "assert math.isclose(f(1), 1 / 3)\n"),
        (
            "import contextlib\n@contextlib.contextmanager\ndef f(x):\n    yield 2 * x\n",
            "with f(3) as found:\n    assert found == 6\n",
        ),
        (
            "class A:\n    def __repr__(self): return 'A()'\ndef f(): return A()\n",
            "assert repr(f()) == 'A()'\n",
        ),
        (
            "def f(x):\n    assert x\n    if x < 0: raise ValueError('no')\n    return x\n",
            "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
            "        with self.assertRaisesRegex(ValueError, 'no'): f(-1)\n"
            "        self.assertAlmostEqual(f(0.1), 0.1)\n",
        ),
        ("def f(g, xs):\n    return [g(x) for x in xs]\n", "assert f(lambda x: 2 * x, [1, 2]) == [2, 4]\n"),
        (
            "def f(x): return iter([])\n",
            "assert list(f(3)) == []\nassert all(list(f(x)) == [] for x in [1])\n"
            "for x in [1, 2]:\n    assert not list(f(x))\n",
        ),
        (
            "def f(x): return x % 2 == 0\n",
            "assert list(map(f, [1, 2])) == [False, True]\nassert list(filter(f, [1, 2])) == [2]\n",
        ),
        (
            "class Shelf:\n    def __init__(self): self.books = {}\n"
            "    def add(self, n, t): self.books[n] = t\n"
            "    def find(self, n): return self.books.get(n)\n    def left(self): return len(self.books)\n"
            "    def take(self): return self.books.popitem()\n",
            "s = Shelf()\ns.add(1, 'A')\nassert s.find(1) == 'A'\n"
            "while s.left():\n    assert s.take() == (1, 'A')\n",
        ),
        ("C = {}\ndef f(): return C\n", "assert f() is f()\nf()['a'] = 1\nassert f() == {'a': 1}\n"),
        ("def f(xs): xs.sort()\n", "xs = [3, 1]\nf(xs)\nassert xs == [1, 3]\n"),
        (
            "def f(xs):\n    xs.sort()\n    return xs[0]\n",
            "for xs, least in (([3, 1], 1), ([4, 2], 2)):\n    assert f(xs) == least\n",
        ),
        (
            "def f(n):\n    return [[0] * n for _ in range(n)]\n",
            "kept = [f(3) for _ in range(1000)]\nassert kept[0] == [[0] * 3] * 3\nassert f(99)[98][9] == 0\n",
        ),
    ],
    ids=[
        "generator", "map", "class", "library", "context", "text", "exception", "callback",
        "an empty one", "a predicate", "a shelf",
        "the same", "in place", "in place, and more", "many",
    ],
)  # fmt: skip
def test_honest_programs_are_strong(judged: Judged, program: str, tests: str) -> None:
    verdict = judged(program, tests)
    assert (verdict.judgement, verdict.evidence.strength) == (Judgement.PASSED, Strength.STRONG), verdict
    assert verdict.evidence.isolation is Isolation.APART


def test_tests_that_derive_from_the_program_share_its_process_and_are_weak(judged: Judged) -> None:
    program = "class Base:\n    def f(self): return 2 * self.x()\n"
    tests = (
        "from program import Base\nclass Mine(Base):\n    def x(self): return 3\n"
        "def test_f():\n    assert Mine().f() == 6\n"
    )
    verdict = judged(program, tests)
    found = verdict.evidence
    assert verdict.passed
    assert (found.strength, found.isolation) == (Strength.WEAK, Isolation.SHARED)
    assert "the tests derive the class Mine from one of the program's" in found.message
    assert not judged(program.replace("2 *", "1 *"), tests).passed


def test_what_comes_up_only_while_a_program_runs_never_shares(judged: Judged) -> None:
    """Tests may hand over a class in a way that their text does not show: the program is not judged then."""
    tests = "class Mine: pass\nwanted = [Mine]\ndef test_f():\n    assert f(wanted[0]) == 6\n"
    verdict = judged("def f(x): return 6\n", tests)
    assert (verdict.judgement, verdict.evidence.isolation) == (Judgement.REFUSED, Isolation.APART)
    assert "--isolation shared" in verdict.evidence.message


LOOPS = {
    "a helper": "def hold(vs):\n    for v in vs: assert v == 6\ndef test_f():\n    hold(f(3))\n",
    "an attribute": (
        "import unittest\nclass T(unittest.TestCase):\n    def setUp(self): self.r = f(3)\n"
        "    def test(self):\n        for v in self.r: self.assertEqual(v, 6)\n"
    ),
    "what a helper gives": "def r():\n    return f(3)\ndef test_f():\n    assert all(v == 6 for v in r())\n",
    "numbers": "for i in range(f(3)):\n    assert i == 6\n",
    "lengths": "r = f(3)\nfor i in range(len(r)):\n    assert r[i] == 6\n",
    "a statement": "def test_f():\n    for v in f(3):\n        assert v == 6\n",
    "while": "r = f(3)\nwhile r:\n    assert r.pop() == 6\n",
}


@pytest.mark.parametrize("where", LOOPS)
def test_a_loop_that_is_not_run_is_weak(judged: Judged, where: str) -> None:
    nothing = "0" if where == "numbers" else "[]"
    verdict = judged(f"def f(x): return {nothing}\n", LOOPS[where])
    assert (verdict.judgement, verdict.evidence.strength) == (Judgement.PASSED, Strength.WEAK), verdict
    assert verdict.evidence.isolation is Isolation.APART
