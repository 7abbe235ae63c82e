"""The state that tests rely on, before and after a program ran."""

from __future__ import annotations

import builtins
import sys
import types
import unittest.result
from collections.abc import Callable
from typing import Any

import pytest

from counterlens.python.judging.sandboxed.runner.tamper_check import TamperCheck


def other(*_arguments: object) -> None:
    """Does nothing."""


def replace_code(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(unittest.result.TestResult.startTestRun, "__code__", other.__code__)


TAMPERING: dict[str, Callable[[pytest.MonkeyPatch], object]] = {
    "builtins.sorted": lambda patch: patch.setattr(builtins, "sorted", other),
    "unittest.result.TestResult.wasSuccessful": lambda patch: patch.setattr(
        unittest.result.TestResult, "wasSuccessful", other
    ),
    "unittest.result.TestResult.startTestRun": replace_code,
    "unittest.result.TestResult.stop": lambda patch: patch.delattr(unittest.result.TestResult, "stop"),
    "unittest.result": lambda patch: patch.setitem(
        sys.modules, "unittest.result", types.ModuleType("unittest.result")
    ),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_what_is_replaced_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = TamperCheck()
    before = check.take()
    with monkeypatch.context() as patch:
        TAMPERING[name](patch)
        check.compare(before)
    assert check.broken == name


def test_nothing_is_named_where_nothing_is_replaced_and_the_first_stays() -> None:
    check = TamperCheck()
    before: Any = check.take()
    check.compare(before)
    assert check.broken is None
    assert check.take() is before


def test_what_tests_have_replaced_themselves_counts_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    check = TamperCheck()
    check.take()
    monkeypatch.setattr(builtins, "sorted", other)
    before = check.take()
    check.compare(before)
    assert check.broken is None
    monkeypatch.undo()
    check.compare(before)
    assert check.broken == "builtins.sorted"
