"""The transformations of Nguyen et al. 2024, Table 1: all sites of a function at once."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from counterlens.errors import SourceError
from counterlens.mutations import everywhere
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.python.mutations.language import TRANSFORMATIONS
from tests.python.mutations.test_programs import behaves, behaviour, programs

BY_TITLE = {known.title: known.mutation for known in TRANSFORMATIONS}
SOURCE = '''
def f(xs, low, high=9):
    """Ä."""
    data = 10
    for x in xs:
        for y in xs:
            data = data + x
    if low < 3:
        if xs:
            data = data * 2
    if data > high:
        return f(xs, 5)
    elif low == 1:
        return low - 1
    else:
        return data


def g(a):
    return f(a, 1) if a else a + 1
'''


def changed(title: str, source: str = SOURCE) -> str:
    """The mutated `f`."""
    (made,) = everywhere(source, BY_TITLE[title], "f").counterfactuals
    before, after = source.encode(), made.source.encode()
    (change,) = made.changes
    assert before[: change.original[0]] == after[: change.mutated[0]]
    assert before[change.original[1] :] == after[change.mutated[1] :]
    change_text = after[slice(*change.mutated)].decode()
    assert change_text in made.source
    ast.parse(made.source)
    return made.source


@pytest.mark.parametrize(
    ("title", "replaced"),
    [
        (
            "Flip IfElse",
            {
                "elif low == 1": "elif not (low == 1)",
                "low - 1\n    else:\n        return data": "data\n    else:\n        return low - 1",
            },
        ),
        ("Rename Variable", {"data": "VAR1", "for x in": "for VAR2 in", "+ x": "+ VAR2", "y in": "VAR3 in"}),
        (
            "Reorder Parameters",
            {"f(xs, low, ": "f(low, xs, ", "f(xs, 5)": "f(5, xs)", "f(a, 1)": "f(1, a)"},
        ),
        (
            "Negate Relational Condition",
            {
                "if low < 3": "if not (low < 3)",
                "if xs": "if not xs",
                "if data > high": "if not (data > high)",
                "if low == 1": "if not (low == 1)",
            },
        ),
        (
            "Remove Conditional Statement",
            {"    if low < 3:\n        if xs:\n            data = data * 2": "    data = data * 2"},
        ),
        (
            "Remove Def Statement",
            {
                "    data = 10\n": "",
                "            data = data + x": "            pass",
                "            data = data * 2": "            pass",
            },
        ),
    ],
)
def test_all_sites_of_the_function_are_changed_at_once(title: str, replaced: dict[str, str]) -> None:
    expected = SOURCE
    for old, new in replaced.items():
        assert old in expected
        expected = expected.replace(old, new)
    assert changed(title) == expected


def test_loops_inside_of_loops_are_all_converted() -> None:
    made = changed("Convert For/While")
    assert made.count("while") == 2
    assert "for " not in made
    both = dedent("""\
        def f(n):
            for i in range(n):
                for j in range(n):
                    print(i)
            k = 0
            while k < n:
                print(k)
                k += 1
        """)
    assert changed("Convert For/While", both) == dedent("""\
        def f(n):
            i = 0
            while i < n:
                j = 0
                while j < n:
                    print(i)
                    j += 1
                i += 1
            for k in range(n):
                print(k)
        """)


def test_arithmetic_becomes_any_other_arithmetic() -> None:
    source = "def f(a, b):\n    return a + b\n"
    found = {
        everywhere(source, BY_TITLE["Replace Arithmetic Operator"], "f", seed=seed).counterfactuals[0].source
        for seed in range(40)
    }
    assert found == {source.replace("+", other) for other in ("-", "*", "/", "%", "//")}
    for neutral in ("a + 0", "a * 1"):
        for seed in range(10):
            text = source.replace("a + b", neutral)
            (made,) = everywhere(
                text, BY_TITLE["Replace Arithmetic Operator"], "f", seed=seed
            ).counterfactuals
            assert made.source != text
            assert value_of(made.source) != 7
    augmented = "def f(a):\n    a += 3\n    a **= 2\n    return a\n"
    made = everywhere(augmented, BY_TITLE["Replace Arithmetic Operator"], "f").counterfactuals[0].source
    assert "+=" not in made.splitlines()[1]
    assert "**" not in made
    words = everywhere("def f(a):\n    return a + 'x'\n", BY_TITLE["Replace Arithmetic Operator"], "f")
    assert not words.counterfactuals
    assert [refusal.reason for refusal in words.refusals] == ["the operands are not numbers"]


def value_of(source: str) -> object:
    """The result of `f(7, 0)`; None if it raises."""
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102
    try:
        return namespace["f"](7, 0)
    except ZeroDivisionError:
        return None


def test_other_functions_stay_and_refusals_say_why() -> None:
    for title, mutation in BY_TITLE.items():
        found = everywhere(SOURCE, mutation, "g").counterfactuals
        assert [made.source.startswith(SOURCE[:-60]) for made in found] == [True] * len(found), title
    none = everywhere(SOURCE, BY_TITLE["Reorder Parameters"], "f", without=[WHOLE_PROGRAM])
    assert not none.counterfactuals
    assert [refusal.reason for refusal in none.refusals] == [f"it needs to assume {WHOLE_PROGRAM}"]
    with pytest.raises(SourceError, match="no function"):
        everywhere(SOURCE, BY_TITLE["Flip IfElse"], "h")


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_what_keeps_the_meaning_does_so_at_all_sites_at_once(source: str) -> None:
    before = behaves(source)
    if before is None or any(isinstance(r[0], tuple) and r[0][0] == "raised" for r in before):
        return
    for known in TRANSFORMATIONS:
        for made in everywhere(source, known.mutation, "f", without=[WHOLE_PROGRAM]).counterfactuals:
            ast.parse(made.source)
            assert made.source != source
            if known.preserving:
                assert behaviour(made.source) == before, f"{known.title}\n{source}\n{made.source}"
