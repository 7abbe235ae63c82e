"""Requests of many callers share the calls of one model, and none waits for another one."""

from __future__ import annotations

import pytest

from counterlens.errors import Cancelled
from counterlens.models.base import Api, Prompt
from counterlens.models.llama.completing import LlamaCompleter, Request
from counterlens.models.llama.decoding import SharedCalls
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.local.encoded_prompt import Constraint
from tests.conftest import short_model


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(short_model(), threads=1, context=4096)


@pytest.fixture
def completer(engine: Engine) -> LlamaCompleter:
    parts = PromptEncoder(engine, Api.COMPLETIONS), engine, Constraint(engine.pieces)
    return LlamaCompleter(*parts, SharedCalls(32, free=True))


def submitted(completer: LlamaCompleter, *prompts: Prompt) -> Request:
    return completer.submit(prompts, lambda *_: None)


def test_a_short_prompt_behind_ten_long_ones_starts_within_two_steps(completer: LlamaCompleter) -> None:
    long = [Prompt(f"x{i} = {i}\n" * 400, 64) for i in range(10)]
    behind = [submitted(completer, prompt) for prompt in long]
    completer.advance()
    short = submitted(completer, Prompt("a = b", 8))
    completer.advance()
    completer.advance()
    assert short.distinct[0].count >= 1
    assert not any(request.is_done for request in behind)
    for request in (*behind, short):
        completer.withdraw(request, Cancelled())


def test_a_long_prompt_is_not_passed_over_for_ever(completer: LlamaCompleter) -> None:
    long = submitted(completer, Prompt("total = total + price\n" * 60, 2))
    for i in range(400):
        submitted(completer, Prompt(f"y{i} = ", 1))
        completer.advance()
        if long.is_done:
            break
    assert long.is_done


def test_prompts_that_arrive_one_after_the_other_fill_the_rows(completer: LlamaCompleter) -> None:
    requests = []
    for i in range(64):
        requests.append(submitted(completer, Prompt(f"def f{i}(a, b):\n    return", 24)))
        completer.advance()
    before = completer.tally.rows, completer.tally.steps
    while any(not request.is_done for request in requests[:48]):
        completer.advance()
    rows, steps = completer.tally.rows - before[0], completer.tally.steps - before[1]
    assert rows / steps >= 16
    while not all(request.is_done for request in requests):
        completer.advance()
    alone = [completer.complete(request.prompts, lambda *_: None) for request in requests[::9]]
    assert [request.result() for request in requests[::9]] == alone


def test_prompts_that_begin_alike_are_read_once(completer: LlamaCompleter, engine: Engine) -> None:
    decoded = 0
    run = engine.run

    def counted(context: object, batch: object) -> None:
        nonlocal decoded
        decoded += batch.n_tokens  # type: ignore[attr-defined]
        run(context, batch)

    engine.run = counted  # type: ignore[method-assign]
    try:
        head = "def mean(values):\n    total = 0\n" * 30
        length = len(engine.tokenize(head.encode()))
        completer.complete([Prompt(f"{head}    v{i} = ", 1) for i in range(12)], lambda *_: None)
    finally:
        engine.run = run  # type: ignore[method-assign]
    assert decoded < length + 12 * 24
