"""Requests of many callers share the calls of one model, and none waits for another one."""

from __future__ import annotations

import pytest

from counterlens.errors import Cancelled
from counterlens.models.base import Api, Draw, Prompt
from counterlens.models.llama import completing
from counterlens.models.llama.completing import LlamaCompleter, Request
from counterlens.models.llama.decoding import SharedCalls
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.local.encoded_prompt import Constraint
from tests.conftest import short_model


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(short_model(endless=True), threads=1, context=4096)


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
    assert completer.work.rows / completer.work.steps >= 16
    while not all(request.is_done for request in requests):
        completer.advance()
    alone = [completer.complete(request.prompts, lambda *_: None) for request in requests[::9]]
    assert [request.result() for request in requests[::9]] == alone


def test_prompts_that_begin_alike_are_read_once(completer: LlamaCompleter, engine: Engine) -> None:
    head = "def mean(values):\n    total = 0\n" * 30
    length = len(engine.tokenize(head.encode()))
    completer.complete([Prompt(f"{head}    v{i} = ", 1) for i in range(12)], lambda *_: None)
    assert completer.work.read < length + 12 * 24


def test_a_question_is_read_once_for_all_of_its_candidates_and_samples(completer: LlamaCompleter) -> None:
    """Numbers end in a line break, so each is a sequence of its own, behind the same tokens."""
    text = "def mean(values):\n    total = 0\n" * 8 + "The next line is line"
    closed = Prompt(text, candidates=tuple(f" {number}\n" for number in range(14)))
    draws = [Prompt(text, 4, draw=Draw(0.8, 1, sample)) for sample in range(4)]
    alone = completer.complete([closed], lambda *_: None)
    length = len(completer.begin([closed])[0].encoded.tokens)
    assert completer.work.read == length
    drawn = completer.complete(draws, lambda *_: None)
    again = completer.complete([closed, *draws], lambda *_: None)
    assert completer.work.read <= length + 8
    assert again == alone + drawn


def test_what_was_read_is_kept_when_room_for_more_sequences_is_opened(completer: LlamaCompleter) -> None:
    head = "def mean(values):\n    total = 0\n" * 12
    prompts = [Prompt(f"{head}    v{i} = ", 6) for i in range(20)]
    alone = [completer.complete([prompt], lambda *_: None)[0] for prompt in prompts[:2]]
    first = submitted(completer, Prompt(f"{head}    first = ", 6))
    completer.advance()
    read = completer.work.read
    others = submitted(completer, *prompts)
    while not (first.is_done and others.is_done):
        completer.advance()
    assert completer.work.read < read + 18 * 16
    assert others.result()[:2] == alone
    assert first.result() == completer.complete(first.prompts, lambda *_: None)


def test_a_prompt_waits_for_another_one_that_reads_what_it_begins_with(completer: LlamaCompleter) -> None:
    head = "def mean(values):\n    total = 0\n" * 30
    first = submitted(completer, *[Prompt(f"{head}    v{i} = ", 1) for i in range(2)])
    others = [submitted(completer, Prompt(f"# {i}\n{i} + {i} == ", 1)) for i in range(40)]
    while not all(request.is_done for request in (first, *others)):
        completer.advance()
    lengths = [len(growing.encoded.tokens) for request in (first, *others) for growing in request.distinct]
    assert completer.work.read <= sum(lengths) - lengths[0] + 24


def test_a_prompt_is_kept_while_candidates_of_others_come_and_go(completer: LlamaCompleter) -> None:
    """Eight slots; what other slots hold, too, is replaced first, then what was unused the longest."""
    kept = Prompt("class Stack:\n    def push(self, entry):\n" * 6, 2)
    completer.complete([kept], lambda *_: None)
    for i in range(4):
        question = Prompt(f"# {i}\n" * 20 + "The next line is line", candidates=(" 1\n", " 2\n", " 3\n"))
        completer.complete([question], lambda *_: None)
    read = completer.work.read
    completer.complete([kept], lambda *_: None)
    assert completer.work.read == read


def test_no_prompt_waits_for_one_that_was_withdrawn(completer: LlamaCompleter) -> None:
    head = "def mean(values):\n    total = 0\n" * 60
    first = submitted(completer, Prompt(f"{head}    a = ", 1))
    completer.advance()
    second = submitted(completer, Prompt(f"{head}    b = ", 1))
    completer.withdraw(first, Cancelled())
    for _ in range(40):
        completer.advance()
    assert second.is_done


def test_the_room_of_all_sequences_is_bounded(
    completer: LlamaCompleter, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each further length gets what is left, or a quarter."""
    room = 40 * 1024
    monkeypatch.setattr(completing, "_memory", lambda: room * engine.cache_bytes)
    lengths = (100, 1500, 3000)
    requests = [submitted(completer, Prompt(f"x{i} = ", each)) for each in lengths for i in range(12)]
    for _ in range(20):
        completer.advance()
    assert all(any(growing.count for growing in request.distinct) for request in requests[::12])
    for i in range(24):
        requests.append(submitted(completer, Prompt(f"y{i} = ", 100)))
        completer.advance()
    assert completer.room <= room + (len(lengths) - 1) * room // 4
    for request in requests:
        completer.withdraw(request, Cancelled())
