"""Java's constructs that make a change unsafe, and those that an edit must not disturb."""

from __future__ import annotations

from textwrap import dedent

import pytest

from counterlens.errors import CounterlensError, SourceError
from counterlens.java.mutations.language import MUTATIONS
from counterlens.java.mutations.module import JavaModule
from counterlens.mutations import apply_everywhere, survey


def method(body: str) -> str:
    return f"class A {{ int f(int a, int b, int[] c, Object o, String s, double d) {{ {body} }} }}"


CHANGED = [
    # an `else` stays with its `if`
    ("if-else-flip", "if (a > 1) g(); else if (b > 1) h();", "if (a <= 1) { if (b > 1) h(); } else g();"),
    ("block-swap-plain", "if (a > 1) g(); else h();", "if (a > 1) { h(); } else g();"),
    # De Morgan's laws, precedence, and NaN
    ("negate-condition", "if (a > 1 && b > 1 || !k) g();", "if ((a <= 1 || b <= 1) && k) g();"),
    ("negate-condition", "if (d > 1 || d == 2) g();", "if (!(d > 1) && d != 2) g();"),
    # a label stays at its loop
    (
        "for-while-convert",
        "in: for (int i = 0; i < a; i++) { while (b > i) { break in; } }",
        "int i = 0; in: while (i < a) { for (; b > i; ) { break in; } i++; }",
    ),
    # operands are grouped as before
    ("operand-swap", "int e = a - b + c[0];", "int e = c[0] + (a - b);"),
    ("operand-swap", "boolean e = a << 1 < b;", "boolean e = b > a << 1;"),
    ("operand-swap", "int e = ++a+b;", "int e = b+ ++a;"),
    ("operand-swap", "boolean e = a == b != k;", "boolean e = k != (b == a);"),
    # only what is a variable is renamed
    ("rename-generic", "f: for (;;) { this.a = s.a(s); break f; }", None),
    ("var-types", "for (String e : s.split(s)) g(e);", "for (var e : s.split(s)) g(e);"),
]


@pytest.mark.parametrize(("mutation", "before", "after"), CHANGED)
def test_what_is_changed(mutation: str, before: str, after: str | None) -> None:
    made = apply_everywhere(JavaModule(method(before)), mutation)
    if after is not None:
        assert " ".join(made.split()) == method(after)
    else:
        assert "{ f: for (;;) { this.a = var5.a(var5); break f; } }" in made
    JavaModule(made)


REFUSED = [
    ("for-while-convert", "for (int i = 0; i < a; i++) { if (b > i) continue; g(); }", "continue"),
    ("for-while-convert", "o: for (int i = 0; i < a; i++) { for (;;) { continue o; } }", "continue"),
    ("for-while-convert", "for (int i = 0; i < a; i++) { throw e; }", "never reaches its end"),
    ("operand-swap", "String e = s + a;", "string concatenation is not commutative"),
    ("operand-swap", "double e = d + a;", "not integers"),
    ("operand-swap", "boolean e = g() < a++ + h();", "both call unknown code"),
    ("operand-swap", "int e = k + o.hashCode();", "are unknown"),
    ("independent-swap", "a = 1; g(() -> c[0]); c[0] = 2;", "changes an object"),
    ("independent-swap", "a++; b = a;", "both touch `a`"),
    ("independent-swap", "o: for (;;) { a++; break o; }", "may jump"),
    ("refactor-condition", "switch (a) { case 1: if (k) h(); }", "may be a constant"),
    ("refactor-condition", "if (o instanceof String t) g(t);", "pattern"),
    ("remove-conditional", "switch (a) { case 1: if (a > 1) return 1; g(); }", "unreachable"),
    ("rename-random", "switch (o) { case a: g(); }", "`a` is used in a case"),
    ("rename-random", "g(new B() { int a() { return a; } });", "`a` is used in a class"),
    ("def-use-break", "while (k) { a = g(); } return a;", "skipped"),
    ("var-types", "Object e = s;", "another type"),
    ("var-types", "java.util.List<Integer> e = new java.util.ArrayList<>();", "another type"),
    ("replace-arithmetic", "Object e = s + o;", "strings"),
]


@pytest.mark.parametrize(("mutation", "body", "reason"), REFUSED)
def test_what_is_refused(mutation: str, body: str, reason: str) -> None:
    reasons = [one.reason for one in survey(method(body), mutations=[mutation], language="java").refusals]
    assert any(reason in one for one in reasons), reasons


def test_the_constructor_of_a_record_keeps_its_parameters() -> None:
    source = "record A(int a) { A(int a) { int b = a; this.a = b; } }"
    made = apply_everywhere(JavaModule(source), "rename-generic")
    assert made == "record A(int a) { A(int a) { int var1 = a; this.a = var1; } }"


