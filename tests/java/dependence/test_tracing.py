"""The observed execution of a Java program, against its graph."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from counterlens.dependence import dependences
from counterlens.judging.base import LIMITS, Setting
from counterlens.judging.languages import judging_of
from counterlens.sandbox.registry import best_sandbox
from tests.java.dependence.tracing import UnwatchedError, executed, missing

SOURCE = """\
import java.util.*;
class Solution {
    static int fib(int n) {
        if (n < 2) return n;
        int a = fib(n - 1);
        return a + fib(n - 2);
    }
    int most(int[] values, List<String> names) {
        int most = 0, left;
        outer: for (int i = 0; i < values.length; i++) {
            if (values[i] > most) most = values[i];
            else if (i == 2) continue outer;
        }
        for (String name : names) most += name.length();
        List<Integer> out = new ArrayList<>();
        names.forEach(n -> { int k = 2; out.add(n.length() + k); });
        if (out.add(3))
            out.add(4);
        left = out.size();
        int x;
        while ((x = left--) > 0) { most += x; }
        try { out.get(99); } catch (IndexOutOfBoundsException e) { most += e.getMessage().length(); }
        return most;
    }
}
"""
TESTS = """\
public class Tests { public static void main(String[] a) {
    new Solution().most(new int[] {3, 1, 2, 5}, java.util.List.of("a", "b"));
    Solution.fib(5);
} }
"""


@pytest.fixture(scope="module")
def setting() -> Setting:
    """The sandbox for programs; skips if there is none."""
    if reason := judging_of("java").missing():
        pytest.skip(reason)
    return Setting(best_sandbox(), Path(sys.executable), LIMITS)


def test_what_is_seen_is_in_the_graph_and_what_is_not_is_told(setting: Setting) -> None:
    pairs, graphs = executed(SOURCE, TESTS, setting)
    line = {name: {one.id: one.line for one in found.statements} for name, found in graphs.items()}
    seen = {(line[name][made], line[name][used], variable) for name, made, used, variable in pairs}
    assert {(3, 4, "n"), (3, 5, "n"), (5, 6, "a"), (9, 11, "most"), (11, 11, "most"), (11, 14, "most")} < seen
    assert {(14, 14, "name"), (15, 16, "out"), (15, 17, "out"), (17, 18, "out"), (18, 19, "out")} < seen
    assert {(19, 21, "left"), (21, 21, "left"), (21, 21, "x"), (22, 22, "e"), (22, 23, "most")} < seen
    assert (17, 19, "out") not in seen
    assert list(missing(pairs, graphs)) == []
    other = SOURCE.replace("most += name.length()", "left = name.length()")
    graphs["Solution.most"] = dependences(other, "Solution.most", language="java")
    assert "Solution.most: most of line 11 was used in line 14" in missing(pairs, graphs)


def test_a_program_that_cannot_be_watched_says_why(setting: Setting) -> None:
    with pytest.raises(UnwatchedError, match="does not compile"):
        executed(SOURCE, TESTS.replace("fib(5)", "fob(5)"), setting)
    with pytest.raises(UnwatchedError, match="ArrayIndexOutOfBounds"):
        executed(SOURCE.replace("i < values.length", "i < 9"), TESTS, setting)
