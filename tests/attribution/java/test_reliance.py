"""Tests in Java that leave something open: a wrong program passes them, and that is weak evidence."""

from __future__ import annotations

import pytest

from counterlens.attribution.base import Isolation, Judgement, Strength
from counterlens.attribution.java import bench
from counterlens.attribution.java.reliance import reasons_for_weakness
from tests.attribution.java.conftest import Judged

OPEN = {
    "swallowed": (
        "try { if (new S().f(3) != 6) throw new AssertionError(); } catch (Throwable e) { return; }",
        "",
    ),
    "swallowed by kind": (
        "try { if (new S().f(3) != 6) throw new IllegalStateException(); } catch (RuntimeException e) { }",
        "",
    ),
    "assertion swallowed": ("try { assertEquals(6, new S().f(3)); } catch (java.lang.Error e) { }", ""),
    "null guard": (
        "Integer r = new S().f(3); if (r != null && r != 6) throw new AssertionError();",
        "nothing",
    ),
    "optional": ("new S().f(3).ifPresent(v -> { if (v != 6) throw new AssertionError(); });", "nothing"),
    "stream": ("if (!new S().f(3).stream().allMatch(v -> v == 6)) throw new AssertionError();", "nothing"),
    "forEach": ("new S().f(3).forEach(v -> { if (v != 6) throw new AssertionError(); });", "nothing"),
    "contains": ('if (!"6".contains(new S().f(3))) throw new AssertionError();', "nothing"),
    "containsAll": ("if (!List.of(6).containsAll(new S().f(3))) throw new AssertionError();", "nothing"),
    "retainAll": (
        (
            "List<Integer> r = new ArrayList<>(new S().f(3)); r.removeAll(List.of(6)); if "
            "(!r.isEmpty()) throw new AssertionError();"
        ),
        "nothing",
    ),
    "assume": (
        (
            "import org.junit.jupiter.api.*; class T { @Test void a() { Integer r = new S().f(3); "
            "Assumptions.assumeTrue(r != null); Assertions.assertEquals(6, r); } @Test void b() { "
            "Assertions.assertNull(new S().f(4)); } }"
        ),
        "nothing",
    ),
    "caught": (
        "try { if (new S().f(3) != 6) throw new AssertionError(); } catch (IllegalStateException e) { }",
        "raised",
    ),
    "nan": ("if (Math.abs(new S().f(3) - 6.0) > 1e-9) throw new AssertionError();", "strange"),
    "instanceof": (
        "Object r = new S().f(3); if (r instanceof Integer && !r.equals(6)) throw new AssertionError();",
        "",
    ),
    "own": ("S s = new S(); if (s.f(3) != s.g(3)) throw new AssertionError();", ""),
    "method judges": ("if (!new S(3).matches(6)) throw new AssertionError();", ""),
    "thread": (
        (
            "Thread t = new Thread(() -> { if (new S().f(3) != 6) throw new AssertionError(); }); "
            "t.start(); t.join();"
        ),
        "",
    ),
    "nothing asserted": ("new S().f(3);", ""),
    "short": (
        (
            "int[] want = {6, 8}; int[] r = new S().f(3); for (int i = 0; i < r.length; i++) if (r[i]"
            " != want[i]) throw new AssertionError();"
        ),
        "",
    ),
}
"""The statements of a `main`, or tests of JUnit, and what the program did."""
STRONG = {
    "other exception caught": (
        "try { if (new S().f(3) != 6) throw new AssertionError(); } catch (Exception e) { return; }",
        "",
    ),
    "predicate": (
        "S s = new S(); if (!s.f(3)) throw new AssertionError(); if (s.f(1)) throw new AssertionError();",
        "",
    ),
    "predicate once": ("if (!new S().f(3)) throw new AssertionError();", ""),
    "humaneval": (
        (
            "Solution s = new Solution(); List<Boolean> correct = "
            "Arrays.asList(s.f(3).equals(Arrays.asList(3, 3)), s.f(4).equals(Arrays.asList(4, 4))); "
            "if (correct.contains(false)) throw new AssertionError();"
        ),
        "",
    ),
    "humaneval empty": (
        (
            "Solution s = new Solution(); List<Boolean> correct = "
            "Arrays.asList(s.f(3).equals(Arrays.asList(3, 3)), s.f(0).equals(Arrays.asList())); if "
            "(correct.contains(false)) throw new AssertionError();"
        ),
        "nothing",
    ),
    "expected": (
        (
            "S s = new S(); try { s.f(-1); throw new AssertionError(); } catch "
            "(IllegalArgumentException e) { } if (s.f(3) != 3) throw new AssertionError();"
        ),
        "raised",
    ),
    "close": ("if (Math.abs(new S().f(3) - 1.5) > 1e-9) throw new AssertionError();", ""),
    "null wanted": ("if (new S().f(3) != null) throw new AssertionError();", "nothing"),
    "array": (
        (
            "int[] r = new S().f(6); int[] want = {6, 8}; if (r.length != 2) throw new "
            "AssertionError(); for (int i = 0; i < r.length; i++) if (r[i] != want[i]) throw new "
            "AssertionError();"
        ),
        "",
    ),
    "stack": (
        (
            "S s = new S(); s.push(3); if (s.isEmpty()) throw new AssertionError(); if (s.pop() != 3)"
            " throw new AssertionError(); if (!s.isEmpty()) throw new AssertionError();"
        ),
        "nothing",
    ),
    "helper": (
        (
            "class Main { static void same(int a, int b) { if (a != b) throw new AssertionError(); } "
            "public static void main(String[] a) { same(new S().f(3), 3); } }"
        ),
        "",
    ),
    "roundtrip": (
        (
            """S s = new S(); for (String x : new String[] {"b", "c"}) if (!s.dec(s.enc(x)).equals(x)) """
            "throw new AssertionError();"
        ),
        "",
    ),
    "junit": (
        (
            "import org.junit.jupiter.api.*; class T { @Test void a() { Assertions.assertEquals(6, "
            "new S().f(6)); } @Test void b() { Assertions.assertThrows(IllegalStateException.class, "
            "() -> { throw new IllegalStateException(); }); } }"
        ),
        "",
    ),
}
WRONG = {
    "swallowed": (
        "class S { int f(int x) { return 5; } }",
        "try { if (new S().f(3) != 6) throw new AssertionError(); } catch (Throwable e) { return; }",
    ),
    "nan": (
        "class S { double f(int x) { return Double.NaN; } }",
        "if (Math.abs(new S().f(3) - 6.0) > 1e-9) throw new AssertionError();",
    ),
    "caught": (
        "class S { int f(int x) { throw new IllegalStateException(); } }",
        "try { if (new S().f(3) != 6) throw new AssertionError(); } catch (IllegalStateException e) { }",
    ),
    "nested null": (
        "import java.util.*; class S { List<List<Integer>> f(int x) { return List.of(List.of()); } }",
        "for (List<Integer> row : new S().f(3)) for (int v : row) if (v != 6) throw new AssertionError();",
    ),
    "method judges": (
        "class S { S(int x) { } boolean matches(int y) { return true; } }",
        "if (!new S(3).matches(6)) throw new AssertionError();",
    ),
}


def _said(tests: str, did: str) -> list[str]:
    report = bench.TestsReport(
        True, 1, calls=1, nothing=did == "nothing", strange=did == "strange", raised=did == "raised"
    )
    whole = f"class Main {{ public static void main(String[] a) {{ {tests} }} }}"
    return reasons_for_weakness(tests if "class " in tests else whole, report)


@pytest.mark.parametrize("name", OPEN)
def test_what_tests_leave_open_is_said(name: str) -> None:
    assert _said(*OPEN[name])


@pytest.mark.parametrize("name", STRONG)
def test_of_tests_that_leave_nothing_open_nothing_is_said(name: str) -> None:
    assert _said(*STRONG[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_that_passes_is_weak(verdict: Judged, name: str) -> None:
    found = verdict(*WRONG[name])
    how = (found.judgement, found.evidence.strength, found.evidence.isolation)
    assert how == (Judgement.PASSED, Strength.WEAK, Isolation.APART), found