SOURCE = dedent('''
    package a.b;
    import java.util.*;

    @SuppressWarnings("all")
    public sealed interface Shape<T extends Comparable<T>> permits Shape.Dot {
        record Dot<T extends Comparable<T>>(int x, int y) implements Shape<T> {
            Dot { if (x < 0) throw new IllegalArgumentException("""
                a "text"
                  block"""); }
        }
        enum Kind { ONE { int f() { return 1; } }, TWO; int f() { return 2; } }
        default int size(List<? extends T> ts, int... ns) throws Exception {
            int total = 0; // Größe
            /* sum */ for (final int n : ns) total += n;
            try (var in = open(); in) { total++; } catch (RuntimeException | Error e) { total--; }
            finally { close(); }
            total = switch (ns.length) { case 0, 1 -> total; default -> { int k = total * 2; yield k; } };
            do { total >>>= 1; if (total == 3) continue; } while (total > 9 ? true : false);
            Comparator<T> order = (l, r) -> l.compareTo(r);
            synchronized (this) { assert total > 0 : "none"; }
            return ts.stream().map(String::valueOf).mapToInt(String::length).sum() + total;
        }
    }
''')


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", MUTATIONS)
def test_counterfactuals_of_all_constructs_parse_and_change_only_what_they_say(
    name: str, newline: str
) -> None:
    source = SOURCE.replace("\n", newline)
    for made in survey(source, mutations=[name], language="java").counterfactuals:
        JavaModule(made.source)
        assert made.source.count("\r") == (made.source.count("\n") if newline == "\r\n" else 0)
        before, after = source.encode(), made.source.encode()
        at = moved = 0
        for change in made.changes:
            assert before[at : change.original[0]] == after[moved : change.mutated[0]]
            at, moved = change.original[1], change.mutated[1]
        assert before[at:] == after[moved:]


def test_functions_are_named_by_their_classes() -> None:
    names = [function.qualname for function in JavaModule(SOURCE).functions]
    assert names == ["Shape.Dot.Dot", "Shape.Kind.f()", "Shape.Kind.f()", "Shape.size"]


def test_equal_seeds_give_equal_counterfactuals_and_others_other_names() -> None:
    one, again, other = (
        survey(SOURCE, mutations=["rename-random"], seed=seed, language="java") for seed in (1, 1, 2)
    )
    assert one == again
    assert one.counterfactuals[0].source != other.counterfactuals[0].source


def test_errors_say_what_to_do() -> None:
    with pytest.raises(SourceError, match="line 1 does not parse as Java"):
        JavaModule("class A { void f( }")
    with pytest.raises(CounterlensError, match="loop-unroll does not support Java"):
        survey(SOURCE, mutations=["loop-unroll"], language="java")
    with pytest.raises(CounterlensError, match="var-types does not support Python"):
        survey("x = 1\n", mutations=["var-types"])
    with pytest.raises(SourceError, match="Go has no mutations"):
        survey("package a", language="go")


def test_a_long_method_is_read_in_time_and_however_deep() -> None:
    deep = method("return " + " + ".join(["a"] * 3000) + ";")
    assert survey(deep, mutations=["rename-generic"], language="java").counterfactuals


BINDS_INSIDE = {
    "for": "for (int x = 0; x < a; x++) b += x;",
    "for each": "for (int x : c) b += x;",
    "lambda": "F k = x -> x;",
    "lambda of two": "F k = (w, x) -> x;",
    "typed lambda": "F k = (int x) -> x;",
    "catch": "try { b = 1; } catch (E x) { b = 2; }",
    "block": "if (a > 1) { int x = 4; b += x; }",
    "loop in a block": "{ while (a > b) { for (int x : c) b += x; } }",
    "pattern": "boolean k = o instanceof String x && d > 1;",
    "record pattern": "boolean k = o instanceof P(int w, int x) && d > 1;",
    "switch pattern": "switch (o) { case String x -> b = 1; default -> b = 2; }",
    "resource": "try (var x = s) { b = 1; }",
}


@pytest.mark.parametrize("statement", BINDS_INSIDE.values(), ids=BINDS_INSIDE)
def test_a_declaration_stays_behind_a_statement_that_binds_its_name_inside(statement: str) -> None:
    source = method(f"{statement} int x = 7; return x;")
    refused = [
        each.reason for each in survey(source, mutations=["independent-swap"], language="java").refusals
    ]
    assert any("one declares `x`, which the other binds inside" in reason for reason in refused), refused
    other = survey(source.replace("int x = 7; return x", "int y = 7; return y"), language="java")
    reasons = [each.reason for each in other.refusals if each.mutation == "independent-swap"]
    assert not any("binds inside" in reason for reason in reasons)


def test_a_pattern_that_is_bound_behind_a_loop_counts_as_declared() -> None:
    source = method("for (int x : c) b += x; while (!(o instanceof String x)) o = s; return x;")
    (refusal, *_) = survey(source, mutations=["independent-swap"], language="java").refusals
    assert "one declares `x`" in refusal.reason


def test_statements_that_both_bind_a_name_inside_are_swapped() -> None:
    loops = "for (int i = 0; i < 3; i++) a += i; for (int i = 0; i < 3; i++) b += i;"
    first, second = loops.split("; for")
    swapped = apply_everywhere(JavaModule(method(loops)), "independent-swap")
    assert swapped == method(f"for{second} {first};")
