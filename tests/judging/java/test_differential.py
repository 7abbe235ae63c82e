"""Java methods are judged by what they do on generated inputs, or it is said why not."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from counterlens.java.judging.differential import (
    JavaDifferentialJudge,
    JavaOriginal,
    Untestable,
    find_out,
)
from counterlens.java.judging.differential.calling import same_value
from counterlens.judging.base import LIMITS, Judgement, OriginalSays, Setting
from counterlens.judging.programs import judge_against
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge, why_no_judge
from counterlens.judging.settlement import Settlement, counts, settle
from counterlens.mutations import survey
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

TEXTS = """
    package text;
    import java.util.*;
    public class Texts {
        static int calls;
        private final Map<String, Integer> known = new HashMap<>();

        public static String censor(String text, Set<Character> letters, int from) {
            StringBuilder out = new StringBuilder();
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                if (i >= from && letters.contains(c)) out.append('*');
                else out.append(c);
            }
            return out.toString();
        }
        <T extends Comparable<T>> void sort(List<T> xs, int[]... grid) {
            Collections.sort(xs);
            for (int[] row : grid) Arrays.sort(row);
        }
        static long collatz(long n) {
            long steps = 0;
            while (n != 1) { n = n % 2 == 0 ? n / 2 : 3 * n + 1; steps++; }
            return steps;
        }
        static int third(int[] xs) { return xs[2]; }
        static int counted(int n) { return n + calls++; }
        static double odd(int n) { return n + Math.random(); }
        static Object lambda(int n) { return (Runnable) () -> {}; }
        static int read(String name) throws Exception { return new java.io.FileReader(name).read(); }
        static void nothing(int n) { }
        static int of(Texts other) { return other.known.size(); }
        static int seven() { return 7; }
        Texts(int size) { }
        Texts() { }
    }
    class Kept { Kept(Texts text) { } int size() { return 1; } }
"""


def original(name: str, program: str = TEXTS) -> JavaOriginal | Untestable:
    document = Document(textwrap.dedent(program), language="java")
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    return find_out(document, find_function(document, name), setting)


def judge(name: str) -> JavaDifferentialJudge:
    found = original(name)
    assert isinstance(found, JavaOriginal), found
    return JavaDifferentialJudge(found)


def test_what_a_program_gives_is_compared() -> None:
    by_inputs = judge("censor")
    assert by_inputs.original.reached == by_inputs.original.blocks
    assert by_inputs.judge(textwrap.dedent(TEXTS)).passed
    verdict = by_inputs.judge(TEXTS.replace("i >= from", "i > from"))
    assert verdict.judgement is Judgement.FAILED
    assert "distinguish them" in verdict.evidence.message
    assert verdict.evidence.failed is not None
    assert verdict.evidence.failed.startswith('censor("')
    assert by_inputs.judge(TEXTS.replace("out.toString();", "out;")).judgement is Judgement.INVALID
    renamed = by_inputs.judge(TEXTS.replace("censor", "censored"))
    assert renamed.evidence.message == "the program has no method censor that takes the same arguments"


def test_exceptions_changed_arguments_and_programs_that_do_not_end() -> None:
    assert not judge("third").judge(TEXTS.replace("return xs[2]", "return xs.length < 3 ? 0 : xs[2]")).passed
    in_order = judge("sort")
    assert in_order.judge(TEXTS.replace("Collections.sort(xs)", "xs.sort(null)")).passed
    assert not in_order.judge(TEXTS.replace("Arrays.sort(row);", "{ }")).passed
    endless = judge("collatz").judge(TEXTS.replace("n / 2 :", "n :"))
    assert endless.judgement is Judgement.TIMED_OUT
    left = judge("censor").judge(TEXTS.replace("return out.toString();", "System.exit(0); return null;"))
    assert left.evidence.message == "it ends its process or runs out of memory"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("counted", "it returns different results for the same input"),
        ("odd", "it depends on random numbers"),
        ("lambda", "it returns a value that cannot be compared: text.Texts$$Lambda"),
        ("read", "it uses files"),
        ("nothing", "it returns nothing and changes none of its arguments"),
        ("of", "values of its parameters cannot be generated: Texts"),
        ("Kept.size", "values for the constructors of Kept cannot be generated"),
        ("Texts.Texts(int)", "it is a constructor"),
    ],
)
def test_what_cannot_be_judged_so_says_why(name: str, reason: str) -> None:
    found = original(name)
    assert isinstance(found, Untestable)
    assert found.reason.startswith(reason)


def test_the_registry_falls_back_to_it(tmp_path: Path) -> None:
    document = Document(textwrap.dedent(TEXTS), tmp_path / "Texts.java", language="java")
    found = find_judge(
        document, find_function(document, "third"), Setting(best_sandbox(), interpreter_for(document.path))
    )
    assert isinstance(found, JavaDifferentialJudge)
    assert "2 of 2 blocks reached" in found.described or "1 of 1 block reached" in found.described
    of = find_function(document, "of")
    assert find_judge(document, of, Setting(best_sandbox(), interpreter_for(document.path))) is None
    assert why_no_judge(document, of, Setting(best_sandbox(), interpreter_for(document.path))) == (
        "no test of its project mentions it; its behaviour cannot be judged: values of its parameters "
        "cannot be generated: Texts"
    )


def test_programs_are_compared_and_counterfactuals_settled(tmp_path: Path) -> None:
    good, bad = tmp_path / "Good.java", tmp_path / "Bad.java"
    good.write_text(
        "class Sum { static int sum(int[] xs) { int s = 0; for (int x : xs) { s += x; } return s; } }"
    )
    bad.write_text(good.read_text().replace("s += x", "s -= x"))
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)
    assert judge_against(good.read_text(), good, setting).passed
    assert judge_against(bad.read_text(), good, setting, function="Sum.sum").judgement is Judgement.FAILED
    document = Document.read(good)
    settled = settle(document, survey(document.text, language="java").counterfactuals, best_sandbox())
    found = counts(settled)
    assert found[Settlement.DISCARDED] == found[Settlement.UNSETTLED] == 0
    assert found[Settlement.HOLDS] > 0 < found[Settlement.BREAKS]


def test_equal_values() -> None:
    one, two = ("I", 1), ("I", 2)
    assert same_value(("L", "java.util.HashSet", (one, two)), ("L", "java.util.TreeSet", (two, one)))
    assert not same_value(("L", "java.util.ArrayList", (one, two)), ("L", "java.util.ArrayList", (two, one)))
    assert same_value(("L", "java.util.ArrayList", (one,)), ("L", "java.util.LinkedList", (one,)))
    pairs = ((one, two), (two, one))
    assert same_value(("M", "java.util.HashMap", pairs), ("M", "java.util.TreeMap", pairs[::-1]))
    assert same_value(("D", 0.1 + 0.2), ("D", 0.3))
    assert not same_value(("[", "int", (one,)), ("[", "long", (("J", 1),)))


EFFECTS = """
    import java.util.*;
    public class S {
        private final List<Integer> items = new ArrayList<>(List.of(1, 2));
        List<Integer> items() { return new ArrayList<>(items); }
        int f(int x) { return 2 * x; }
        int half(int x) { if (x < 0) throw new IllegalArgumentException(); return x / 2; }
        double mean(double[] xs) { double s = 0; for (double x : xs) s += x; return s / xs.length; }
        Set<Integer> kept(List<Integer> xs) { return new TreeSet<>(xs); }
        static class Bag {
            private final List<Integer> all;
            private int asked;
            Bag(List<Integer> xs) { all = new ArrayList<>(xs); }
            int size() { return all.size(); }
            int asked() { return ++asked; }
        }
        int[] sorted(int[] xs) { int[] out = xs.clone(); Arrays.sort(out); return out; }
    }
