"""Reads of Java that the file shows to write, and parameters whose names it reads."""

from __future__ import annotations

import pytest

from counterlens.mutations import survey

SWAP, EQUALS = "independent-swap", "public boolean equals(Object o) { n++; return true; }"
TEXT, ORDER = 'public String toString() { n++; return ""; }', "new LinkedHashMap<>(16, 0.75f, true)"
ACTING = {
    "equals": f"int n; {EQUALS} void f(List<A> xs, A x) {{ boolean a = xs.contains(x); int b = x.n; h(a); }}",
    "toString": f'int n; {TEXT} void f(A x) {{ String a = "" + x; int b = x.n; g(a, b); }}',
    "access order": f"void f() {{ LinkedHashMap<A, A> m = {ORDER}; A a = m.get(k); int b = m.get(j).n; }}",
}


def made(source: str, mutation: str) -> list[str]:
    surveyed = survey(source, mutations=[mutation], language="java")
    return [pair.description for pair in surveyed.counterfactuals]


@pytest.mark.parametrize("body", ACTING.values(), ids=ACTING)
def test_reads_that_write_are_not_swapped(body: str) -> None:
    assert not any("int b" in description for description in made(f"class A {{ {body} }}", SWAP))


@pytest.mark.parametrize(
    ("name", "instead"), [("equals", "return o == this;"), ("toString", 'return "";'), ("access order", "")]
)
def test_the_same_reads_are_swapped_if_they_only_read(name: str, instead: str) -> None:
    body = ACTING[name].replace("n++; return true;", instead).replace('n++; return "";', instead)
    body = body.replace("(16, 0.75f, true)", "(16)")
    assert any("int b" in description for description in made(f"class A {{ {body} }}", SWAP))


def test_parameters_keep_their_names_if_the_file_reads_them() -> None:
    source = (
        "class A { int f(int n) { int k = n; return k; } Object g(Method m) { return m.getParameters(); } }"
    )
    assert "renamed `k` to `var1`" in made(source, "rename-generic")
    refused = survey(source, mutations=["rename-generic"], language="java").refusals
    assert "reflection may read the name of the parameter `n`" in [refusal.reason for refusal in refused]
