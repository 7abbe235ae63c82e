"""Programs in Java are judged as by `javac` and `java -ea`: together with their tests, in one JVM."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from counterlens.errors import Cancelled, SourceError
from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.judging.base import Judgement, Setting, lasting
from counterlens.judging.languages import judging_of, program_language
from counterlens.sandbox.registry import best_sandbox
from tests.judging.java.conftest import Judged

TOTAL = """
    import java.util.*;
    class Solution {
        public int total(List<Integer> xs) { int t = 0; for (int x : xs) t += x; return t; }
    }
"""
CHECK = 'if (new Solution().total(List.of(1, 2)) != 3) throw new AssertionError("three");'


def test_right_and_wrong_programs(verdict: Judged) -> None:
    right = verdict(TOTAL, CHECK)
    assert (right.judgement, right.evidence.tests) == (Judgement.PASSED, 1)
    wrong = verdict(TOTAL.replace("t += x", "t -= x"), CHECK)
    assert (wrong.judgement, wrong.evidence.failed) == (Judgement.FAILED, "Main.main")
    assert wrong.evidence.message == "java.lang.AssertionError: three\nline 2 of the tests"
    invalid = verdict(TOTAL.replace("return t;", ""), CHECK)
    assert invalid.judgement is Judgement.INVALID
    assert "line 4: missing return statement" in invalid.evidence.message
    assert verdict(TOTAL, "class Main { }").judgement is Judgement.REFUSED
    late = verdict(TOTAL.replace("int t = 0;", "int t = 0; while (t == 0) { t *= 2; }"), CHECK, seconds=0.5)
    assert (late.judgement, late.evidence.message) == (Judgement.TIMED_OUT, "stopped after 0.5 s")
    assert verdict(TOTAL, CHECK).passed  # the machine that was stopped has been replaced


def test_unicode_escapes_are_read_as_java_reads_them(verdict: Judged) -> None:
    r"""`\u007b` is a brace, in the program and in its tests."""
    program = TOTAL.replace("class Solution {", r"class Solution \u007b").replace("int t", r"int \uu0074")
    for tests in (CHECK, CHECK.replace("!=", r"\u0021=")):
        right = verdict(program, tests)
        assert (right.judgement, right.evidence.tests) == (Judgement.PASSED, 1)
        assert (
            verdict(program.replace("t += x", r"t -= x; // \u000a t += 0"), CHECK).judgement
            is Judgement.FAILED
        )


VALUES = """
    import java.math.*;
    import java.util.*;
    class Solution {
        private int count;
        public Solution(int from) { count = from; }
        public int next() { return ++count; }
        static <T extends Comparable<T>> T most(List<? extends T> xs) { return Collections.max(xs); }
        public long[][] grid(int n, double... more) { return new long[n][more.length]; }
        Map<String, List<Character>> letters(String[] words) {
            Map<String, List<Character>> found = new TreeMap<>();
            for (String w : words) {
                found.put(w, new ArrayList<>());
                for (char c : w.toCharArray()) found.get(w).add(c);
            }
            return found;
        }
        Optional<BigDecimal> half(BigInteger n) {
            return Optional.of(new BigDecimal(n).divide(BigDecimal.valueOf(2)));
        }
        void sort(int[] xs) { Arrays.sort(xs); }
        Object same(Object given) { return given; }
        int at(int[] xs, int i) { return xs[i]; }
        int at(String s, int i) { return s.charAt(i); }
        String odd() { return "\\ud800 \\u00e4"; }
    }
"""
TESTS = """
    import java.math.*;
    import java.util.*;
    class Main {
        static void that(boolean right) { if (!right) throw new AssertionError(); }
        public static void main(String[] args) {
            Solution s = new Solution(4), t = new Solution(7);
            that(s.next() == 5 && t.next() == 8 && s.next() == 6);
            that(Solution.most(Arrays.asList(3, 9, 4)) == 9);
            that(Solution.most(List.of("a", "b")).equals("b"));
            that(s.grid(2, 0.5, 1.5, 2.5)[1].length == 3);
            that(s.letters(new String[] {"ab", ""}).equals(Map.of("ab", List.of('a', 'b'), "", List.of())));
            that(s.half(BigInteger.valueOf(5)).get().equals(new BigDecimal("2.5")));
            int[] xs = {3, 1, 2};
            s.sort(xs);
            that(Arrays.equals(xs, new int[] {1, 2, 3}));
            List<Object> list = new ArrayList<>(List.of(1, 'x', 2.5, 3L, "text", new HashSet<>(List.of(1))));
            that(s.same(list) == list && s.same("t" + list) != null && s.same(null) == null);
            that(s.at(xs, 2) == 3 && s.at("ab", 1) == 'b' && s.odd().equals("\\ud800 \\u00e4"));
            try {
                s.at(xs, 3);
                throw new AssertionError("no exception");
            } catch (ArrayIndexOutOfBoundsException right) {
                that(right.getMessage().contains("3"));
            }
        }
    }
