"""A compiler that was stopped says nothing of a program: its verdict is no "invalid"."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.java.judging import bench
from counterlens.java.judging.judge import JavaOutputJudge, JavaTestsJudge
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting
from counterlens.judging.comparison import PrintingCase
from counterlens.sandbox.registry import best_sandbox

PROGRAM = """\
class Twice {
    static int twice(int n) { return n + n; }
    public static void main(String[] a) { System.out.println(twice(2)); }
}
"""
TESTS = "class Main { public static void main(String[] a) { if (Twice.twice(2) != 4) throw new Error(); } }"


def test_no_program_is_invalid_because_the_compiler_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    judges: list[Judge] = [
        JavaTestsJudge(TESTS, None, setting),
        JavaTestsJudge(TESTS, PROGRAM, setting),
        JavaOutputJudge((PrintingCase("", "4"),), setting),
    ]
    assert [judge.judge(PROGRAM).judgement for judge in judges] == [Judgement.PASSED] * 3
    monkeypatch.setattr(bench, "_COMPILE_SECONDS", 0.0)
    for judge in judges:
        stopped = judge.judge(PROGRAM)
        assert stopped.judgement is Judgement.TIMED_OUT
        assert stopped.evidence.message == "the compiler was stopped after 0 s"
    monkeypatch.undo()
    assert [judge.judge(PROGRAM).judgement for judge in judges] == [Judgement.PASSED] * 3
