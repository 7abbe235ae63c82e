"""Cheats in Java compile, and tests that see the method fail for them."""

from __future__ import annotations

import sys
from pathlib import Path

from counterlens.java.judging.cheats import EMPTIED, THROWN, cheats
from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.judging.base import LIMITS, Setting
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, functions

KINDS = """
    import java.util.*;
    class Kinds {
        int a(int x, int y) { return x; }
        int[][] b(int[] xs) { return null; }
        List<Integer> c(List<Integer> xs) { return xs; }
        void d() { int x = 1; }
        static <T> T e(T given) { return given; }
        Long f() { return 3L; }
        byte g() { return 1; }
        String h(String s) { return s; }
        Map<String, List<int[]>> i() { return null; }
        List<String>[] j() { return null; }
        Kinds k() { return this; }
        float l(float x) throws Exception { if (x < 0) throw new Exception(); return x; }
        Kinds() { }
        Object m(Object given) { return given; }
    }
"""
NOTHING = """
    class Main { public static void main(String[] args) { new Kinds(); int x = -3; long y = 5L;
        double d = 2.5; String s = "six"; } }
"""


def test_every_cheat_compiles() -> None:
    document = Document(KINDS, language="java")
    judge = JavaTestsJudge(NOTHING, None, Setting(best_sandbox(), Path(sys.executable), LIMITS))
    made = {each.name: cheats(document, each, [NOTHING]) for each in functions(document)}
    assert made["Kinds"] == {}
    assert all(made[name] for name in "abcdefghijklm")
    for number in range(max(map(len, made.values()))):  # each program has a cheat in every method
        program, bodies = (
            KINDS,
            {name: [*programs][number % len(programs)] for name, programs in made.items() if programs},
        )
        for name, body in bodies.items():
            before = Document(program, language="java")
            program = cheats(before, find_function(before, f"Kinds.{name}"), [NOTHING])[body]
        assert judge.judge(program).passed, bodies
    assert {"return 0;", "return x;", "return y;", "return -3;", THROWN} <= set(made["a"])
    assert set(made["d"]) == {EMPTIED, THROWN}
    assert 'return "six";' in made["h"]
    assert "return xs;" not in made["b"]


def test_tests_that_see_a_method_fail_for_its_cheats() -> None:
    program = "class S { static int f(int x) { return 2 * x; } }"
    document, setting = (
        Document(program, language="java"),
        Setting(best_sandbox(), Path(sys.executable), LIMITS),
    )
    function = find_function(document, "S.f")
    main = "class Main {{ public static void main(String[] a) {{ {} }} }}"
    seeing = main.format("if (S.f(3) != 6 || S.f(4) != 8) throw new AssertionError();")
    blind = main.format("try { if (S.f(3) != 6) throw new AssertionError(); } finally { return; }")
    for tests, passing in ((seeing, 0), (blind, len(cheats(document, function, [blind])))):
        judge = JavaTestsJudge(tests, program, setting)
        programs = cheats(document, function, [tests])
        assert sum(judge.judge(cheat).passed for cheat in programs.values()) == passing