"""


def test_tests_use_all_that_a_program_has(verdict: Judged) -> None:
    found = verdict(VALUES, TESTS)
    assert (found.judgement, found.evidence.message) == (Judgement.PASSED, "")
    wrong = verdict(VALUES.replace("++count", "count++"), TESTS)
    assert wrong.judgement is Judgement.FAILED


PLAIN = {
    "a field": ("class S { int x = 3; }", "if (new S().x != 3) throw new Error();", True),
    "its own type": (
        "class P { } class S { P f() { return new P(); } }",
        "S s = new S(); P p = s.f();",
        True,
    ),
    "a superclass": (
        "class S extends java.util.ArrayList<Integer> { }",
        "if (!new S().isEmpty()) throw new Error();",
        True,
    ),
    "an enum": ("enum S { A; int f() { return 3; } }", "if (S.A.f() != 3) throw new Error();", True),
    "identity": (
        'class S { String f() { return "same"; } }',
        'if (new S().f() != "same") throw new Error();',
        True,
    ),
    "assert in the tests": ("class S { int f() { return 3; } }", "assert new S().f() == 4;", False),
    "assert in the program": ("class S { int f() { assert false; return 3; } }", "new S().f();", False),
    "a property left": (
        'class S { void f() { System.setProperty("left", "1"); } }',
        'new S().f(); if (System.getProperty("left") != null) throw new Error();',
        False,
    ),
    "a callback": (
        "class S { int f(java.util.function.IntSupplier x) { return x.getAsInt() + 1; } }",
        "if (new S().f(() -> 2) != 3) throw new Error();",
        True,
    ),
    "the name of the thread": (
        "class S { }",
        'assert Thread.currentThread().getName().equals("main");',
        True,
    ),
    "the number of threads": ("class S { }", "assert Thread.activeCount() == 1;", True),
    "the context": (
        "class S { }",
        'assert Thread.currentThread().getContextClassLoader().loadClass("S") == S.class;',
        True,
    ),
    "an exception of another thread": (
        "class S { }",
        "Thread t = new Thread(() -> { throw new Error(); }); t.start(); t.join();",
        True,
    ),
    "memory that is given up": (
        "class S { int f() { try { return new long[1 << 30].length; } "
        "catch (OutOfMemoryError e) { return 3; } } }",
        "if (new S().f() != 3) throw new Error();",
        True,
    ),
    "a finally that returns": (
        "class S { int f() { return 5; } }",
        "try { if (new S().f() != 6) throw new Error(); } finally { return; }",
        True,
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_verdict_is_what_a_plain_run_says(verdict: Judged, name: str) -> None:
    program, tests, right = PLAIN[name]
    found = verdict(program, tests)
    assert found.judgement is (Judgement.PASSED if right else Judgement.FAILED), found


def test_threads_that_a_plain_jvm_awaits_are_awaited(verdict: Judged) -> None:
    body = "Thread t = new Thread(() -> {{ try {{ Thread.sleep(600); }} catch (Exception e) {{ }} {0} }});"
    start = f"{body} t.start();"
    assert verdict("class S { }", start.format("")).passed
    ending = verdict("class S { }", start.format("Runtime.getRuntime().halt(1);"))
    assert (ending.judgement, ending.evidence.message) == (
        Judgement.FAILED,
        "it ended its process or ran out of memory",
    )
    daemon = body.format("Runtime.getRuntime().halt(1);") + "t.setDaemon(true); t.start();"
    assert verdict("class S { }", daemon).passed
    endless = verdict("class S { }", start.format("while (true) { }"), seconds=1.5)
    assert endless.judgement is Judgement.TIMED_OUT


def test_only_the_tests_are_started(verdict: Judged) -> None:
    program = (
        "public class S { int f() { return 3; } public static void main(String[] a) { throw new Error(); } }"
    )
    assert verdict(program, "if (new S().f() != 3) throw new Error();").passed


def test_tests_that_cannot_be_compiled_judge_nothing(verdict: Judged) -> None:
    framework = (
        "import org.testng.Test; class Main { public static void main(String[] a) { new Solution(); } }"
    )
    found = verdict(TOTAL, framework)
    assert found.judgement is Judgement.REFUSED
    assert "the tests import org.testng.Test" in found.evidence.message
    misspelt = "if (new Solution().totl(List.of()) != 0) throw new Error();"
    found = verdict(TOTAL, misspelt, original=TOTAL)
    assert found.judgement is Judgement.REFUSED
    assert found.evidence.message == "the tests do not compile with the original"
    renamed = verdict(TOTAL.replace("total(", "sum("), CHECK, original=TOTAL)
    assert renamed.judgement is Judgement.FAILED
    assert renamed.evidence.message.startswith("the tests do not compile with it: line 2: cannot find symbol")


def test_a_judgement_can_be_given_up(verdict: Judged) -> None:
    cancel = threading.Event()
    endless = TOTAL.replace("int t = 0;", "int t = 0; while (t == 0) { t *= 2; }")
    tests = f"import java.util.List; class Main {{ public static void main(String[] a) {{ {CHECK} }} }}"
    judge = JavaTestsJudge(tests, None, Setting(best_sandbox(), Path(sys.executable), lasting(300)))
    threading.Timer(0.5, cancel.set).start()
    with pytest.raises(Cancelled):  # and no verdict that the time is over
        judge.judge(endless, cancel=cancel)
    assert verdict(TOTAL, CHECK).passed


def test_files_are_judged_by_the_language_of_their_names(tmp_path: Path) -> None:
    assert program_language(tmp_path / "A.java") == "java"
    assert program_language(tmp_path / "a.py") == program_language(tmp_path / "a") == "python"
    with pytest.raises(SourceError, match="programs in Go cannot be judged") as refused:
        judging_of(program_language(tmp_path / "a.go"))
    assert refused.value.hint == "Those in Python and Java can"


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "Solution.java").write_text(TOTAL)
    tests = f"import java.util.List; class Main {{ public static void main(String[] a) {{ {CHECK} }} }}"
    (tmp_path / "Main.java").write_text(tests)
    command = [sys.executable, "-m", "counterlens", "judge", "Solution.java", "--tests", "Main.java"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("passed  by given, 1 run"), done.stderr
