"""What calls of the tests have in common, and how other calls depart from them."""

from __future__ import annotations

import ast
import gc
import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.internal import lambda_sources

from counterlens.python.judging.differential.boundaries import boundary_calls, larger_calls, literal_calls
from counterlens.python.judging.differential.call_likeness import CallLikeness
from counterlens.python.judging.differential.generation import draw, plan
from counterlens.python.judging.differential.inputs import Call, Hints
from counterlens.python.judging.differential.shapes import Shapes, kind_of

SCALARS = (
    st.integers() | st.floats() | st.text(max_size=5) | st.booleans() | st.none() | st.binary(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.frozensets(SCALARS, max_size=3)
    ),
    max_leaves=6,
)


def likeness(calls: list[tuple[Any, ...]], **hints: Any) -> CallLikeness:
    return CallLikeness([Call(call) for call in calls], Hints(**hints))


@pytest.mark.parametrize(
    ("calls", "holds"),
    [
        ([(3,), (8,)], lambda n: 1 <= n <= 9),
        ([(0,), (18,)], lambda n: 0 <= n <= 99),
        ([(-3,), (8,)], lambda n: n),
        ([("()",), ("(())",), ("",)], lambda text: set(text) <= set("()")),
        ([("ab",), ("xyz",)], lambda text: len(text) >= 2 and text.islower()),
        ([("12:30",), ("04:55",)], lambda text: len(text) == 5 and text[2] == ":"),
        ([([1, 2, 3],), ([2, 5, 9],), ([4, 6],)], lambda items: items == sorted(items) and len(items) >= 2),
        ([([[1, 2], [3, 4]],), ([[5, 6], [7, 8]],), ([[5, 6, 7], [0, 1, 2]],)],
         lambda rows: len(set(map(len, rows))) == 1),
        ([({"a": 1},), ({"a": 7},)], lambda held: set(held) == {"a"}),
        ([((1, "a"),), ((2, "b"),)], lambda pair: len(pair) == 2 and isinstance(pair[1], str)),
        ([([5, 2, 9], 2), ([1], 1), ([4, 4], 1), ([7, 8, 1, 3], 4)], lambda items, k: k <= len(items)),
    ],
)  # fmt: skip
def test_drawn_calls_that_are_like_known_ones(
    calls: list[tuple[Any, ...]], holds: Callable[..., bool]
) -> None:
    known = likeness(calls)
    drawn = draw(known.strategy(), 100, 1)
    assert drawn == draw(known.strategy(), 100, 1)
    like = [call for call in drawn if known.departure(call) is None]
    assert len(like) > max(3, len(drawn) // 3)
    assert all(holds(*call.positional) for call in like), [c for c in like if not holds(*c.positional)]


@pytest.mark.parametrize(
    ("calls", "other", "way"),
    [
        ([3, 8], 0, "zero"),
        ([3, 8], -3, "negative"),
        ([3, 8], 10, "larger"),
        ([13, 80], 9, "smaller"),
        ([3, 8], 3.0, "of another type"),
        ([0.5, 2.5], float("nan"), "not finite"),
        (["ab", "xyz"], "", "empty"),
        (["ab", "xyz"], "Ab", "with other characters"),
        (["ab", "xyz"], "aé", "with Unicode characters"),
        (["ab", "xyz"], "a" * 10, "longer"),
        (["12:30", "04:55"], "123:0", "in another format"),
        ([[3], [4, 5]], [], "empty"),
        ([[3], [4, 5]], [0], "zero"),
        ([[1, 3], [4, 5], [2, 9]], [2, 1], "in another order"),
        ([[1, 3], [5, 4], [2, 9]], [2, 2], "with repeated items"),
        ([{"a": 1}, {"a": 2}], {"b": 1}, "with other keys"),
        ([b"ab"], b"c", "with other bytes"),
    ],
)
def test_a_departure_has_a_name(calls: list[Any], other: Any, way: str) -> None:
    assert likeness([(call,) for call in calls]).departure(Call((other,))) == way


@given(st.lists(st.tuples(VALUES), min_size=1, max_size=5))
def test_known_calls_are_like_themselves(calls: list[tuple[Any, ...]]) -> None:
    known = likeness(calls)
    assert [known.departure(Call(call)) for call in calls] == [None] * len(calls)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=5), st.integers())
def test_a_number_is_like_others_by_its_sign_and_magnitude(numbers: list[int], other: int) -> None:
    departure = likeness([(number,) for number in numbers]).departure(Call((other,)))
    within = other > 0 and min(len(str(n)) for n in numbers) <= len(str(other)) <= max(
        len(str(n)) for n in numbers
    )
    constant = len(numbers) >= 4 and len(set(numbers)) == 1
    assert (departure is None) == (other in numbers or (within and not constant))