"""
CHANGES = {
    "prints": ("return 2 * x", 'System.out.println("debug"); return 2 * x', "f"),
    "complains": ("return 2 * x", 'System.err.println("debug"); return 2 * x', "f"),
    "a property": ("return 2 * x", 'System.setProperty("left", "1"); return 2 * x', "f"),
    "a locale": ("return 2 * x", "Locale.setDefault(Locale.GERMANY); return 2 * x", "f"),
    "a time zone": ("return 2 * x", 'TimeZone.setDefault(TimeZone.getTimeZone("GMT+5")); return 2 * x', "f"),
    "an interrupt": ("return 2 * x", "Thread.currentThread().interrupt(); return 2 * x", "f"),
    "a thread": (
        "return 2 * x",
        "Thread t = new Thread(() -> { while (true) java.util.concurrent.locks.LockSupport.park(); }); "
        "t.setDaemon(true); t.start(); return 2 * x",
        "f",
    ),
    "a stream replaced": ("return 2 * x", "System.setOut(System.err); return 2 * x", "f"),
    "a static counter": ("int f(int x) {", "static int n; int f(int x) { if (n++ > 100) return 0;", "f"),
    "a field": ("int f(int x) {", "int n; int f(int x) { if (n++ > 0) return 0;", "f"),
    "its own list": ("return new ArrayList<>(items)", "return items", "items"),
    "its argument": ("int[] out = xs.clone()", "int[] out = xs", "sorted"),
    "the argument of its constructor": ("all = new ArrayList<>(xs)", "all = xs", "Bag.size"),
    "static for a field": ("private int asked", "private static int asked", "Bag.asked"),
    "not a number": ("return s / xs.length", "return xs.length == 2 ? Double.NaN : s / xs.length", "mean"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_call_leaves_behind_differs(name: str) -> None:
    before, after, method = CHANGES[name]
    found = original(f"S.{method}", EFFECTS)
    assert isinstance(found, JavaOriginal), found
    comparison = JavaDifferentialJudge(found).compare(textwrap.dedent(EFFECTS).replace(before, after))
    assert comparison.agreement is OriginalSays.DIFFERS
    assert comparison.original != comparison.other
    assert comparison.call is not None
    assert f"{method.rpartition('.')[2]}(" in comparison.call


SAME = {
    "another order of a set": ("new TreeSet<>(xs)", "new LinkedHashSet<>(xs)", "kept", ""),
    "rounding": ("s / xs.length", "s * (1.0 / xs.length)", "mean", ""),
    "a thread that ends": (
        "return 2 * x",
        "Thread t = new Thread(() -> { }); t.start(); return 2 * x",
        "f",
        "",
    ),
    "where the original throws": (
        "if (x < 0) throw new IllegalArgumentException();",
        "",
        "half",
        "differs only where the original refuses, such as half(-",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_says_nothing_against_a_program_agrees(name: str) -> None:
    before, after, method, reason = SAME[name]
    found = original(f"S.{method}", EFFECTS)
    assert isinstance(found, JavaOriginal), found
    comparison = JavaDifferentialJudge(found).compare(textwrap.dedent(EFFECTS).replace(before, after))
    assert comparison.agreement is OriginalSays.AGREES, comparison
    assert comparison.inputs > 0
    assert comparison.reason.startswith(reason)
