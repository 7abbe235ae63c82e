"""Reasoning models over real connections: what they think is set apart, counted, and limited by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from counterlens.models.base import Completion, Prompt, Reply, Stop
from counterlens.models.remote.model import RemoteModel
from counterlens.models.remote.thinking import Parts, parts

if TYPE_CHECKING:
    from tests.models.remote.conftest import AnswerStep, Handler, Serve

PROMPT = Prompt("def f(x):\n", 20, Stop(indent=0))
QUESTION = Prompt("What is 1 + 1?", 20, reply=Reply("Answer.", "", ""))
CODE = "```python\n    return x\n```"
DECOY = "Perhaps\n```python\n    return None\n```\nor rather not."


def message(finish: str = "stop", usage: dict[str, Any] | None = None, **fields: object) -> AnswerStep:
    """A reply in one piece."""
    body = {"choices": [{"message": {"role": "assistant", **fields}, "finish_reason": finish}]}
    return lambda handler: handler.reply(200, body if usage is None else {**body, "usage": usage})


def deltas(*fields: dict[str, str], finish: str | None = "stop", waits: bool = False) -> AnswerStep:
    """A reply in pieces; `waits`: the server then has more to say, and waits for the client to leave."""

    def answer(handler: Handler) -> None:
        handler.start_stream()
        for delta in fields:
            handler.send(b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n")
        if waits:
            handler.wait_until_left()
        last = {"choices": [{"delta": {}, "finish_reason": finish}]}
        handler.send(b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n")

    return answer


def ask(serve: Serve, answer: AnswerStep, prompt: Prompt = PROMPT, **options: Any) -> Completion:
    with RemoteModel(serve(answer).url, "m", "chat", **options) as model:
        return model.complete([prompt])[0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<think>a</think>\nb", Parts("a", "b", False)),
        ("  <thinking>a</thinking>b", Parts("a", "b", False)),
        ("<think>a", Parts("a", "", True)),
        ("a</think>b", Parts("a", "b", False)),
        ("<thi", Parts("", "<thi", True)),
        ("<", Parts("", "<", True)),
        ("<p>", Parts("", "<p>", False)),
        ("b <think>", Parts("", "b <think>", False)),
        ("", Parts("", "", False)),
    ],
)
def test_marks_are_told_apart_from_the_answer(written: str, expected: Parts) -> None:
    assert parts(written) == expected


@pytest.mark.parametrize(
    "answer",
    [
        message(content=CODE, reasoning_content=DECOY),
        message(content=CODE, reasoning=DECOY),
        message(content=f"<think>{DECOY}</think>\n\n{CODE}"),
        message(content=f"{DECOY}</think>\n\n{CODE}"),
        deltas({"reasoning_content": "Perhaps"}, {"reasoning_content": " x"}, {"content": CODE}),
        deltas({"reasoning": "Perhaps x", "content": ""}, {"content": CODE}),
        deltas(
            {"content": "<th"},
            {"content": "ink>"},
            {"content": DECOY},
            {"content": "</think>"},
            {"content": CODE},
        ),
        deltas({"content": DECOY}, {"content": "\n</thi"}, {"content": "nk>\n"}, {"content": CODE}),
    ],
    ids=["field", "short field", "marked", "closed", "fields", "short fields", "marks", "closing mark"],
)
def test_reasoning_is_cut_from_code_and_counted(serve: Serve, answer: AnswerStep) -> None:
    found = ask(serve, answer, thinking_tokens=100)
    assert (found.text, found.finish) == ("    return x\n", "stop")
    assert 0 < found.thought < found.tokens


def test_an_answer_to_a_question_has_no_reasoning_in_it(serve: Serve) -> None:
    found = ask(serve, message(content="<think>1 + 1 = 2</think>2"), QUESTION)
    assert found.text == "2"
    assert found.thought


def test_hidden_reasoning_is_counted_as_the_server_says(serve: Serve) -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 70,
        "completion_tokens_details": {"reasoning_tokens": 64},
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    script = serve(message(content=CODE, usage=usage))
    with RemoteModel(script.url, "m", "chat") as model:
        (found,) = model.complete([PROMPT])
        spent = model.usage
    assert (found.tokens, found.thought) == (70, 64)
    assert (spent.requests, spent.read, spent.cached, spent.written, spent.thought, spent.estimated) == (
        *(1, 9, 4, 70, 64),
        0,
    )


@pytest.mark.parametrize(
    "answer",
    [
        message("length", content="", reasoning_content=DECOY),
        message("length", content=f"<think>{DECOY}"),
        deltas({"reasoning_content": "Well"}, finish="length"),
        deltas({"content": "<think>"}, {"content": DECOY}, finish="length"),
        deltas({"content": "<think>"}, {"content": DECOY}),  # some servers call that the end
        message("stop", content="", reasoning_content=CODE),  # or take the answer for reasoning
        message("stop", content=None, reasoning=CODE),
        message("stop", content="\n\n", reasoning_content=CODE),
        message("stop", content=[{"type": "thinking", "thinking": CODE}]),
        deltas({"reasoning_content": CODE}, {"content": ""}, finish="stop"),
        message("stop", content="", usage={"completion_tokens_details": {"reasoning_tokens": 64}}),
    ],
)
def test_a_model_that_only_thinks_is_truncated_and_not_wrong(serve: Serve, answer: AnswerStep) -> None:
    found = ask(serve, answer)
    assert (found.text, found.finish, found.unanswered) == ("", "length", True)
    assert found.thought


def test_reasoning_has_a_room_of_its_own(serve: Serve) -> None:
    thoughts = [{"reasoning_content": "hm "}] * 41
    script = serve(deltas(*thoughts, waits=True), deltas(*thoughts[:40], {"content": CODE}))
    with RemoteModel(script.url, "m", "chat", thinking_tokens=40) as model:
        first, second = model.complete([PROMPT])[0], model.complete([PROMPT])[0]
        identity = model.info.identity
    assert (first.text, first.finish, first.thought) == ("", "length", 41)
    assert script.left.wait(120)
    assert (second.text, second.finish, second.thought) == ("    return x\n", "stop", 40)
    limits = [body["max_tokens"] for _, body, _ in script.requests]
    with RemoteModel(script.url, "m", "chat") as plain:
        assert plain.info.identity != identity
        plain.complete([PROMPT])
    assert limits == [script.requests[-1][1]["max_tokens"] + 40] * 2


def test_an_answer_does_not_use_the_room_of_the_reasoning(serve: Serve) -> None:
    words = [{"content": f"word{i} "} for i in range(200)]
    found = ask(serve, deltas({"reasoning": "hm"}, *words, waits=True), QUESTION, thinking_tokens=1000)
    assert found.finish == "length"
    assert found.text.split()[:2] == ["word0", "word1"]
    assert len(found.text.split()) == 21  # the limit, and the piece that showed it was passed