@given(st.tuples(st.integers(1, 50), st.text("abc", min_size=1), st.lists(st.integers(1, 9), min_size=2)))
def test_boundaries_and_larger_inputs_have_every_kind(values: tuple[int, str, list[int]]) -> None:
    calls = [call.positional for call in boundary_calls([Call((value,)) for value in values])]
    larger = [call.positional for call in larger_calls([Call((value,)) for value in values])]
    assert all((wanted,) in calls for wanted in (0, -1, "", []))
    assert any(isinstance(text, str) and not text.isascii() for (text,) in calls)
    assert any(isinstance(items, list) and items and min(items) < 0 for (items,) in calls)
    assert any(isinstance(number, int) and number > 1 << 62 for (number,) in larger)
    assert max(len(items) for (items,) in larger if isinstance(items, list)) >= 1000


def test_literals_of_the_code_and_their_neighbours_are_tried_in_each_place() -> None:
    tried = [call.positional for call in literal_calls([Call((3, [7, 8]))], [400])]
    assert all(wanted in tried for wanted in ((399, [7, 8]), (401, [7, 8]), (3, [400, 8]), (3, [401, 8])))


def test_a_literal_of_the_code_is_drawn_where_it_is_like_known_values() -> None:
    known = likeness([(103,), (940,)], integers=(517, 5))
    numbers = {call.positional[0] for call in draw(known.strategy(), 100, 1)}
    assert numbers & {516, 517, 518}
    assert min(numbers) >= 100


def test_constants_of_imported_modules_are_not_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They would differ between an installed package and a checkout, and with what is imported so far."""
    monkeypatch.chdir(tmp_path)
    before = draw(st.integers().map(call_of), 200, 3)
    (tmp_path / "speaking.py").write_text(f"NUMBERS = {list(range(70_001, 70_400))}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("speaking")
    assert draw(st.integers().map(call_of), 200, 3) == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_drawing_leaves_nothing_in_the_current_folder(tmp_path: Path) -> None:
    program = (
        "from hypothesis import strategies as st\n"
        "from counterlens.python.judging.differential.generation import draw\n"
        "from counterlens.python.judging.differential.inputs import Call\n"
        "draw(st.builds(lambda text: Call((text,)), st.text()), 20, 1)\n"
    )
    current, cache = tmp_path / "current", tmp_path / "cache"
    current.mkdir()
    kept = {name: value for name, value in os.environ.items() if name != "HYPOTHESIS_STORAGE_DIRECTORY"}
    environment = {**kept, "XDG_CACHE_HOME": str(cache)}
    subprocess.run([sys.executable, "-c", program], cwd=current, env=environment, check=True)
    assert list(current.iterdir()) == []
    assert (cache / "counterlens" / "hypothesis").is_dir()


def test_the_garbage_collector_is_off_while_hypothesis_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    """In CPython 3.11 a collection can make a parse fail (python/cpython#106905)."""
    parse, states = ast.parse, []

    def watched(*arguments: Any, **named: Any) -> Any:
        states.append(gc.isenabled())
        return parse(*arguments, **named)

    module = parse("def f(a, b=(1, 2.5)):\n    return a\n")
    node = module.body[0]
    assert isinstance(node, ast.FunctionDef)
    monkeypatch.setattr(ast, "parse", watched)
    calls = plan(Shapes(module, Hints()), node, None, [Call(([1],)), Call(([0.5], (3,)))])
    draw(calls.of_types(calls.combinations[0]), 20, 1)
    assert states
    assert not any(states)
    assert gc.isenabled()


@given(VALUES, VALUES)
def test_values_of_one_kind_have_one_strategy(one: object, other: object) -> None:
    shapes = Shapes(ast.parse(""), Hints())
    alike = repr(shapes.like(one)) == repr(shapes.like(other))
    assert (kind_of(one) == kind_of(other)) == alike


def test_a_plan_reads_no_source_of_a_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several threads plan: parses in one of them can make those of another fail."""
    monkeypatch.setattr(lambda_sources, "lambda_description", None)
    module = ast.parse("def f(a):\n    return a\n")
    node = module.body[0]
    assert isinstance(node, ast.FunctionDef)
    found = plan(Shapes(module, Hints()), node, None, [Call(([1],)), Call(([2],)), Call(("a",))])
    assert len(found.parameters) == 1


def call_of(number: int) -> Call:
    return Call((number,))
