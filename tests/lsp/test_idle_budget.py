"""What nobody looks at is read when the budget for idle work allows it, or if it was read before."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.lsp.idle_budget import IdleBudget
from counterlens.lsp.model_host import IdleModel
from counterlens.models.cache import AnswerStore, CachedModel, NotCachedError
from counterlens.models.llama.model import LlamaModel
from tests.lsp.conftest import UNCERTAINTY, configure, open_file, scored, until
from tests.lsp.test_dependences import edit

LONG = "".join(f"def f{i}(a, b):\n    return a * {i} + b\n\n\n" for i in range(30))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.floats(0.1, 600), st.lists(st.tuples(st.floats(0, 50), st.floats(0, 200)), max_size=30))
def test_no_more_is_spent_than_the_minutes_allow_and_the_last_piece_of_work(
    per_minute: float, steps: list[tuple[float, float]]
) -> None:
    clock = Clock()
    budget = IdleBudget(per_minute, clock)
    spent = last = 0.0
    for cost, wait in steps:
        clock.now += wait
        if budget.delay:
            while (delay := budget.delay) > 0:
                clock.now += delay
        budget.charge(cost)
        spent, last = spent + cost, cost
        assert spent - last <= per_minute * (1 + clock.now / 60) + 1e-6 * (1 + spent)


def test_nothing_is_allowed_at_zero_and_a_change_counts_at_once() -> None:
    clock = Clock()
    budget = IdleBudget(0, clock)
    clock.now = 1e6
    assert budget.delay > 0
    budget.allow(6)
    assert budget.delay == 0
    budget.charge(9)
    clock.now += 29.9  # what is owed is a half of what a minute allows
    assert budget.delay == pytest.approx(0.1, abs=0.02)
    budget.allow(0)
    clock.now += 1e6
    assert budget.delay > 0


def test_an_idle_request_costs_processor_time_and_a_cached_one_nothing(
    model: LlamaModel, tmp_path: Path
) -> None:
    budget, store = IdleBudget(1000), AnswerStore(tmp_path / "answers.sqlite")
    charged: list[float] = []
    budget.charge = charged.append  # type: ignore[method-assign]
    idle = CachedModel(IdleModel(model, budget), store)
    with pytest.raises(NotCachedError):
        idle.recalling().score("return a + b\n", context="def f(a, b):\n")
    scores = idle.score("return a + b\n", context="def f(a, b):\n")
    assert len(charged) == 1
    assert charged[0] > 0
    again = idle.recalling().score("return a + b\n", context="def f(a, b):\n")
    assert again.logprob.tolist() == scores.logprob.tolist()
    assert len(charged) == 1


def shown_lines(answer: object) -> set[int]:
    return {span.range.start.line for span in answer.spans}  # type: ignore[attr-defined]


async def overlay(client: LanguageClient, uri: str, visible: types.Range | None = None) -> set[int]:
    params = {"textDocument": {"uri": uri}, **({"visible": visible} if visible else {})}
    return shown_lines(await client.protocol.send_request_async("counterlens/overlay", params))


async def test_only_what_is_visible_or_edited_is_read_without_idle_time(
    client: LanguageClient, tmp_path: Path
) -> None:
    configure(client, **UNCERTAINTY, scoring={"idleSecondsPerMinute": 0})
    long = LONG.replace("return", "yield")  # unlike in other tests, whose answers are cached
    uri = open_file(client, tmp_path / "long.py", long)
    await scored(client, uri)
    first = await overlay(client, uri)
    assert 1 in first
    assert max(first) <= 64  # the client has not said what is visible
    at_the_end = types.Range(types.Position(4 * 28, 0), types.Position(4 * 29, 0))
    client.scored.clear()  # type: ignore[attr-defined]
    await overlay(client, uri, at_the_end)
    await scored(client, uri)
    looked = await overlay(client, uri)
    assert 4 * 28 + 1 in looked
    assert 4 * 20 + 1 not in looked
    edit(client, uri, 2, long.replace("a * 20", "a - 20"))
    await scored(client, uri, 2)
    edited = await overlay(client, uri)
    assert 4 * 20 + 1 in edited
    assert {line // 4 for line in edited - looked} <= {20, 21}  # the next header may share a token
    assert 4 * 21 + 1 not in edited
    configure(client, **UNCERTAINTY, scoring={"idleSecondsPerMinute": 6000})
    edit(client, uri, 3, long)
    await until(lambda: (uri, 3) in client.scored)  # type: ignore[attr-defined]
    for _ in range(100):
        if {line // 4 for line in await overlay(client, uri)} == set(range(30)):
            break
        client.scored.clear()  # type: ignore[attr-defined]
        await scored(client, uri, 3)

    # Another session has the same cache: nothing is read again.
    configure(client, **UNCERTAINTY, scoring={"idleSecondsPerMinute": 0})
    copy = open_file(client, tmp_path / "copy.py", long)
    await scored(client, copy)
    assert {line // 4 for line in await overlay(client, copy)} == set(range(30))
