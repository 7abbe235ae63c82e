"""Completions at temperature 0, with token healing and a stop rule."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Prompt, Reply, Stop
from counterlens.models.files import embedded_model
from counterlens.models.llama.model import LlamaModel
from counterlens.models.local.encoded_prompt import Constraint
from counterlens.models.stopping import repeats_itself

ADD = 'def add(a, b):\n    """Return the sum of a and b."""\n'


def test_a_function_is_completed_until_its_own_end(embedded: LlamaModel) -> None:
    (answer,) = embedded.complete([Prompt(ADD, 64, Stop(indent=0))])
    assert answer.text == "    return a + b\n"
    assert answer.finish == "stop"


@pytest.mark.parametrize(
    "end", ["\n", "\n    ", "\n    ret", "\n    return", "\n    return a +", "\n    return "]
)
def test_a_prompt_may_end_anywhere(embedded: LlamaModel, end: str) -> None:
    prompt = ADD.rstrip("\n") + end
    (answer,) = embedded.complete([Prompt(prompt, 32, Stop(indent=0))])
    assert (prompt + answer.text).startswith(ADD + "    return a + b")


def test_the_token_limit_is_kept_and_said(model: LlamaModel) -> None:
    (answer,) = model.complete([Prompt("numbers = [1, 2, 3,", 5)])
    assert answer.finish == "length"
    assert answer.tokens == 5


def test_equal_prompts_get_equal_answers(model: LlamaModel) -> None:
    prompts = [Prompt(ADD, 24), Prompt("x = ", 24), Prompt(ADD, 24)]
    first = model.complete(prompts)
    assert first[0] == first[2]
    assert model.complete(prompts) == first


def test_a_prompt_longer_than_the_context_loses_its_oldest_tokens() -> None:
    with LlamaModel(embedded_model(), spec="small", context=256) as small:
        (answer,) = small.complete([Prompt("x = 1\n" * 200 + ADD, 16, Stop(indent=0))])
    assert answer.dropped > 0
    assert "return" in answer.text


def test_what_cannot_be_completed_is_refused(model: LlamaModel) -> None:
    with pytest.raises(ModelError, match="empty prompt"):
        model.complete([Prompt("", 8)])
    with pytest.raises(ModelError, match="do not fit"):
        model.complete([Prompt("x", 100_000)])


def test_a_completion_ends_soon_after_it_is_cancelled(model: LlamaModel) -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(Cancelled):
        model.complete([Prompt("numbers = [1, 2, 3,", 4000)], cancel=cancel)


PIECES = st.lists(st.binary(max_size=4), unique=True, max_size=40)


@given(PIECES, st.binary(min_size=1, max_size=6))
def test_the_constraint_allows_exactly_what_can_spell_the_bytes(pieces: list[bytes], required: bytes) -> None:
    allowed = set(Constraint(pieces).allowed(required).tolist())
    expected = {
        i
        for i, piece in enumerate(pieces)
        if piece and (piece.startswith(required) or required.startswith(piece))
    }
    assert allowed == expected


def test_an_answer_that_only_repeats_itself_ends_before_the_limit(model: LlamaModel) -> None:
    """A question whose answer loops would otherwise cost the whole limit: minutes with a code model."""
    text = "1. n is 1; n is 1; n is 1; n is 1; n is 1; n is 1;"
    question = Prompt(text, 1500, reply=Reply("", ""))
    (answer,) = model.complete([question])
    assert repeats_itself(answer.text, 1000)
    assert (answer.finish, answer.tokens < 1500) == ("length", True)
    (longer,) = model.complete([replace(question, max_tokens=answer.tokens + 8)])
    assert longer == answer
