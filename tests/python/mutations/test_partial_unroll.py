"""Loops unrolled once: what a generated loop does, in order, stays the same, also when it is left early."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterlens.mutations import apply_everywhere, counterfactuals, refusals
from counterlens.mutations.engine import everywhere

ID = "partial-unroll"
MOST_EVENTS = 200
names = st.sampled_from(["i", "j", "n"])
Lines = list[str]

simple = st.one_of(
    names.map(lambda name: [f"log({name!r}, {name})"]),
    names.map(lambda name: [f"yield {name}"]),
    st.tuples(names, st.integers(-2, 3)).map(lambda t: [f"{t[0]} += {t[1]}"]),
    names.map(lambda name: [f"later.append(lambda: {name})"]),
    st.just(["xs.append(len(xs))"]),
    st.just(["xs and xs.pop()"]),
    st.just(["n = min(n, 5)  # bounded"]),
    *(
        st.tuples(names, st.integers(0, 3)).map(lambda t, jump=jump: [f"if {t[0]} == {t[1]}:", f"    {jump}"])
        for jump in ("break", "continue", "return i", "raise KeyError(i)")
    ),
)
headers = st.one_of(
    st.tuples(st.integers(-2, 5), st.integers(-2, 6), st.sampled_from([-3, -2, -1, 1, 2, 3])).map(
        lambda t: f"for i in range({t[0]}, {t[1]}, {t[2]}):"
    ),
    st.sampled_from(
        [
            "for i in range(n):",
            "for j in range(n, -1, -2):",
            "for j in range(len(xs)):",
            "for i in range(1, len(xs) + n, 2):",
            "for i in xs:",
            "for j in watched(xs):",
            "for i, j in zip(xs, watched(range(4))):",
            "for j in 1, *xs:",
            "while asked(n):",
            "while (n := n - 1) > 0 and asked(n):",
            "while True:",
            "while n < 4 or \\\n        asked(i):",
        ]
    ),
)


def indented(lines: Lines) -> Lines:
    return ["    " + line for line in lines]


def loop(inner: st.SearchStrategy[Lines]) -> st.SearchStrategy[Lines]:
    body = st.lists(inner, min_size=1, max_size=4).map(
        lambda parts: [line for part in parts for line in part]
    )
    ended = st.sampled_from([[], [], ["else:", "    log('else', n)"]])
    # Without the first statement, a generated loop may never end.
    first = ["count += 1", "if count > 30: break"]
    return st.tuples(headers, body, ended).map(
        lambda t: [t[0], *indented(first), *indented(t[1]), *t[2], "log('after', i, j, n)"]
    )


@st.composite
def programs(draw: st.DrawFn) -> str:
    deeper = st.recursive(simple, loop, max_leaves=4)
    lines = [line for part in draw(st.lists(loop(deeper), min_size=1, max_size=2)) for line in part]
    start = ["later, count, i, j = [], 0, -1, -1", "yield"]
    end = ["log('later', [f() for f in later])"]
    return "\n".join(["def f(n, xs):", *indented([*start, *lines, *end])]) + "\n"


def behaviour(source: str) -> list[list[object]]:
    """All that a program does, in order: what it logs, evaluates, yields, returns or raises."""
    code = compile(source, "<generated>", "exec")
    return [_events(code, n, xs) for n, xs in ((0, []), (3, [2, 0, 1]), (5, [1, 2, 3, 4]))]


def _events(code: object, n: int, xs: list[int]) -> list[object]:
    events: list[object] = []

    def log(*values: object) -> None:
        events.append(values)

    def asked(value: object) -> bool:
        log("asked", value)
        return bool(value) and len(events) < MOST_EVENTS

    def watched(values: Iterator[int]) -> Iterator[int]:
        for value in values:
            log("next", value)
            yield value
        log("end")

    space: dict[str, object] = {"log": log, "asked": asked, "watched": watched}
    exec(code, space)  # type: ignore[arg-type]  # noqa: S102
    function = space["f"]
    assert isinstance(function, Callable)  # type: ignore[arg-type]
    running = function(n, xs)
    try:
        for value in islice(running, MOST_EVENTS):
            log("yielded", value)
    except Exception as error:
        log("raised", repr(error))
    log("left", xs)
    return events


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_loop_does_the_same_in_the_same_order(source: str) -> None:
    before = behaviour(source)
    for made in counterfactuals(source, mutations=[ID]):
        assert behaviour(made.source) == before, f"{source}\n{made.source}"
    for made in everywhere(source, ID, "f").counterfactuals:
        assert behaviour(made.source) == before, f"{source}\n{made.source}"
    whole = apply_everywhere(source, ID)
    assert behaviour(whole) == before, f"{source}\n{whole}"


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_each_loop_is_unrolled_or_refused_with_a_reason(source: str) -> None:
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For | ast.While)]
    made, refused = counterfactuals(source, mutations=[ID]), refusals(source, mutations=[ID])
    assert len(made) + len(refused) == len(loops)
    assert all(refusal.reason for refusal in refused)
    with_else = {node.lineno for node in loops if node.orelse}
    assert with_else <= {refusal.line for refusal in refused}
    for counterfactual in made:
        assert len(ast.dump(ast.parse(counterfactual.source))) > len(ast.dump(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("async def f(xs):\n    async for x in xs:\n        g(x)\n", "asynchronous"),
        ("def f(xs):\n    for x in xs: g(x)\n", "on the line of its header"),
        ("def f(xs, iter):\n    for x in xs:\n        g(x)\n", "something else here"),
        (
            "def f():\n    def g():\n        return 1\n    while g():\n        return eval('x')\n",
            "round again",
        ),
        ("x = 0\ndef f():\n    while g():\n        if 1:\n            global x\n        x = 1\n", "`global`"),
        (
            "def f():\n while a():\n  while b():\n   while c():\n    while d():\n     e()\n",
            "inside 3 loops",
        ),
    ],
)
def test_what_cannot_be_unrolled_is_refused(source: str, reason: str) -> None:
    assert any(reason in refusal.reason for refusal in refusals(source, mutations=[ID]))


def test_a_declaration_in_a_nested_function_may_be_copied() -> None:
    declares = "def g():\n            nonlocal x\n            x += 1\n"
    source = f"def f():\n    x = 0\n    while x < 3:\n        {declares}        g()\n    return x\n"
    (made,) = counterfactuals(source, mutations=[ID])
    assert made.source.count("nonlocal x") == 2
    space: dict[str, object] = {}
    exec(f"{made.source}result = f()", space)  # noqa: S102
    assert space["result"] == 3
