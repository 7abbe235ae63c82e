"""Programs in Java are judged by tests in another process, or in the same one with weak evidence."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from counterlens.attribution.base import Isolation, Judgement, Setting, Strength, lasting
from counterlens.attribution.java.judge import JavaTestsJudge
from counterlens.attribution.languages import judged, program_language
from counterlens.errors import Cancelled, SourceError
from counterlens.sandbox.registry import best_sandbox
from tests.attribution.java.conftest import Judged

TOTAL = """
    import java.util.*;
    class Solution {
        public int total(List<Integer> xs) { int t = 0; for (int x : xs) t += x; return t; }
    }
"""
CHECK = 'if (new Solution().total(List.of(1, 2)) != 3) throw new AssertionError("three");'


def test_right_and_wrong_programs(verdict: Judged) -> None:
    right = verdict(TOTAL, CHECK)
    assert (right.judgement, right.evidence.strength) == (Judgement.PASSED, Strength.STRONG)
    assert right.evidence.isolation is Isolation.APART
    wrong = verdict(TOTAL.replace("t += x", "t -= x"), CHECK)
    assert (wrong.judgement, wrong.evidence.failed) == (Judgement.FAILED, "Main.main")
    assert wrong.evidence.message == "java.lang.AssertionError: three\nline 2 of the tests"
    invalid = verdict(TOTAL.replace("return t;", ""), CHECK)
    assert invalid.judgement is Judgement.INVALID
    assert "line 4: missing return statement" in invalid.evidence.message
    assert verdict(TOTAL, "int x = 1;").judgement is Judgement.REFUSED
    assert verdict(TOTAL, "class Main { }").judgement is Judgement.REFUSED
    late = verdict(TOTAL.replace("int t = 0;", "int t = 0; while (t == 0) { t *= 2; }"), CHECK, seconds=0.5)
    assert (late.judgement, late.evidence.message) == (Judgement.TIMED_OUT, "stopped after 0.5 s")
    assert verdict(TOTAL, CHECK).passed  # the machine that was stopped has been replaced


def test_unicode_escapes_are_read_as_java_reads_them(verdict: Judged) -> None:
    r"""`\u007b` is a brace: the tests run apart from the program all the same."""
    program = TOTAL.replace("class Solution {", r"class Solution \u007b").replace("int t", r"int \uu0074")
    for tests in (CHECK, CHECK.replace("!=", r"\u0021=")):
        right = verdict(program, tests)
        assert (right.judgement, right.evidence.strength) == (Judgement.PASSED, Strength.STRONG)
        assert right.evidence.isolation is Isolation.APART
    assert (
        verdict(program.replace("t += x", r"t -= x; // \u000a t += 0"), CHECK).judgement is Judgement.FAILED
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


def test_values_objects_and_exceptions_cross_as_they_are(verdict: Judged) -> None:
    found = verdict(VALUES, TESTS)
    assert (found.judgement, found.evidence.message) == (Judgement.PASSED, "")
    assert (found.evidence.strength, found.evidence.isolation) == (Strength.STRONG, Isolation.APART)
    wrong = verdict(VALUES.replace("++count", "count++"), TESTS)
    assert wrong.judgement is Judgement.FAILED


@pytest.mark.parametrize(
    ("program", "tests", "why"),
    [
        (
            "class Solution { int x = 3; }",
            "if (new Solution().x != 3) throw new Error();",
            "more than its methods",
        ),
        (
            "class P { } class Solution { P f() { return new P(); } }",
            "if (new Solution().f() == null) throw new Error();",
            "f takes or gives a P",
        ),
        (
            "class Solution extends java.util.ArrayList<Integer> { int f() { return 3; } }",
            "if (new Solution().f() != 3) throw new Error();",
            "extends another class",
        ),
        (
            "enum Solution { A; int f() { return 3; } }",
            "if (Solution.A.f() != 3) throw new Error();",
            "Solution is no class",
        ),
    ],
)
def test_what_cannot_be_apart_shares_a_process(verdict: Judged, program: str, tests: str, why: str) -> None:
    found = verdict(program, tests)
    assert found.passed
    assert (found.evidence.strength, found.evidence.isolation) == (Strength.WEAK, Isolation.SHARED)
    assert why in found.evidence.message
    assert verdict(program.replace("3", "4"), tests).judgement in {Judgement.FAILED, Judgement.PASSED}


def test_an_original_decides_how_programs_are_judged(verdict: Judged) -> None:
    by_identity = 'if (new Solution().f() != "same") throw new AssertionError();'
    program = 'class Solution { String f() { return "same"; } }'
    alone = verdict(program, by_identity)
    assert alone.judgement is Judgement.REFUSED
    assert "pass with it in their own" in alone.evidence.message
    beside = verdict(program, by_identity, original=program)
    assert beside.passed
    assert (beside.evidence.strength, beside.evidence.isolation) == (Strength.WEAK, Isolation.SHARED)
    wrong = verdict(program.replace("same", "other"), by_identity, original=program)
    assert wrong.judgement is Judgement.FAILED


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


def test_what_calls_change_or_leave_empty_is_weak(verdict: Judged) -> None:
    sorting = """
        import java.util.*;
        class Solution { List<Integer> f(List<Integer> xs) { Collections.sort(xs); return xs; } }
    """
    use = "List<Integer> xs = new ArrayList<>(List.of(2, 1)); "
    use += "if (!new Solution().f(xs).equals(xs)) throw new Error();"
    found = verdict(sorting, use)
    assert found.passed
    assert (found.evidence.strength, found.evidence.isolation) == (Strength.WEAK, Isolation.OWN_OPERATORS)
    nothing = "import java.util.*; class Solution { List<Integer> f() { return List.of(); } }"
    loop = "for (int x : new Solution().f()) if (x != 3) throw new Error();"
    found = verdict(nothing, loop)
    assert (found.passed, found.evidence.strength) == (True, Strength.WEAK)
    assert "nothing was compared there" in found.evidence.message


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
        judged(program_language(tmp_path / "a.go"))
    assert refused.value.hint == "Those in Python and Java can"


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "Solution.java").write_text(TOTAL)
    tests = f"import java.util.List; class Main {{ public static void main(String[] a) {{ {CHECK} }} }}"
    (tmp_path / "Main.java").write_text(tests)
    command = [sys.executable, "-m", "counterlens", "judge", "Solution.java", "--tests", "Main.java"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("passed  by given, 1 run, strong evidence, apart"), done.stderr
