"""Wrong programs before every judge: tests that are given or found, examples, other inputs, callers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterlens.attribution.base import Judge, Judgement, Setting
from counterlens.attribution.supplied_tests import SuppliedTestsJudge
from counterlens.sandbox.registry import best_sandbox
from tests.attribution.forgery.attacks import CLASSES, walkers
from tests.attribution.forgery.conftest import LIMITS

Project = Callable[[Mapping[str, str]], Path]
RIGHT = "def f(x: int) -> int:\n    return 2 * x\n"
CALLER = "\ndef g(x):\n    return f(x)\n"
EXAMPLES = f'''def f(x):
    """
    >>> f(3)
    6
    >>> f(4) == 8
    True
    """
    return 2 * x
{CALLER}'''
TESTED = "from program import {0}\n\ndef test_it():\n    assert {0}(3) == 6\n    assert {0}(4) == 8\n"
JUDGES = ("given", "found", "doctest", "differential", "covered")
WRONG = sorted({attack.program for attacks in CLASSES.values() for attack in attacks})[::5]


@pytest.fixture(params=JUDGES)
def judge(request: pytest.FixtureRequest, project: Project, bare_python: Path) -> Judge:
    """Each of them, for f."""
    if request.param == "given":
        setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
        return SuppliedTestsJudge("assert f(3) == 6\nassert f(4) == 8\n", "f", RIGHT + CALLER, setting)
    judge_of: Callable[..., Judge] = request.getfixturevalue("judge_of")
    if request.param in {"doctest", "differential"}:
        return judge_of(EXAMPLES if request.param == "doctest" else RIGHT + CALLER, "f")
    called = "f" if request.param == "found" else "g"
    root = project({"program.py": RIGHT + CALLER, "test_it.py": TESTED.format(called), "pyproject.toml": ""})
    return judge_of(root / "program.py", "f", python=bare_python)


def test_no_wrong_program_passes(judge: Judge) -> None:
    assert judge.judge(RIGHT + CALLER).passed
    programs = [*WRONG, *walkers().values()]
    assert len(programs) >= 20
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda program: judge.judge(program + CALLER), programs))
    passed = [
        (program, verdict) for program, verdict in zip(programs, verdicts, strict=True) if verdict.passed
    ]
    assert passed == []
    assert {verdict.judgement for verdict in verdicts} <= {
        Judgement.FAILED, Judgement.REFUSED, Judgement.TIMED_OUT,
    }  # fmt: skip
