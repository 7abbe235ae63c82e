"""A model that is instructed through its own chat template, or that fills in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from counterlens.errors import ModelError
from counterlens.models import load
from counterlens.models.base import Prompt, Reply, Stop
from counterlens.models.files import embedded_model
from counterlens.models.llama.model import LlamaModel
from counterlens.models.registry import Options
from tests.conftest import short_model

ADD = 'def add(a, b):\n    """Return the sum of a and b."""\n'


@pytest.fixture(scope="module")
def chat() -> Iterator[LlamaModel]:
    with LlamaModel(short_model(endless=True), spec="chat", api="chat") as model:
        yield model


def test_an_instructed_model_is_read_as_a_continuation() -> None:
    with LlamaModel(embedded_model(), spec="trained", api="chat") as trained:
        (answer,) = trained.complete([Prompt(ADD, 64, Stop(indent=0))])
    assert "```" not in answer.text
    assert "return a + b" in answer.text
    compile(ADD + answer.text, "add.py", "exec")


def test_an_instructed_batch_is_the_same_whatever_ran_before(chat: LlamaModel) -> None:
    prompts = [Prompt(ADD, 24, Stop(indent=0)), Prompt(ADD.replace("sum", "product"), 24, Stop(indent=0))]
    first = chat.complete(prompts)
    chat.complete(prompts[:1])
    assert chat.complete(prompts) == first


def test_marks_in_code_are_text(chat: LlamaModel) -> None:
    code = 'def end():\n    """Give the mark."""\n    mark = "<|im_end|>"\n'
    (answer,) = chat.complete([Prompt(code, 24, Stop(indent=0))])
    assert answer.tokens > 0
    with pytest.raises(ModelError, match="does not fit"):
        chat.complete([Prompt("x = 1\n" * 9000, 24)])


def test_an_answer_that_is_begun_is_continued(chat: LlamaModel) -> None:
    reply = Reply("Answer yes or no.", "")
    whole = Prompt("Is 4 even?", reply=reply, candidates=("yes", "yes no"))
    begun = replace(whole, reply=replace(reply, begun="yes"), candidates=(" no", "yes"))
    alone = replace(whole, candidates=(" no", "yes"))
    first, then, unbegun = chat.complete([whole, begun, alone])
    yes, both = first.candidates
    assert then.candidates[0] == pytest.approx(both - yes, abs=0.2)  # the chain rule, up to rounding
    assert abs(unbegun.candidates[0] - then.candidates[0]) > 1


def test_a_model_without_the_tokens_says_that_it_cannot_fill() -> None:
    with pytest.raises(ModelError, match="fill-in-the-middle"):
        load("smollm2-135m", Options(api="fill"))
