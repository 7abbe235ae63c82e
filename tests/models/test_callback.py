"""A chat model behind a function: it is instructed in messages, and its reply is read as code."""

from __future__ import annotations

from threading import Event

import pytest

from counterlens.errors import Cancelled
from counterlens.models.base import Api, Capability, Prompt, Reply, Stop
from counterlens.models.callback import CallbackModel, ChatRequest
from counterlens.models.chat.turn import INSTRUCTION


class Chat:
    """Gives one reply to all that it is asked, and keeps that."""

    def __init__(self, reply: str) -> None:
        self.reply, self.asked = reply, list[ChatRequest]()

    def __call__(self, request: ChatRequest, _cancel: Event) -> str:
        self.asked.append(request)
        return self.reply

    @property
    def model(self) -> CallbackModel:
        return CallbackModel("editor:m", "m", "the editor", self)


def test_it_is_a_chat_model_that_completes() -> None:
    info = Chat("").model.info
    assert info.api is Api.CHAT
    assert info.capabilities == {Capability.COMPLETE}


def test_code_is_read_out_of_the_reply() -> None:
    chat, seen = Chat("```python\n    return a + b\nprint(1)\n```"), list[tuple[int, int]]()
    prompts = [Prompt("def add(a, b):\n", 20, Stop(indent=0)), Prompt("x", 5)]
    first, _ = chat.model.complete(prompts, progress=lambda *step: seen.append(step))
    assert first.text == "    return a + b\n"
    assert seen == [(1, 2), (2, 2)]
    assert chat.asked[0].messages == (("system", INSTRUCTION), ("user", "```\ndef add(a, b):\n```"))
    assert chat.asked[0].max_tokens > 20  # room for the marks of the block


def test_a_question_is_asked_as_it_stands() -> None:
    chat = Chat("<think>hm</think>yes")
    (answer,) = chat.model.complete([Prompt("Is it?", 4, reply=Reply("Answer yes or no.", ""))])
    assert answer.text == "yes"
    assert chat.asked == [ChatRequest((("system", "Answer yes or no."), ("user", "Is it?")), 4)]


def test_worked_examples_are_earlier_turns() -> None:
    chat = Chat("4")
    turns = (("1 + 1?", "2"), ("1 + 2?", "3"))
    chat.model.complete([Prompt("2 + 2?", 4, reply=Reply("Add.", "", turns=turns))])
    roles = ("system", "user", "assistant", "user", "assistant", "user")
    texts = ("Add.", "1 + 1?", "2", "1 + 2?", "3", "2 + 2?")
    assert chat.asked == [ChatRequest(tuple(zip(roles, texts, strict=True)), 4)]


def test_what_is_cancelled_is_not_asked() -> None:
    chat, cancel = Chat(""), Event()
    cancel.set()
    with pytest.raises(Cancelled):
        chat.model.complete([Prompt("x")], cancel=cancel)
    assert chat.asked == []
