"""A compiler that was stopped says nothing of a program: its verdict is no "invalid"."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.java.judging import bench
from counterlens.java.judging.differential import (
    JavaDifferentialJudge,
    JavaOriginal,
    Untestable,
    find_out,
)
from counterlens.java.judging.differential.original import study
from counterlens.java.judging.judge import JavaOutputJudge, JavaTestsJudge
from counterlens.judging.base import LIMITS, Judge, Judgement, Setting
from counterlens.judging.comparison import PrintingCase
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

PROGRAM = """\
class Twice {
    static int twice(int n) { return n + n; }
    public static void main(String[] a) { System.out.println(twice(2)); }
}
"""
TESTS = "class Main { public static void main(String[] a) { if (Twice.twice(2) != 4) throw new Error(); } }"


def test_no_program_is_invalid_because_the_compiler_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    document = Document(PROGRAM, language="java")
    function = find_function(document, "Twice.twice")
    original = study(document, function, setting)
    assert isinstance(original, JavaOriginal)
    judges: list[Judge] = [
        JavaTestsJudge(TESTS, None, setting),
        JavaTestsJudge(TESTS, PROGRAM, setting),
        JavaOutputJudge((PrintingCase("", "4"),), setting),
        JavaDifferentialJudge(original),
    ]
    assert [judge.judge(PROGRAM).judgement for judge in judges] == [Judgement.PASSED] * 4
    monkeypatch.setattr(bench, "_COMPILE_SECONDS", 0.0)
    for judge in judges:
        stopped = judge.judge(PROGRAM)
        assert stopped.judgement is Judgement.TIMED_OUT
        assert stopped.evidence.message == "the compiler was stopped after 0 s"
    untestable = find_out(document, function, setting)
    assert isinstance(untestable, Untestable)
    assert "the compiler was stopped" in untestable.reason
    monkeypatch.undo()
    assert isinstance(find_out(document, function, setting), JavaOriginal)  # it is not remembered
    assert [judge.judge(PROGRAM).judgement for judge in judges] == [Judgement.PASSED] * 4
