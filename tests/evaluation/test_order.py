"""The order in which the items of a run begin: what a stopped run has asked is a random sample."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.evaluation.engines.registry import LocalEngine
from counterlens.evaluation.order import AHEAD, in_random_order
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.run import Run
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store
from counterlens.evaluation.time_left import TimeLeft
from counterlens.evaluation.time_limit import TimeLimit
from counterlens.sandbox.registry import best_sandbox


def items(count: int, model: str = "m", task: str = "completion", name: str = "f") -> list[Item]:
    return [
        Item(i, f"{model}|{task}|{i}", model, f"{name}{i}", f"{name}{i}", "00", task) for i in range(count)
    ]


def settings(seed: int = 0, minutes: float | None = None) -> RunSettings:
    return RunSettings(("completion",), "data", ("m",), seed=seed, minutes=minutes)


def by_size(item: Item) -> float:
    """As in HumanEval, whose later functions are harder and longer."""
    return item.position


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_every_item_begins_once_task_by_task(first: int, second: int, seed: int) -> None:
    every = [*items(first), *items(second, task="summary")]
    order = in_random_order(every, settings(seed), by_size)
    assert sorted(order, key=every.index) == every
    assert [item.task for item in order] == ["completion"] * first + ["summary"] * second


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 5))
def test_a_size_moves_no_item_out_of_the_next_few(count: int, stop: int, seed: int) -> None:
    plain = [item.position for item in in_random_order(items(count), settings(seed))]
    sized = [item.position for item in in_random_order(items(count), settings(seed), by_size)]
    assert len(set(plain[:stop]) - set(sized[:stop])) < AHEAD
    for start in range(0, count, AHEAD):
        assert sized[start : start + AHEAD] == sorted(plain[start : start + AHEAD], reverse=True)


@pytest.mark.parametrize("minutes", [None, 5.0])
def test_whenever_a_run_stops_each_function_is_as_likely_to_be_asked(minutes: float | None) -> None:
    count, stop, seeds = 40, 12, 2000
    asked = Counter[int]()
    for seed in range(seeds):
        order = in_random_order(items(count), settings(seed, minutes), by_size)
        asked.update(item.position for item in order[:stop])
    expected = seeds * stop / count
    spread = (seeds * (stop / count) * (1 - stop / count)) ** 0.5
    assert all(abs(asked[position] - expected) < 5 * spread for position in range(count))


def test_all_models_and_a_resumed_run_have_the_same_order() -> None:
    first = in_random_order(items(30), settings(3), by_size)
    assert first == in_random_order(items(30), settings(3), by_size)
    other = in_random_order(items(30, model="n"), settings(3), by_size)
    assert [item.problem for item in first] == [item.problem for item in other]
    assert first != in_random_order(items(30), settings(4), by_size)


def test_public_functions_come_first_where_time_is_limited() -> None:
    both = [*items(8), *items(8, name="_f")]
    order = in_random_order(both, settings(minutes=1.0))
    assert [item.function.startswith("_") for item in order] == [False] * 8 + [True] * 8


@pytest.mark.parametrize("more", [{}, {"minutes": 5.0}])
def test_a_run_asks_in_this_order_with_and_without_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, float]
) -> None:
    (tmp_path / "code").mkdir()
    body = "    if n > 9:\n        n = 9\n    else:\n        n = n + 0\n"
    for i in range(9):
        doctest = f'    """Give.\n\n    >>> f{i}(3)\n    3\n    """\n'
        (tmp_path / "code" / f"m{i}.py").write_text(f"def f{i}(n):\n{doctest}{body * (i + 1)}    return n\n")
    chosen = RunSettings.of(
        ["likelihood"], f"repo:{tmp_path / 'code'}", {"seed": 1}, models=("a", "b"), **more
    )
    plan = make_plan(chosen, best_sandbox())
    asked: list[Item] = []

    def ask(
        run: Run, specs: list[str], limit: TimeLimit, refused: set[str], _answers: Any, going: Any
    ) -> Any:
        asked.extend(run._items_of(specs, limit, 0, refused, going))
        return specs

    monkeypatch.setattr(Run, "_ask", ask)
    counted = {"likelihood": {name: float(i) for i, name in enumerate(plan.targets["likelihood"])}}
    left = TimeLeft(plan.items, counted)
    with Store.create(tmp_path / "run") as store:
        Run.begin(store, plan, LocalEngine(best_sandbox())).go(Event(), remaining=left)
    own = [item for item in plan.items if item.model == "a"]
    order = [item.problem for item in in_random_order(own, chosen, left.work)]
    assert [(item.problem, item.model) for item in asked] == [(name, spec) for name in order for spec in "ab"]
    assert [item.position for item in asked if item.model == "a"] != list(range(9))
