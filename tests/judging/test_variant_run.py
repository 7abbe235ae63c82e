"""Many variants in one run: the same verdicts as one by one, whatever a variant does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from counterlens.errors import Cancelled
from counterlens.judging import witnesses
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting
from counterlens.python.judging.supplied_tests import SuppliedTestsJudge
from counterlens.python.judging.unittests import CasesJudge
from counterlens.python.judging.variant_run import AT_ONCE
from counterlens.sandbox.base import Job, JobOutcome
from counterlens.sandbox.registry import best_sandbox

PROJECT = {
    "steps.py": '''
        """Steps."""
        import functools

        LIMIT = 3


        def clipped(value, low=0):
            """Clip.

            >>> clipped(2)
            2
            """
            if value > LIMIT:
                return LIMIT
            return max(value, low)


        def counter():
            count = 0

            def add(step):
                nonlocal count
                count += step
                return count

            return add


        ADD = counter()


        @functools.lru_cache
        def fact(n):
            return 1 if n < 2 else n * fact(n - 1)


        class Walk:
            @staticmethod
            def way(n):
                return [step for step in range(n) if functools.reduce(max, [step % 2]) == 0]

            @property
            def far(self):
                return 7
        ''',
    "test_steps.py": """
        import pytest
        import steps
        from steps import ADD, Walk, clipped, counter, fact

        @pytest.fixture
        def walk():
            return Walk()

        @pytest.mark.parametrize("value", [1, 2])
        def test_all(value, walk, tmp_path, capsys):
            assert clipped(value) == value and clipped(9) == steps.LIMIT and clipped(-4) == 0
            add = counter()
            assert (add(2), add(2)) == (2, 4)
            assert ADD(5) in (5, 10)
            assert fact(4) == 24
            print("on")
            assert walk.far == 7 and Walk.way(4) == [0, 2] and capsys.readouterr().out == "on\\n"
        """,
}
VARIANTS = {
    ("value > LIMIT", "value < LIMIT"): Judgement.FAILED,
    ("value > LIMIT", "value >= LIMIT"): Judgement.PASSED,
    ("count += step", "count -= step"): Judgement.FAILED,
    ("count += step", "count = count + step"): Judgement.PASSED,
    ("n * fact(n - 1)", "n + fact(n - 1)"): Judgement.FAILED,
    ("[step % 2]) == 0", "[step % 2]) == 1"): Judgement.FAILED,
    ("return 7", "return 8"): Judgement.FAILED,
    ("return 7", "return 6 + 1"): Judgement.PASSED,
    ("LIMIT = 3", "LIMIT = 4"): Judgement.PASSED,  # outside of functions
    ("low=0", "low=1"): Judgement.FAILED,  # the same: where the function is defined
    ("def way(n)", "def way(m)"): Judgement.FAILED,
    ("return LIMIT", "while True: pass"): Judgement.TIMED_OUT,
    ("return LIMIT", "import os; os._exit(0)"): Judgement.FAILED,
    ("return LIMIT", "import sys; sys.exit(0)"): Judgement.FAILED,
    ("return LIMIT", "return ("): Judgement.INVALID,
    ("return LIMIT", "import ctypes; ctypes.string_at(0)"): Judgement.FAILED,
    ("return max(value, low)", "yield value"): Judgement.FAILED,  # another kind of function
    ("", ""): Judgement.PASSED,
}
Make = Callable[[Mapping[str, str]], Path]


class CountingSandbox:
    """Counts the runs of a sandbox."""

    def __init__(self, sandbox: Any) -> None:
        self.sandbox, self.runs = sandbox, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sandbox, name)

    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:
        self.runs += 1
        outcome: JobOutcome = self.sandbox.run(job, cancel=cancel)
        return outcome


def counted(judge: Judge) -> CountingSandbox:
    judge = witnesses.tests_of(judge)
    assert isinstance(judge, CasesJudge)
    run = judge._test_run
    sandbox = CountingSandbox(run.setting.sandbox)
    judge._test_run = replace(run, setting=replace(run.setting, sandbox=sandbox))
    return sandbox


def test_verdicts_are_those_of_single_runs(project: Make, judge_of: Callable[..., Judge]) -> None:
    path = project(PROJECT) / "steps.py"
    text = path.read_text()
    judge = judge_of(path, "Walk.way", limits=replace(LIMITS, seconds=30.0, cpu_seconds=2))
    programs = [text.replace(old, new) if old else text for old, new in VARIANTS]
    at_once = [verdict.judgement for verdict in judge.judge_variants(programs)]
    assert dict(zip(VARIANTS, at_once, strict=True)) == VARIANTS
    singly = [judge.judge(program).judgement for program in programs]
    assert singly == at_once


def test_one_run_is_enough_for_variants_of_functions(project: Make, judge_of: Callable[..., Judge]) -> None:
    path = project(PROJECT) / "steps.py"
    judge = judge_of(path, "clipped")
    parts = judge.judges if hasattr(judge, "judges") else [judge]  # its doctest judges, too
    sandboxes = [counted(part) for part in parts if isinstance(part, CasesJudge)]
    programs = [
        path.read_text().replace("return LIMIT", f"return functools.partial(max, LIMIT + {number})(0)")
        for number in range(9)
    ]
    verdicts = judge.judge_variants(programs)
    assert [verdict.passed for verdict in verdicts] == [True] + [False] * 8
    assert all(sandbox.runs <= 2 for sandbox in sandboxes)  # one may compile the project's files
    assert all("test_all" in (verdict.evidence.failed or "") for verdict in verdicts[1:])


def test_other_programs_and_other_tests_run_one_by_one(project: Make, judge_of: Callable[..., Judge]) -> None:
    files = {**PROJECT, "steps.py": PROJECT["steps.py"].replace("return 7", "return 8")}
    path = project(files) / "steps.py"
    judge = judge_of(path, "Walk.way", vetted=False)  # which fails
    text = path.read_text()
    right = text.replace("return 8", "return 7")
    verdicts = judge.judge_variants([right, text, right.replace("[step % 2]", "[step]")])
    assert [verdict.judgement for verdict in verdicts] == ["passed", "failed", "failed"]


def test_more_variants_than_fit_one_run_and_a_cancelled_one(
    project: Make, judge_of: Callable[..., Judge]
) -> None:
    path = (
        project(
            {
                **PROJECT,
                "test_steps.py": "from steps import fact\n\ndef test_fact():\n    assert fact(4) == 24\n",
            }
        )
        / "steps.py"
    )
    judge = judge_of(path, "fact")
    sandbox = counted(judge)
    programs = [path.read_text().replace("else n *", f"else {number} + n *") for number in range(AT_ONCE + 2)]
    verdicts = judge.judge_variants(programs)
    assert [verdict.passed for verdict in verdicts] == [True] + [False] * (AT_ONCE + 1)
    assert sandbox.runs <= 3  # one may compile the project's files
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        judge.judge_variants(programs, cancel=cancel)


def test_doctests_and_unittest_without_pytest(
    project: Make, judge_of: Callable[..., Judge], bare_python: Path
) -> None:
    case = """
        import unittest
        import steps

        class Steps(unittest.TestCase):
            def test_clipped(self):
                self.assertEqual(steps.clipped(9), 3)
        """
    path = project({"steps.py": PROJECT["steps.py"], "test_steps.py": case}) / "steps.py"
    judge = judge_of(path, "clipped", python=bare_python)
    assert judge.attribution == "tests+doctest"
    text = path.read_text()
    changes = [("return LIMIT", "return 4"), ("max(value, low)", "low"), ("value > LIMIT", "value >= LIMIT")]
    verdicts = judge.judge_variants([text.replace(*change) for change in changes])
    assert [(each.judgement, each.evidence.attribution) for each in verdicts] == [
        ("failed", "tests"),
        ("failed", "doctest"),
        ("passed", "doctest"),
    ]


def test_supplied_tests_and_a_variant_that_passes_only_without_its_import() -> None:
    original = "def double(x):\n    return x * 2\n\n\nTABLE = [double(n) for n in range(3)]\n"
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    judge = SuppliedTestsJudge("assert double(2) == 4 and TABLE[2] == 4", "double", original, setting)
    changes = ["x + 2", "x + x", "4", "2 * x if x > 1 else 1 / 0"]
    programs = [original.replace("x * 2", change) for change in changes]
    verdicts = judge.judge_variants(programs)
    assert [verdict.judgement for verdict in verdicts] == ["passed"] * 4
    # the last one fails where it is imported, which a fork does not repeat: so those that pass run again
    assert [judge.judge(program).judgement for program in programs] == ["passed"] * 3 + ["failed"]
