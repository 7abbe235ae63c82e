"""Tests supplied with a problem: text that calls the function and asserts, as in datasets.

HumanEval's `check(candidate)`, MBPP's lines of `assert` and CRUXEval's input and output have this form. They
run at the end of the program, in its namespace, as in these datasets' own harnesses; but a program that ends
before its tests has failed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cached_property
from threading import Event
from typing import Any

from counterlens.judging.base import Evidence, Judge, Judgement, Setting, Verdict, brief
from counterlens.python.judging.test_run import TestRun
from counterlens.python.judging.variant_run import run_variants
from counterlens.python.syntax.parsing import parse_module

ID = "given"


class SuppliedTestsJudge(Judge):
    """Judges programs by tests supplied as text; see the module.

    Args:
        tests: Statements that run in the namespace of the program, and raise if it is wrong.
        target: The name of the function that they call.
        original: The program with the reference solution.
        setting: The sandbox and interpreter for programs.
    """

    attribution, at_once = ID, True

    def __init__(self, tests: str, target: str, original: str, setting: Setting) -> None:
        self._text, self._target = tests, target
        self._test_run = TestRun(ID, setting, None, {"supplied": tests}, original=original)

    @cached_property
    def tests(self) -> int:
        """The number of assertions in the tests; 0 if they do not parse."""
        try:
            return sum(isinstance(node, ast.Assert) for node in ast.walk(parse_module(self._text))) or 1
        except (SyntaxError, ValueError):
            return 0

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program; see `Judge.judge`."""
        name = self._target.rpartition(".")[2]
        if not self.tests or not re.search(rf"\b{re.escape(name)}\b", self._text):
            why = f"the tests do not call {name}" if self.tests else "the tests do not parse"
            return Verdict(Judgement.REFUSED, Evidence(ID, 0, None, why))
        return self._test_run.run(program, self._read, cancel)

    def recorded_calls(self, target: str, cancel: Event | None) -> Sequence[Any]:
        """The calls of the function that the tests make while the original runs; see `TestRun`."""
        return self._test_run.recorded_calls(target, cancel)

    def judge_variants(self, programs: Sequence[str], *, cancel: Event | None = None) -> list[Verdict]:
        """Run the tests against many variants of the original at once; see `run_variants`."""
        return run_variants(self._test_run, programs, self._read, cancel)

    def _read(self, report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        results = report.get("results")
        if not results:
            return Judgement.FAILED, Evidence(ID, 0, None, "the tests did not finish")
        name, outcome, message = map(str, results[0])
        if outcome != "passed":
            return Judgement.FAILED, Evidence(ID, self.tests, name, brief(message))
        return Judgement.PASSED, Evidence(ID, self.tests)
