"""Generated programs, executed before and after: a preserving mutation preserves what they do."""

from __future__ import annotations

import ast
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterlens.mutations import Counterfactual, apply_everywhere, counterfactuals
from counterlens.mutations.base import NEITHER_RAISES
from counterlens.python.mutations.language import MUTATIONS

PRESERVING = [name for name, mutation in MUTATIONS.items() if mutation.preserving]
INPUTS = [(0, 1, [3, 1, 2]), (2, -1, []), (-3, 5, [0, 0, 4, -1])]

names = st.sampled_from(["a", "b", "x", "y", "total", "item"])
numbers = st.integers(-3, 9).map(str)
atoms = st.one_of(names, numbers, st.just("len(xs)"), st.just("call(x)"), st.just("xs[0]"))


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operator = st.sampled_from(["+", "-", "*", "%", "//"])
    return st.one_of(
        st.tuples(inner, operator, inner).map(" ".join),
        inner.map(lambda e: f"({e})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        atoms.map(lambda e: f"sum([{e} for x in xs if item])"),
        st.tuples(names, inner).map(lambda t: f"({t[0]} := {t[1]})"),
    )


expressions = st.recursive(atoms, combined, max_leaves=4)
comparisons = st.tuples(
    expressions, st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "is", "is not"]), expressions
).map(" ".join)
conditions = st.recursive(
    st.one_of(comparisons, names, st.just("x in xs"), st.just("0 < a < 5")),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map(lambda c: f"not ({c})"),
        inner.map(lambda c: f"({c})"),
    ),
    max_leaves=3,
)
Lines = list[str]


def indented(lines: Lines) -> Lines:
    return ["    " + line for line in lines]


simple = st.one_of(
    st.tuples(names, expressions).map(lambda t: [f"{t[0]} = {t[1]}"]),
    st.tuples(names, st.sampled_from(["+=", "-=", "*="]), expressions).map(lambda t: [" ".join(t)]),
    expressions.map(lambda e: [f"xs.append({e})"]),
    expressions.map(lambda e: [f"call({e})  # seen"]),
    st.tuples(names, names).map(lambda t: [f"{t[0]}, {t[1]} = {t[1]}, {t[0]}"]),
    expressions.map(lambda e: [f"return {e}"]),
    st.just(["# only a comment", "pass"]),
)


def compound(inner: st.SearchStrategy[Lines]) -> st.SearchStrategy[Lines]:
    block = st.lists(inner, min_size=1, max_size=3).map(
        lambda parts: [line for part in parts for line in part]
    )
    jumps = st.sampled_from([[], ["if x > 2: break"], ["if x: continue"]])
    return st.one_of(
        st.tuples(conditions, block).map(lambda t: [f"if {t[0]}:", *indented(t[1])]),
        st.tuples(conditions, block, block).map(
            lambda t: [f"if {t[0]}:  # first", *indented(t[1]), "# between", "else:", *indented(t[2])]
        ),
        st.tuples(conditions, block, conditions, block, block).map(
            lambda t: [
                f"if {t[0]}:",
                *indented(t[1]),
                f"elif {t[2]}:",
                *indented(t[3]),
                "else:",
                *indented(t[4]),
            ]
        ),
        st.tuples(names, expressions, jumps, block).map(
            lambda t: [f"for {t[0]} in range(min(4, {t[1]})):", *indented(t[2]), *indented(t[3])]
        ),
        st.tuples(names, jumps, block, block).map(
            lambda t: [f"for {t[0]} in list(xs):", *indented(t[1] + t[2]), "else:", *indented(t[3])]
        ),
        block.map(lambda b: ["k = 0", "while k < 3:", *indented(b), "    k += 1"]),
        block.map(lambda b: ["try:", *indented(b), "except (IndexError, TypeError):", "    call(y)"]),
        st.tuples(names, block).map(
            lambda t: [f"def inner({t[0]}, z):", *indented(t[1]), "    return z", "y = inner(x, a)"]
        ),
    )


blocks = st.lists(st.recursive(simple, compound, max_leaves=5), min_size=1, max_size=5)


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = [line for block in draw(blocks) for line in block]
    start = ["x = y = total = item = 0"]
    return "\n".join(["def f(a, b, xs):", *indented([*start, *lines, "return x, y, total, xs"])]) + "\n"


class TooLongError(Exception):
    """The program makes too many calls, or too large numbers."""


def behaviour(source: str) -> list[tuple[object, list[object]]]:
    """A program's result or exception, and its calls, for each input."""
    found: list[tuple[object, list[object]]] = []
    code = compile(source, "<generated>", "exec")
    for a, b, xs in INPUTS:
        log: list[object] = []
        space: dict[str, object] = {"call": recorder(log)}
        exec(code, space)  # noqa: S102
        function = space["f"]
        assert callable(function)
        try:
            result: object = ("returned", function(a, b, list(xs)))
        except TooLongError:
            raise
        except Exception as error:
            result = ("raised", type(error).__name__)
        found.append((result, log))
    return found


def recorder(log: list[object]) -> Callable[[object], object]:
    def call(value: object) -> object:
        log.append(value)
        if len(log) > 300 or (isinstance(value, int) and abs(value) > 10**30):
            raise TooLongError
        return value

    return call


def same(pair: Counterfactual, before: list[tuple[object, list[object]]]) -> bool:
    try:
        after = behaviour(pair.source)
    except TooLongError:
        return False
    for old, new in zip(before, after, strict=True):
        raised = isinstance(old[0], tuple) and old[0][0] == "raised"
        if raised and NEITHER_RAISES in pair.assumptions:
            continue
        if old != new:
            return False
    return True


def behaves(source: str) -> list[tuple[object, list[object]]] | None:
    try:
        return behaviour(source)
    except TooLongError:
        return None


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_preserving_counterfactuals_behave_the_same(source: str) -> None:
    before = behaves(source)
    if before is None:
        return
    for pair in counterfactuals(source, mutations=PRESERVING):
        assert same(pair, before), f"{pair.mutation}: {pair.description}\n{source}\n{pair.source}"


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from(PRESERVING))
def test_all_sites_at_once_behave_the_same(source: str, name: str) -> None:
    before = behaves(source)
    if before is None or any(isinstance(r[0], tuple) and r[0][0] == "raised" for r in before):
        return
    assert behaviour(apply_everywhere(source, name)) == before


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from(list(MUTATIONS)))
def test_everything_that_is_made_parses_and_says_what_it_changed(source: str, name: str) -> None:
    ast.parse(apply_everywhere(source, name))
    before = source.encode()
    for pair in counterfactuals(source, mutations=[name]):
        ast.parse(pair.source)
        after = pair.source.encode()
        assert after != before
        at = moved = 0
        for change in pair.changes:
            assert before[at : change.original[0]] == after[moved : change.mutated[0]]
            at, moved = change.original[1], change.mutated[1]
        assert before[at:] == after[moved:]
