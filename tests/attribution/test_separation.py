"""Recognise, in the text of tests, operations that only work in the program's own process."""

from __future__ import annotations

import ast

import pytest

from counterlens.attribution.separation import why_inseparable

DERIVES = "the tests derive the class Mine from one of the program's"


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        ("from program import Base\nclass Mine(Base): pass", DERIVES),
        ("import program as p\nclass Mine(p.Base): pass", DERIVES),
        ("from package import program\nclass Mine(program.Base[int]): pass", DERIVES),
        ("from program import *\nclass Mine(Base): pass", DERIVES),
        ("class Mine(Base): pass", DERIVES),
        ("class Mine: pass\nassert f(Mine) == 1", "the tests pass Mine to the program"),
        ("from program import f\nimport json\nf(1, by=json)", "the tests pass json to the program"),
        ("from program import registered\n@registered\nclass Mine: pass", "the tests pass their class Mine"),
        ("import unittest\nfrom program import f\nclass T(unittest.TestCase):\n  def test(self): f(1)", None),
        ("class T(unittest.TestCase): pass", None),
        ("from unittest import *\nclass T(TestCase): pass", None),
        ("class Mine: pass\nclass More(Mine): pass\nassert isinstance(f(Mine()), Mine)", None),
        ("def check(candidate):\n  class A: pass\n  assert candidate(A()) == 1", None),
        ("import numpy as np\nassert f(np.array([1])) == 1", None),
    ],
)
def test_reasons(tests: str, reason: str | None) -> None:
    found = why_inseparable(ast.parse(tests), "program")
    assert found is None if reason is None else reason in str(found)
