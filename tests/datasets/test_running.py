"""Tests of problems, run in the sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.datasets import Case, Problem, TestForm, Tests
from counterlens.datasets.checking import Finding, Runner
from counterlens.judging.base import Judgement
from counterlens.judging.comparison import first_difference
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from tests.datasets.test_formats import RECORDS, written

ECHO = "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n"


@pytest.fixture(scope="module")
def runner() -> Runner:
    return Runner(best_sandbox(), Limits(seconds=5, output_bytes=1 << 20))


def program(source: str, *cases: tuple[str, str]) -> Problem:
    tests = Tests(TestForm.STDIO, cases=tuple(Case(*case) for case in cases))
    return Problem("p", "codenet", "python", source, tests=tests)


def function(source: str, tests: str) -> Problem:
    return Problem("p", "mbpp", "python", source, function="f", tests=Tests(TestForm.PYTHON, tests))


def test_programs_that_read_and_print(runner: Runner) -> None:
    good = program(ECHO, ("1 2\n", "3\n"), ("", "0"))
    assert runner.check(good).finding is Finding.PASSES
    wrong = runner.check(program(ECHO, ("1 2\n", "3\n"), ("1\n", "2\n")))
    assert (wrong.finding, wrong.message) == (Finding.FAILS, "case 2: it prints '1' for '2' as word 1")
    assert runner.check(program("input()\ninput()\n", ("1\n", ""))).finding is Finding.FAILS


def test_functions_by_their_assertions(runner: Runner) -> None:
    good = function("def f(a):\n    return a + 1\n", "assert f(1) == 2\nassert f(2) == 3\n")
    assert runner.check(good).finding is Finding.PASSES
    bad = runner.check(replace(good, tests=Tests(TestForm.PYTHON, "assert f(1) == 3\n")))
    assert bad.finding is Finding.FAILS
    assert bad.message
    assert runner.judge(good, "def f(a):\n    return 2\n").judgement is Judgement.FAILED
    assert runner.judge(good, "def f(a): return 1 + a\n").passed
    assert runner.judge(good, "def f(a) return").judgement is Judgement.INVALID


def test_what_cannot_be_run_is_said(runner: Runner) -> None:
    go = replace(function("package main", ""), language="go")
    assert runner.check(go).finding is Finding.NOT_CHECKED
    assert runner.check(replace(go, tests=None)).finding is Finding.NO_TESTS
    with pytest.raises(ValueError, match="no tests that can be run"):
        runner.judge(replace(go, language="python", tests=None), "")


def test_whole_programs_are_judged_by_what_they_print(runner: Runner) -> None:
    echo = program(ECHO, ("1 2\n", "3\n"), ("4\n", "4\n"))
    right = runner.judge(echo, ECHO)
    assert (right.judgement, right.evidence.tests) == (Judgement.PASSED, 2)
    late = Runner(best_sandbox(), Limits(seconds=1)).judge(echo, "while True: pass")
    assert late.judgement is Judgement.TIMED_OUT
    assert runner.judge(echo, "print(").judgement is Judgement.INVALID
    wrong = runner.judge(echo, "print(3)")
    assert (wrong.judgement, wrong.evidence.failed) == (Judgement.FAILED, "case 2")
    broken = runner.judge(echo, "raise KeyError(1)")
    assert broken.evidence.message == "it ends with an error: KeyError: 1"
    assert runner.judge(program(ECHO), ECHO).judgement is Judgement.REFUSED


def test_outputs_are_compared_by_words() -> None:
    assert not first_difference("1 \n2\n\n", "1\n2")
    assert not first_difference("1\n\n2", "1 2")
    assert not first_difference("0.3333333", "0.33333333333")
    assert not first_difference("1e-9", "0.0")
    assert first_difference("12", "1 2")
    assert first_difference("1000000001", "1000000000")  # an integer is exact
    assert first_difference("1.0", "1")
    assert first_difference("1 2", "1 2 3")
    assert first_difference("nan", "0.5")


def test_the_command_lists_and_checks(tmp_path: Path) -> None:
    path = written(tmp_path, [RECORDS["cruxeval"], {**RECORDS["cruxeval"], "id": "wrong", "output": "[2]"}])
    listed = _counterlens("data", "list", str(tmp_path), "--json")
    assert [one["records"] for one in json.loads(listed.stdout)["datasets"]] == [2]
    parsed = _counterlens("data", "check", str(path), "--json")
    assert parsed.returncode == 0
    assert json.loads(parsed.stdout)[0]["counts"] == {"parses": 2}
    run = _counterlens("data", "check", str(path), "--run", "--json")
    assert run.returncode == 1
    (found,) = json.loads(run.stdout)
    assert found["counts"] == {"passes": 1, "fails": 1}
    assert [problem["id"] for problem in found["problems"]] == ["wrong"]
    path.write_text(path.read_text() + "{\n")
    broken = _counterlens("data", "check", str(path))
    assert broken.returncode == 1
    assert "data.jsonl, line 3: not JSON" in broken.stderr
    assert "Traceback" not in broken.stderr


def _counterlens(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "counterlens", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
