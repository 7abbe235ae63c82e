"""Whole programs in Java are judged by what they print."""

from __future__ import annotations

import sys
from pathlib import Path

from counterlens.judging.base import LIMITS, Judgement, Setting, lasting
from counterlens.judging.comparison import PrintingCase
from counterlens.judging.languages import judging_of
from counterlens.sandbox.registry import best_sandbox

PROGRAM = """
import java.util.*;
public class Main {
    static int runs;
    public static void main(String[] args) {
        new Thread(() -> {
            Scanner in = new Scanner(System.in);
            long sum = runs++;
            while (in.hasNextInt()) sum += in.nextInt();
            System.out.println(sum);
        }).start();
    }
}
"""
CASES = (PrintingCase("1 2", "3"), PrintingCase("", "0"))


def test_programs_that_read_and_print() -> None:
    by_output = judging_of("java").by_output(CASES, Setting(best_sandbox(), Path(sys.executable), LIMITS))
    right = by_output.judge(PROGRAM)
    assert (right.judgement, right.evidence.tests) == (Judgement.PASSED, 2)
    wrong = by_output.judge(PROGRAM.replace("sum += in", "sum -= in"))
    assert (wrong.judgement, wrong.evidence.message) == (Judgement.FAILED, "it prints '-3' for '3' as word 1")
    broken = by_output.judge(PROGRAM.replace("new Thread", "int[] none = {}; none[0]++; new Thread"))
    assert broken.evidence.message.startswith("it ends with an error: java.lang.ArrayIndexOutOfBounds")
    left = by_output.judge(PROGRAM.replace("new Thread", "System.exit(0); new Thread"))
    assert left.evidence.message == "it ended its process or ran out of memory"
    assert by_output.judge("class Main {").judgement is Judgement.INVALID
    short = judging_of("java").by_output(CASES, Setting(best_sandbox(), Path(sys.executable), lasting(1)))
    endless = PROGRAM.replace("new Thread", "while (true) { } } void f() { new Thread")
    assert short.judge(endless).judgement is Judgement.TIMED_OUT
