"""Answers in the forms that servers and gateways give them, over real connections.

An answer counts only if the server gave one: a choice with a text, or with an end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Completion, Prompt, Stop
from counterlens.models.remote.client import Retries
from counterlens.models.remote.model import RemoteModel

if TYPE_CHECKING:
    from tests.models.remote.conftest import AnswerStep, Handler, Script, Serve

PROMPT = Prompt("def add(a, b):\n    return", 20, Stop(indent=0))
APIS = ["completions", "chat"]
WORDS = [" a", " +", " b→"]
TEXT = " a + b→"
EVENTS = "text/event-stream"
DONE = b"data: [DONE]\n\n"


def chunk(api: str, text: str | None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    said = {"delta": {"content": text}} if api == "chat" else {"text": text}
    return {"object": "chunk", "choices": [{"index": 0, "finish_reason": finish, **said}], **more}


def whole(api: str) -> dict[str, Any]:
    said = {"message": {"content": fenced(TEXT)}} if api == "chat" else {"text": TEXT}
    return {"choices": [{"index": 0, "finish_reason": "stop", **said}]}


def fenced(text: str) -> str:
    """A text as a chat model writes it."""
    return f"```python\n    return{text}\n```"


def chunks(api: str, finish: str | None = "stop") -> list[dict[str, Any]]:
    """An answer in pieces."""
    words = WORDS if api == "completions" else ["```python\n    return", *WORDS, "\n```"]
    return [*(chunk(api, word) for word in words), *([chunk(api, "", finish)] if finish else [])]


def events(*contents: object, end: bytes = b"\n\n") -> bytes:
    """Contents as events; a text stands for itself."""
    texts = [text if isinstance(text, str) else json.dumps(text, ensure_ascii=False) for text in contents]
    return b"".join(b"data: " + text.encode() + end for text in texts)


def lines(*contents: object) -> bytes:
    return b"".join(json.dumps(content).encode() + b"\n" for content in contents)


def sends(data: bytes, kind: str | None = EVENTS, portion: int = 0) -> AnswerStep:
    """Answer with bytes; `portion`: in portions of that size, each in an HTTP chunk of its own."""

    def answer(handler: Handler) -> None:
        if not portion:
            handler.reply(200, data, kind)
            return
        handler.send_response(200)
        handler.send_header("Content-Type", kind or "")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for at in range(0, len(data), portion):
            part = data[at : at + portion]
            handler.send(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        handler.send(b"0\r\n\r\n")

    return answer


def ask(script: Script, api: str, prompt: Prompt = PROMPT) -> Completion:
    retries = Retries(count=1, first=0.01)
    with RemoteModel(script.url, "m", api, retries=retries) as model:
        return model.complete([prompt])[0]


def failure(script: Script, api: str) -> str:
    with pytest.raises(ModelError) as caught:
        ask(script, api)
    return caught.value.message


FILTERED = {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
OFFSETS = {"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"end": 9}}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}}

ADDITIONS: dict[str, tuple[object, ...]] = {
    "a filter's results": (FILTERED,),
    "choices that are null": ({**FILTERED, "choices": None},),
    "a choice with a filter's results only": (OFFSETS,),
    "a filter's results with a null text": ({**OFFSETS, **chunk("chat", None)},),
    "an object without choices": ({"id": "1"},),
    "usage": (USAGE,),
    "usage without choices": ({"usage": {"completion_tokens": 9}},),
    "a wrapped comment": (": keepalive", ":", ": OPENROUTER PROCESSING"),
    "empty data": ("", " "),
    "a ping as a text": ("ping",),
    "a ping as an object": ({"type": "ping"},),
    "a marker": ("[PING]",),
    "null": ("null",),
    "a list": ("[]",),
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("addition", ADDITIONS.values(), ids=ADDITIONS)
def test_what_is_no_part_of_an_answer_is_skipped(
    serve: Serve, api: str, addition: tuple[object, ...]
) -> None:
    first, *rest = chunks(api)
    for contents in (
        (*addition, first, *rest, "[DONE]"),
        (first, *addition, *rest, "[DONE]"),
        (first, *rest, *addition, "[DONE]"),
        (first, *rest, *addition),
    ):
        assert ask(serve(sends(events(*contents))), api).text.rstrip() == TEXT


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "between",
    [
        b": ping\n\n",
        b"event: ping\ndata: 2026-01-01\n\n",
        b'event: ping\ndata: {"type": "ping"}\n\n',
        b"event: keepalive\ndata\n\n",
        b"id: 1\nretry: 1000\n\n",
        b"x-trace: 1\n\n",
    ],
)
def test_events_that_keep_a_connection_alive_are_skipped(serve: Serve, api: str, between: bytes) -> None:
    data = between.join(events(content) for content in [*chunks(api, finish=None), "[DONE]"])
    finished = between.join(events(content) for content in [*chunks(api), "[DONE]"])
    assert ask(serve(sends(between + finished + between)), api).text.rstrip() == TEXT
    if b"x-trace" not in between:  # a text that is not known to be harmless needs an explicit end
        assert ask(serve(sends(between + data)), api).text.rstrip() == TEXT


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", [EVENTS, "text/plain; charset=utf-8", "application/json", "", None])
def test_the_content_type_decides_nothing(serve: Serve, api: str, kind: str | None) -> None:
    bodies = [events(*chunks(api)) + DONE, lines(*chunks(api)), json.dumps(chunks(api)).encode()]
    answer = whole(api)
    bodies += [
        json.dumps(answer, indent=indent).encode() + end for indent in (None, 2) for end in (b"", b"\n")
    ]
    bodies += [json.dumps(answer).encode() + b"\n\n" + DONE, events(answer), events(answer) + DONE]
    for body in bodies:
        assert ask(serve(sends(body, kind)), api).text.rstrip() == TEXT


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/jsonl"])
@pytest.mark.parametrize("api", APIS)
def test_an_object_per_line_is_a_stream(serve: Serve, api: str, kind: str) -> None:
    assert ask(serve(sends(lines(*chunks(api)), kind)), api).text.rstrip() == TEXT
    script = serve(sends(lines(chunk(api, " a")), kind), sends(lines(*chunks(api)), kind))
    assert ask(script, api).text.rstrip() == TEXT
    assert len(script.requests) == 2  # the first was cut off


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("portion", [1, 7])
def test_lines_and_characters_may_be_split_anywhere(serve: Serve, api: str, portion: int) -> None:
    pretty = [json.dumps(content, indent=1, ensure_ascii=False) for content in chunks(api)]
    fields = [text.replace("\n", "\ndata: ") for text in pretty]
    for data in (
        b"\xef\xbb\xbf" + events(*chunks(api)) + DONE,
        (events(*chunks(api)) + DONE).replace(b"\n", b"\r\n"),
        (events(*chunks(api)) + DONE).replace(b"\n", b"\r"),
        events(*fields) + DONE,
        events(*pretty) + DONE,
        events(*chunks(api), "[DONE]", end=b"\n"),
        events(*(f"data: {json.dumps(content)}" for content in chunks(api)), "data: [DONE]"),
    ):
        assert ask(serve(sends(data, portion=portion)), api).text.rstrip() == TEXT


TRUE_THOUGHTS: list[object] = [
    [{"type": "thinking", "thinking": [{"type": "text", "text": "the sum"}]}],
    [{"type": "thinking", "thinking": "the sum"}],
    [{"type": "reasoning", "text": "the sum"}],
    [{"type": "reasoning", "summary": [], "reasoning": "the sum"}],
    {"type": "thought", "text": {"value": "the sum"}},
]


@pytest.mark.parametrize("thought", TRUE_THOUGHTS)
@pytest.mark.parametrize("kind", ["text", "output_text", None])
def test_content_may_be_a_list_of_parts(serve: Serve, thought: object, kind: str | None) -> None:
    said = [{"type": kind, "text": fenced(TEXT)} if kind else {"text": fenced(TEXT)}]
    reference = {"type": "reference", "reference_ids": [1]}
    several = [*(thought if isinstance(thought, list) else [thought]), *said, reference]
    stop = chunk("chat", "", "stop")
    for data in (
        events(
            {"choices": [{"delta": {"content": thought}}]}, {"choices": [{"delta": {"content": said}}]}, stop
        ),
        events({"choices": [{"delta": {"content": several}}]}, stop),
        events({"choices": [{"delta": {"reasoning_content": thought, "content": said}}]}, stop),
        json.dumps({"choices": [{"message": {"content": several}, "finish_reason": "stop"}]}).encode(),
    ):
        completion = ask(serve(sends(data + DONE)), "chat")
        assert completion.text.rstrip() == TEXT
        assert completion.thought


def test_a_text_beside_the_addition_is_not_read_twice(serve: Serve) -> None:
    grown = ""
    contents = []
    for word in ["```python\n    return", *WORDS, "\n```"]:
        grown += word
        choice = {"delta": {"content": word}, "message": {"content": grown}}
        contents.append({"choices": [choice]})
    contents.append({"choices": [{"delta": {}, "message": {"content": grown}, "finish_reason": "stop"}]})
    assert ask(serve(sends(events(*contents))), "chat").text.rstrip() == TEXT


@pytest.mark.parametrize("api", APIS)
def test_either_api_may_answer_in_the_words_of_the_other(serve: Serve, api: str) -> None:
    said = {"text": fenced(TEXT)} if api == "chat" else {"message": {"content": TEXT}}
    body = {"choices": [{**said, "finish_reason": "stop"}]}
    assert ask(serve(sends(json.dumps(body).encode(), "application/json")), api).text.rstrip() == TEXT


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("data", "came"),
    [
        (DONE, "[DONE]"),
        (b"[DONE]", "[DONE]"),
        (events(FILTERED) + DONE, "prompt_filter_results"),
        (events(USAGE) + DONE, "completion_tokens"),
        (events(OFFSETS) + DONE, "content_filter_offsets"),
        (events({"type": "response.output_text.delta", "delta": "x"}) + DONE, "response.output_text.delta"),
        (events({"choices": [{"delta": {"role": "assistant"}}]}) + DONE, "assistant"),
        (events("model overloaded") + DONE, "model overloaded"),
        (events(chunk("chat", "")) + DONE, "choices"),
    ],
)
def test_a_stream_without_an_answer_is_an_error_that_says_what_came(
    serve: Serve, api: str, data: bytes, came: str
) -> None:
    script = serve(sends(data))
    message = failure(script, api)
    assert "without a completion" in message
    assert came in message
    assert [body["stream"] for _, body, _ in script.requests] == [True, False]
    again = serve(sends(data), sends(json.dumps(whole(api)).encode(), "application/json"))
    assert ask(again, api).text.rstrip() == TEXT


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {"choices": [{}]},
        {"choices": [{"text": "", "finish_reason": None}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": "x"}]},
        {"choices": [{"text": 3, "finish_reason": "stop"}]},
        {"choices": {"text": "x"}},
        {"detail": "no capacity"},
    ],
)
def test_a_body_without_an_answer_is_an_error(serve: Serve, api: str, body: dict[str, Any]) -> None:
    script = serve(sends(json.dumps(body).encode(), "application/json"))
    message = failure(script, api)
    assert "without a completion" in message
    assert next(iter(body)) in message
    assert len(script.requests) == 1


@pytest.mark.parametrize("api", APIS)
def test_an_end_without_a_text_is_an_answer(serve: Serve, api: str) -> None:
    for data in (events(chunk(api, "", "stop")), events(chunk(api, None, "stop"), USAGE) + DONE):
        assert ask(serve(sends(data)), api).text == ""
    empty = {"message": {"content": None}} if api == "chat" else {"text": ""}
    body = json.dumps({"choices": [{**empty, "finish_reason": "stop"}]}).encode()
    assert ask(serve(sends(body, "application/json")), api).text == ""


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "end",
    [
        b"",
        b'data: {"choices": [{"te',
        b"data: upstream connect error\n\n" + DONE,
        b"upstream connect error\n\n" + DONE,
        events({"message": "no capacity"}) + DONE,
        events({"choices": [{"index": 0, "finish_reason": "error"}]}) + DONE,
        events({"choices": [{"index": 0, "finish_reason": "abort"}]}) + DONE,
        events({"choices": [], "error": {"type": "server_error", "message": "oops"}}),
        events({"choices": [{"error": {"code": 502, "message": "oops"}}]}) + DONE,
        events({"object": "error", "message": "oops", "code": 503}) + DONE,
        events({"type": "error", "error": {"type": "overloaded_error", "message": "oops"}}),
        events([{"error": {"code": 500, "message": "oops"}}]),
        events({"error": True, "code": 500, "message": "oops"}),
        b'event: error\ndata: {"code": 500, "message": "oops"}\n\n',
    ],
)
def test_an_answer_that_breaks_off_is_asked_for_again_and_never_counts(
    serve: Serve, api: str, end: bytes
) -> None:
    broken = sends(events(*chunks(api, finish=None)[:2]) + end)
    script = serve(broken, sends(events(*chunks(api)) + DONE))
    assert ask(script, api).text.rstrip() == TEXT
    assert len(script.requests) == 2
    message = failure(serve(broken), api)
    told = [
        word for word in ("upstream connect error", "no capacity", "oops", "abort") if word.encode() in end
    ]
    assert all(word in message for word in told)
    assert "asked 2 times" in message


@pytest.mark.parametrize("api", APIS)
def test_an_error_that_no_other_attempt_mends_is_told_at_once(serve: Serve, api: str) -> None:
    script = serve(sends(events(chunk(api, " a"), {"error": {"message": "bad luck", "code": "x"}}) + DONE))
    assert "bad luck" in failure(script, api)
    assert len(script.requests) == 1


@pytest.mark.parametrize("api", APIS)
def test_a_connection_that_breaks_after_the_end_does_no_harm(serve: Serve, api: str) -> None:
    def resets(handler: Handler) -> None:
        handler.start_stream()
        handler.send(events(*chunks(api)))
        handler.reset()

    script = serve(resets)
    assert ask(script, api).text.rstrip() == TEXT
    assert len(script.requests) == 1


@pytest.mark.parametrize("api", APIS)
def test_bytes_that_are_not_utf8_are_no_answer(serve: Serve, api: str) -> None:
    data = events(*chunks(api)) + DONE
    assert " b→".encode() in data
    script = serve(sends(data.replace("→".encode(), b"\xff")))
    assert "with text that is not UTF-8" in failure(script, api)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("index", [-1, "first", 1.5])
def test_a_choice_with_a_wrong_index_is_no_answer(serve: Serve, api: str, index: object) -> None:
    answer = whole(api)
    answer["choices"][0]["index"] = index
    script = serve(sends(json.dumps(answer).encode(), "application/json"))
    assert "without a completion" in failure(script, api)
