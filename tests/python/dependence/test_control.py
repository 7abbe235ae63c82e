"""Control dependence, construct by construct: (line that decides, line that it decides about)."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.dependence import Kind, Rules, dependences
from counterlens.dependence.cfg import control_dependence, immediate_post_dominators


def control(body: str, *, implicit_exceptions: bool = False) -> set[tuple[int, int]]:
    """Control dependence in a function whose body begins in line 2."""
    rules = Rules(implicit_exceptions=implicit_exceptions)
    source = "async def f(a, b, c):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    ast.parse(source)
    return dependences(source, "f", rules=rules).control


CASES = {
    "if": ("if a:\n    b()\nc()", {(2, 3)}),
    "if else": ("if a:\n    b()\nelse:\n    c()", {(2, 3), (2, 5)}),
    "elif": ("if a:\n    b()\nelif b:\n    c()\nelse:\n    a()\nc()", {(2, 3), (2, 4), (4, 5), (4, 7)}),
    "return early": ("if a:\n    return\nb()", {(2, 3), (2, 4)}),
    "while": ("while a:\n    b()\nc()", {(2, 2), (2, 3)}),
    "while else": (
        "while a:\n    if b:\n        break\nelse:\n    c()\na()",
        {(2, 3), (3, 2), (3, 4), (2, 6)},
    ),
    "for": ("for x in a:\n    b()\nc()", {(2, 2), (2, 3)}),
    "for else": (
        "for x in a:\n    if x:\n        break\nelse:\n    c()",
        {(2, 3), (3, 2), (3, 4), (2, 6)},
    ),
    "continue": (
        "for x in a:\n    if x:\n        continue\n    b()",
        {(2, 2), (2, 3), (3, 4), (3, 5)},
    ),
    "endless": (
        "while True:\n    a()\n    if b:\n        break\n    c()\nb()",
        {(2, 3), (2, 4), (4, 2), (4, 5), (4, 6)},
    ),
    "handler whose end cannot be reached": (
        "for x in a:\n    try:\n        try:\n            continue\n"
        "        except E as e:\n            continue\n    except E:\n        b()\n        c()",
        {(2, 2), (2, 3), (2, 4), (2, 5), (4, 6), (6, 7), (3, 8), (8, 9), (8, 10)},
    ),
    "endless in a branch": (
        "if a:\n    while True:\n        b()\nc()",
        {(2, 3), (3, 3), (3, 4), (2, 5)},
    ),
    "suppress that leads on alone": (
        "with suppress(E):\n    return a()\n    b()\nc()",
        {(2, 5)},
    ),
    "dead code raises nothing": (
        "try:\n    return a()\n    raise F\nexcept E:\n    b()\nc()",
        {(2, 5), (5, 6), (2, 7)},
    ),
    "endless without end": ("while True:\n    a()", {(2, 2), (2, 3)}),
    "assert": ("assert a\nb()", {(2, 3)}),
    "raise": ("if a:\n    raise b\nc()", {(2, 3), (2, 4)}),
    "exit": ("if a:\n    exit()\nc()", {(2, 3), (2, 4)}),
    "with": ("with a as x:\n    b()\nc()", set()),
    "async": ("async for x in a:\n    async with b:\n        c()", {(2, 2), (2, 3), (2, 4)}),
    "try that ends": ("try:\n    a()\nexcept E:\n    b()\nc()", {(2, 4), (4, 5)}),
    "try else": ("try:\n    a()\nexcept E:\n    b()\nelse:\n    c()", {(2, 4), (4, 5), (2, 7)}),
    "try that returns": ("try:\n    return a()\nexcept E:\n    b()", {(2, 4), (4, 5)}),
    "handler that leaves": (
        "try:\n    a()\nexcept E:\n    return\nc()",
        {(2, 4), (4, 5), (2, 6)},
    ),
    "handler that goes on with a loop": (
        "for x in a:\n    try:\n        b()\n    except E:\n        continue\n    c()",
        {(2, 2), (2, 3), (2, 4), (3, 5), (5, 6), (3, 7)},
    ),
    "handler that breaks a loop": (
        "for x in a:\n    try:\n        b()\n    except E:\n        break\n    c()\na()",
        {(2, 3), (2, 4), (3, 5), (5, 6), (3, 7), (3, 2)},
    ),
    "handler that raises": (
        "try:\n    a()\nexcept E as e:\n    raise F from e\nc()",
        {(2, 4), (4, 5), (2, 6)},
    ),
    "handler that may leave": (
        "try:\n    a()\nexcept E:\n    if b:\n        return\nc()",
        {(2, 4), (4, 5), (5, 6), (2, 7), (5, 7)},
    ),
    "first handler leaves, second does not": (
        "try:\n    a()\nexcept E:\n    return\nexcept F:\n    b()\nc()",
        {(2, 4), (4, 5), (4, 6), (6, 7), (2, 8), (4, 8)},
    ),
    "second handler leaves, first does not": (
        "try:\n    a()\nexcept E:\n    b()\nexcept F:\n    return\nc()",
        {(2, 4), (4, 5), (4, 6), (6, 7), (2, 8), (4, 8)},
    ),
    "every handler leaves": (
        "try:\n    a()\nexcept E:\n    return\nexcept F:\n    raise\nc()",
        {(2, 4), (4, 5), (4, 6), (6, 7), (2, 8)},
    ),
    "return in a try with else": (
        "try:\n    if a:\n        return\n    b()\nexcept E:\n    b()\nelse:\n    c()\na()",
        {(3, 4), (3, 5), (2, 6), (6, 7), (2, 9), (3, 9), (3, 10)},
    ),
    "return in a try whose handler leaves": (
        "try:\n    if a:\n        return\n    b()\nexcept E:\n    return\nc()",
        {(3, 4), (3, 5), (2, 6), (6, 7), (2, 8), (3, 8)},
    ),
    "continue in a try with else and finally": (
        "for x in a:\n    try:\n        if x:\n            continue\n    except E:\n        b()\n"
        "    else:\n        c()\n    finally:\n        if b:\n            a()",
        {(2, 2), (2, 3), (2, 4), (4, 5), (3, 6), (6, 7), (3, 9), (4, 9), (2, 11), (11, 12)},
    ),
    "handler that returns or raises through finally": (
        "try:\n    try:\n        a()\n    except E:\n        if b:\n            return\n        raise\n"
        "    if c:\n        return\nfinally:\n    b()",
        {(3, 5), (5, 6), (6, 7), (6, 8), (3, 9), (9, 10)},
    ),
    "handler in finally": (
        "try:\n    a()\nfinally:\n    if b:\n        try:\n            c()\n        except E:\n"
        "            a()",
        {(5, 6), (5, 7), (6, 8), (8, 9)},
    ),
    "nested try at the end of a try with else": (
        "try:\n    try:\n        if a:\n            return\n    except E:\n        return\n"
        "except F:\n    b()\nelse:\n    c()",
        {(4, 5), (3, 6), (6, 7), (2, 8), (8, 9), (2, 11), (3, 11), (4, 11)},
    ),
    "endless loop that an exception ends": (
        "while a:\n    try:\n        while True:\n            b()\n"
        "    except E:\n        c()\nif b:\n    a()",
        {(2, 2), (2, 3), (2, 4), (4, 4), (4, 5), (2, 6), (6, 7), (8, 9)},
    ),
    "endless loop in a try with finally": (
        "try:\n    while True:\n        a()\nfinally:\n    b()",
        {(3, 3), (3, 4)},
    ),
    "suppress that goes on with a loop": (
        "for x in a:\n    with suppress(E):\n        continue\n    b()\nc()",
        {(2, 2), (2, 3), (2, 4), (3, 5)},
    ),
    "bare except": ("try:\n    a()\nexcept:\n    b()\nc()", {(2, 4), (2, 5)}),
    "raise that is caught": (
        "try:\n    if a:\n        raise E\n    b()\nexcept E:\n    c()\na()",
        {(2, 6), (3, 4), (3, 5), (3, 6), (6, 7)},
    ),
    "raise that may escape": (
        "try:\n    if a:\n        raise F\nexcept E:\n    c()\na()",
        {(2, 5), (3, 4), (3, 5), (5, 6), (5, 7), (2, 7), (3, 7)},
    ),
    "finally always runs": (
        "try:\n    if a:\n        return\n    b()\nfinally:\n    c()\na()",
        {(3, 4), (3, 5), (3, 8)},
    ),
    "except star": (
        "try:\n    a()\nexcept* E:\n    b()\nexcept* F:\n    c()",
        {(2, 4), (4, 5), (2, 6), (6, 7)},
    ),
    "match": (
        "match a:\n    case [x, *_] if x:\n        b()\n"
        "    case {'k': y}:\n        c()\n    case _:\n        a()\nc()",
        {(3, 4), (3, 5), (5, 6), (5, 7), (5, 8)},
    ),
    "suppress": (
        "with suppress(E):\n    if a:\n        raise E\n    b()\nc()",
        {(3, 4), (3, 5), (4, 6), (3, 6)},
    ),
    "class body": ("class K:\n    if a:\n        x = b\nc()", {(3, 4)}),
    "nested function": ("def g():\n    if a:\n        b()\nc()", set()),
    "one line": ("if a: b(); c()", {(2, 2)}),
    "dead code": ("return a\nif b:\n    c()", {(3, 4)}),
}


@pytest.mark.parametrize("name", CASES)
def test_control_dependence(name: str) -> None:
    body, expected = CASES[name]
    assert control(body) == expected


def test_outcomes_say_how_the_branch_has_to_go() -> None:
    found = dependences("def f(a):\n    if a:\n        b()\n    else:\n        c()\n", "f")
    outcomes = {(e.source, e.target): e.outcome for e in found.edges if e.kind is Kind.CONTROL}
    assert outcomes == {(1, 2): "true", (1, 3): "false"}


def test_the_closure_leads_through_branches() -> None:
    found = dependences("def f(a, b):\n    if a:\n        if b:\n            g()\n", "f")
    assert found.control == {(2, 3), (3, 4)}
    assert found.transitive_control() == {(2, 3), (3, 4), (2, 4)}
    assert (1, 4) in found.transitive()


def test_unconditional_statements() -> None:
    found = dependences(
        "def f(a):\n    x = 1\n    for i in a:\n        if i:\n            return\n    return x\n", "f"
    )
    assert [found.statements[n].line for n in sorted(found.unconditional)] == [2, 3]


def test_implicit_exceptions_make_every_call_a_branch() -> None:
    assert control("a()\nb()\nc = 1") == set()
    assert control("a()\nb()\nc = 1", implicit_exceptions=True) == {(2, 3), (3, 4)}


def test_deeply_nested_finally_clauses_are_not_copied_without_end() -> None:
    body = "return a()"
    for _ in range(12):
        body = f"try:\n    if b:\n        return\n    a()\nfinally:\n{textwrap.indent(body, '    ')}"
    assert control(body)


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    """A flow graph in which node 0 is the end, and every node has a way to it."""
    size = draw(st.integers(2, 9))
    arcs: list[list[int]] = [[], *([draw(st.integers(0, node - 1))] for node in range(1, size))]
    for _ in range(draw(st.integers(0, 2 * size))):
        source = draw(st.integers(1, size - 1))
        target = draw(st.integers(0, size - 1))
        if target not in arcs[source]:
            arcs[source].append(target)
    return arcs


def avoidable(arcs: list[list[int]], start: int, without: int) -> bool:
    """Whether there is a way from a node to the end past another one."""
    seen, stack = set(), [start]
    while stack:
        node = stack.pop()
        if node == without or node in seen:
            continue
        if node == 0:
            return True
        seen.add(node)
        stack += arcs[node]
    return False


@given(graphs())
def test_post_dominance_by_its_definition(arcs: list[list[int]]) -> None:
    above = immediate_post_dominators(arcs, 0)
    for node in range(1, len(arcs)):
        strict = {n for n in range(len(arcs)) if n != node and not avoidable(arcs, node, n)}
        chain, at = set(), node
        while at != 0:
            at = above[at]
            chain.add(at)
        assert chain == strict


@given(graphs())
def test_control_dependence_by_its_definition(arcs: list[list[int]]) -> None:
    found = {(branch, arcs[branch][which], node) for branch, which, node in control_dependence(arcs, 0)}
    for branch, targets in enumerate(arcs):
        for target in targets:
            for node in range(len(arcs)):
                dominates_target = node == target or not avoidable(arcs, target, node)
                dominates_branch = node != branch and not avoidable(arcs, branch, node)
                expected = len(targets) > 1 and dominates_target and not dominates_branch
                assert ((branch, target, node) in found) is expected
