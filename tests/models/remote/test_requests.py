"""Requests, and how answers of all kinds are read, retried and given up, over real connections."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Completion, Draw, Prompt, Reply, Stop
from counterlens.models.remote.client import Retries, Timeouts
from counterlens.models.remote.model import RemoteModel

if TYPE_CHECKING:
    from tests.models.remote.conftest import AnswerStep, Handler, Script, Serve

FAST = Retries(count=3, first=0.02, longest=3.0)
SOON = 120.0  # seconds, on however busy a machine; what has to be ended here would go on for 200 and more
PROMPT = Prompt("def f(x):\n", 50, Stop(indent=0))


def whole(text: str, finish: str = "stop", **more: object) -> AnswerStep:
    body = {"object": "text_completion", "choices": [{"text": text, "finish_reason": finish}], **more}
    return lambda handler: handler.reply(200, body)


def error(status: int, message: str = "", code: str = "", param: str = "", **headers: str) -> AnswerStep:
    body = {"error": {"message": message, "code": code, "param": param}}
    return lambda handler: handler.reply(status, body, **headers)


def chunk(text: str, finish: str | None = None) -> bytes:
    body = {"object": "text_completion", "choices": [{"text": text, "finish_reason": finish}]}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def stream(*portions: bytes, pause: float = 0.0) -> AnswerStep:
    def answer(handler: Handler) -> None:
        handler.start_stream()
        for portion in portions:
            handler.send(portion)
            time.sleep(pause)

    return answer


def ask(script: Script, prompt: Prompt = PROMPT, **options: Any) -> Completion:
    options.setdefault("retries", FAST)
    with RemoteModel(script.url, "m", **options) as model:
        return model.complete([prompt])[0]


def failure(script: Script, prompt: Prompt = PROMPT, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(script, prompt, **options)
    assert caught.value.message[-1] != "."
    return caught.value


# What is asked


def test_a_draw_is_asked_for_with_its_temperature_and_a_seed_of_its_own(serve: Serve) -> None:
    script = serve(whole("\n    return x\n"), whole("\n    return 2\n"), whole("\n    return x\n"))
    texts = [ask(script, replace(PROMPT, draw=Draw(0.6, 1, i))).text for i in (0, 1, 0)]
    assert texts[0] != texts[1]
    sent = [body for _, body, _ in script.requests]
    assert {body["temperature"] for body in sent} == {0.6}
    assert sent[0]["seed"] == sent[2]["seed"] != sent[1]["seed"]
    assert all(0 <= body["seed"] < 2**31 for body in sent)


def test_the_request_ends_at_a_token_boundary_and_is_deterministic(serve: Serve) -> None:
    script = serve(whole("\n    return x\n"))
    prompt = Prompt("def f(x):\n", 50, Stop(0, ("print", "\nq", "a", "b", "c", "d")))
    assert ask(script, prompt).text == "    return x\n"
    [(path, body, headers)] = script.requests
    assert path == "/v1/completions"
    assert body == {
        "model": "m",
        "prompt": "def f(x):",
        "max_tokens": 50,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "stop": ["print", "a", "b", "c"],
    }
    assert "Authorization" not in headers


def test_stop_texts_that_the_server_was_not_told_hold_too(serve: Serve) -> None:
    script = serve(whole("\n    y = 1\n\n    return z"))
    assert ask(script, Prompt("def f(x):\n", 50, Stop(texts=("\n\n",)))).text == "    y = 1"


def test_an_answer_that_contradicts_the_prompt_is_asked_for_again_as_it_is(serve: Serve) -> None:
    script = serve(whole(" return x\n"), whole("    return x\n"))
    assert ask(script).text == "    return x\n"
    assert [body["prompt"] for _, body, _ in script.requests] == ["def f(x):", "def f(x):\n"]


def test_a_chat_request_asks_to_continue(serve: Serve) -> None:
    message = {"role": "assistant", "content": "```python\ndef f(x):\n    return x\n```"}
    script = serve(lambda handler: handler.reply(200, {"choices": [{"message": message}]}))
    completion = ask(script, Prompt("def f(x):\n", 50, Stop(0, ("def",))), api="chat")
    assert completion.text == "    return x\n"
    [(path, body, _)] = script.requests
    assert path == "/v1/chat/completions"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == "```\ndef f(x):\n```"
    assert "stop" not in body


def test_worked_examples_are_earlier_turns_of_the_chat(serve: Serve) -> None:
    script = serve(lambda handler: handler.reply(200, {"choices": [{"message": {"content": "4"}}]}))
    question = Prompt("2 + 2?", 9, reply=Reply("Add.", "", turns=(("1 + 1?", "2"),)))
    assert ask(script, question, api="chat").text == "4"
    [(_, body, _)] = script.requests
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("system", "Add."),
        ("user", "1 + 1?"),
        ("assistant", "2"),
        ("user", "2 + 2?"),
    ]


def test_newer_chat_models_get_the_token_limit_under_its_new_name(serve: Serve) -> None:
    refusal = error(400, "Use 'max_completion_tokens' instead.", "unsupported_parameter", "max_tokens")
    message = {"choices": [{"message": {"content": "```\n    return x\n```"}, "finish_reason": "stop"}]}
    script = serve(refusal, lambda handler: handler.reply(200, message))
    assert ask(script, api="chat").text == "    return x\n"
    assert "max_tokens" not in script.requests[1][1]
    assert script.requests[1][1]["max_completion_tokens"] > 50


def test_nothing_is_asked_for_nothing(serve: Serve) -> None:
    script = serve(whole("x"))
    with RemoteModel(script.url, "m") as model:
        assert model.complete([]) == []
        assert model.complete([Prompt("x", 0)]) == [Completion("", "length", 0)]
    assert script.requests == []


# Answers


def test_a_server_that_does_not_stream(serve: Serve) -> None:
    script = serve(whole("\n    return x\nprint(f(1))\n", "length", usage={"completion_tokens": 17}))
    assert ask(script) == Completion("    return x\n", "stop", 17)
    script = serve(whole("\n    return x", "length"))
    assert ask(script).finish == "length"


def test_a_stream_with_all_that_servers_put_into_it(serve: Serve) -> None:
    text = chunk("\n    s = 'ä→😀\u2028'")
    usage = b'data: {"object": "text_completion", "choices": [], "usage": {"completion_tokens": 9}}\r\n\r\n'
    parts = [b": ping\r\n\r\n", text[:23], text[23:31], text[31:32], text[32:-1], text[-1:]]
    parts += [b"event: x\r\nid: 7\r\n" + chunk("\n").replace(b"\n\n", b"\r\n\r\n"), chunk("", "stop")]
    script = serve(stream(*parts, usage, b"data: [DONE]\n\n", b"data: not read any more\n\n", pause=0.005))
    assert ask(script) == Completion("    s = 'ä→😀\u2028'\n", "stop", 9)


def test_characters_that_come_in_halves_are_made_whole(serve: Serve) -> None:
    halves = [b'data: {"choices": [{"text": "%s"}]}\n\n' % half for half in (b"x\\ud83d", b"\\ude00\\ud83d")]
    completion = ask(serve(stream(*halves, b"data: [DONE]\n\n")), Prompt("s = '", 5))
    assert completion.text == "x😀\ufffd"
    assert ask(serve(whole("'")), Prompt("s = '\ud83d", 5)).text == "'"


@pytest.mark.parametrize("end", [chunk("", "stop"), chunk("") + b"data: [DONE]\n\n", b"data: [DONE]"])
def test_streams_end_in_several_ways(serve: Serve, end: bytes) -> None:
    assert ask(serve(stream(chunk("\n    return x"), end))) == Completion("    return x", "stop", 1)


def test_the_stop_rule_closes_a_stream_that_goes_on(serve: Serve) -> None:
    def endless(handler: Handler) -> None:
        handler.start_stream()
        handler.send(chunk("\n    return x\n") + chunk("print"))
        handler.wait_until_left()

    script = serve(endless)
    start = time.monotonic()
    assert ask(script) == Completion("    return x\n", "stop", 2)
    assert time.monotonic() - start < SOON
    assert script.left.wait(SOON)


def test_chat_is_read_until_its_code_block_ends(serve: Serve) -> None:
    def talkative(handler: Handler) -> None:
        handler.start_stream()
        deltas: list[dict[str, object]] = [{"role": "assistant", "content": None}]
        deltas += [{"content": text} for text in ("Sure:\n``", "`py\n    return", " x\n`", "``\nThis is")]
        for delta in deltas:
            body = {"object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": None}]}
            handler.send(b"data: " + json.dumps(body).encode() + b"\n\n")
        handler.wait_until_left()

    script = serve(talkative)
    assert ask(script, api="chat") == Completion("    return x\n", "stop", 4)
    assert script.left.wait(SOON)


# Failures that pass


def test_a_rate_limit_is_waited_out(serve: Serve) -> None:
    script = serve(error(429, "slow down", Retry_After="1"), whole("\n    return x"))
    start = time.monotonic()
    assert ask(script).text == "    return x"
    assert 1 <= time.monotonic() - start < SOON
    date = formatdate(time.time() + 1, usegmt=True)
    assert ask(serve(error(503, Retry_After=date), whole("\n    y"))).text == "    y"


def reset(handler: Handler) -> None:
    handler.reset()


def reset_in_the_middle(handler: Handler) -> None:
    handler.start_stream()
    handler.send(chunk("\n    retu"))
    time.sleep(0.05)
    handler.reset()


@pytest.mark.parametrize(
    "passing",
    [
        error(500, "oops"),
        error(502),
        error(529),
        reset,
        reset_in_the_middle,
        stream(chunk("\n    retu")),
        stream(chunk("\n    retu"), b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'),
    ],
)
def test_what_passes_is_tried_again_from_the_start(serve: Serve, passing: AnswerStep) -> None:
    script = serve(passing, passing, stream(chunk("\n    return x", "stop")))
    assert ask(script).text == "    return x"
    assert len(script.requests) == 3


def test_a_stream_that_breaks_before_it_begins_is_asked_for_in_one_piece(serve: Serve) -> None:
    script = serve(stream(b": ping\n\n"), error(400, "maximum context length is 8 tokens"))
    assert "too long" in failure(script).message
    assert [body["stream"] for _, body, _ in script.requests] == [True, False]


def test_giving_up_says_how_often_it_was_tried(serve: Serve) -> None:
    script = serve(error(500, "disk full"))
    found = failure(script)
    assert "500" in found.message
    assert "disk full" in found.message
    assert "4 times" in found.message
    assert len(script.requests) == 4
    limited = failure(serve(error(429)))
    assert "429" in limited.message
    assert "closed the connection" in failure(serve(reset)).message


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(serve: Serve) -> None:
    script = serve(error(429, Retry_After="3600"))
    start = time.monotonic()
    found = failure(script)
    assert time.monotonic() - start < SOON
    assert "3600 s" in (found.hint or "")
    assert len(script.requests) == 1


# Failures that do not pass


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        (error(401, "Invalid API key"), "rejected the key", "COUNTERLENS_API_KEY"),
        (error(403, "\x1b[31mno\x07"), r"(403): \x1b[31mno\x07", ""),
        (error(403), "rejected the key", "COUNTERLENS_API_KEY"),
        (error(404, "The model `m` does not exist", "model_not_found"), "does not know the model", "name"),
        (error(400, "unknown model 'm'"), "does not know the model", "name"),
        (lambda h: h.reply(404, {"detail": "Not Found"}), "no such service", "/v1"),
        (lambda h: h.reply(404, b"<html>no</html>", "text/html"), "no such service", "/v1"),
        (error(404, "This is a chat model and not supported"), "does not serve this API", "chat"),
        (error(400, "too big", "context_length_exceeded"), "too long for the model: too big", "smaller"),
        (error(500, "exceeds context window of 512"), "too long for the model", "smaller"),
        (error(429, "pay", "insufficient_quota"), "no credit", "another model"),
        (error(400, "no", "unsupported_value", "top_k"), "rejected the request", ""),
        (lambda h: h.reply(422, {"detail": [{"msg": "field required"}]}), "field required", ""),
        (lambda h: h.reply(301, {}, Location="http://elsewhere/"), "has moved", "base URL"),
        (lambda h: h.reply(200, b"<!DOCTYPE html><p>Hello", "text/html"), "web page", "/v1"),
        (lambda h: h.reply(200, b'{"choices": [', "application/json"), "not JSON", "OpenAI-compatible"),
        (lambda h: h.reply(200, b"[" * 100_000), "nested too deeply", "OpenAI-compatible"),
        (lambda h: h.reply(200, []), "not an object", "OpenAI-compatible"),
        (lambda h: h.reply(200, {"id": "1"}), "without a completion", "OpenAI-compatible"),
        (lambda h: h.reply(200, {"choices": []}), "without a completion", "OpenAI-compatible"),
        (lambda h: h.reply(200, {"choices": [{"text": 3}]}), "without a completion", "OpenAI-compatible"),
        (lambda h: h.reply(200, {"choices": [None]}), "without a completion", "OpenAI-compatible"),
        (lambda h: h.reply(200, {"error": "bad luck"}), "bad luck", ""),
        (stream(chunk("\n    r"), b'data: {"error": {"message": "bad luck"}}\n\n'), "bad luck", ""),
        (stream(chunk("\n    r"), b"event: error\ndata: bad luck\n\n"), "not JSON", "OpenAI-compatible"),
        (stream(b"data: {\n\n"), "not JSON", "OpenAI-compatible"),
        (whole("", "content_filter"), "content filter", "another model"),
    ],
)
def test_what_does_not_pass_is_said_at_once(
    serve: Serve, answer: AnswerStep, message: str, hint: str
) -> None:
    script = serve(answer)
    found = failure(script)
    assert message in found.message
    assert hint in (found.hint or "")
    assert len(script.requests) == 1


def test_an_unknown_model_is_found_before_it_is_asked(serve: Serve) -> None:
    script = serve(whole("\n    x"), models=["qwen", "m:7b"])
    assert "qwen, m:7b" in (failure(script).hint or "")
    assert script.requests == []
    assert ask(script, allow_unlisted=True).text == "    x"
    for listed in ("m", "m:latest", "models/m"):
        assert ask(serve(whole("\n    x"), models=[listed])).text == "    x"


# Time


def silent(handler: Handler) -> None:
    handler.wait_until_left()


def drip(handler: Handler) -> None:
    handler.start_stream()
    for _ in range(10_000):
        handler.send(b": still here\n\n")
        time.sleep(0.02)


def test_silence_ends_in_a_time_out(serve: Serve) -> None:
    found = failure(serve(silent), timeout=Timeouts(read=0.2))
    assert "did not answer in time" in found.message


def test_a_drip_ends_in_a_time_out(serve: Serve) -> None:
    start = time.monotonic()
    found = failure(serve(drip), timeout=Timeouts(read=0.5, total=0.4))
    assert "within 0.4 s" in found.message
    assert time.monotonic() - start < SOON


def drip_one_event(handler: Handler) -> None:
    """An answer in pieces that never become a whole one."""
    handler.start_stream()
    for byte in b'data: {"choices": [{"index": 0, "text": "' + b"x" * 2000:
        handler.send(bytes([byte]))
        time.sleep(0.02)


def drip_one_object(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "2000")
    handler.end_headers()
    for _ in range(2000):
        handler.send(b" ")
        time.sleep(0.02)


def drip_headers(handler: Handler) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 2000:
        handler.send(bytes([byte]))
        time.sleep(0.02)


@pytest.mark.parametrize("dripping", [drip, drip_one_event, drip_one_object, drip_headers])
def test_a_drip_that_never_becomes_a_piece_ends_long_before_the_limit_of_a_prompt(
    dripping: AnswerStep, serve: Serve
) -> None:
    start = time.monotonic()
    script = serve(dripping)
    found = failure(script, timeout=Timeouts(read=0.4, total=60), retries=FAST)
    assert "sent no part of an answer within" in found.message
    assert time.monotonic() - start < SOON
    assert len(script.requests) == 1  # it is not asked again


def test_a_slow_answer_is_waited_for_while_its_pieces_arrive(serve: Serve) -> None:
    def slow(handler: Handler) -> None:
        handler.start_stream()
        for n in range(12):
            end = '"stop"' if n == 11 else "null"
            choice = f'{{"index": 0, "text": "{"" if n else "    "}x", "finish_reason": {end}}}'
            handler.send(f'data: {{"choices": [{choice}]}}\n\n'.encode())
            time.sleep(0.25)
        handler.send(b"data: [DONE]\n\n")

    prompt_limit = Timeouts(read=0.5, total=60)
    assert prompt_limit.piece({"max_tokens": 10}) < 12 * 0.25
    assert ask(serve(slow), replace(PROMPT, max_tokens=10), timeout=prompt_limit).text == "    " + "x" * 12


@pytest.mark.parametrize(
    "waiting", [silent, drip, error(429, Retry_After="600")], ids=["silence", "drip", "back-off"]
)
def test_cancel_ends_any_waiting_soon(serve: Serve, waiting: AnswerStep) -> None:
    script = serve(waiting)
    cancel = threading.Event()
    with RemoteModel(script.url, "m", retries=replace(FAST, patience=600.0)) as model:
        moment: list[float] = []
        threading.Timer(0.3, lambda: (moment.append(time.monotonic()), cancel.set())).start()
        with pytest.raises(Cancelled):
            model.complete([PROMPT] * 2, cancel=cancel)
        assert time.monotonic() - moment[0] < SOON
        if waiting in (silent, drip):
            assert script.left.wait(SOON)
        asked = len(script.requests)
        with pytest.raises(Cancelled):
            model.complete([PROMPT], cancel=cancel)
        assert len(script.requests) == asked


# Several prompts


def test_requests_run_together_but_not_too_many(serve: Serve) -> None:
    lock, now, most = threading.Lock(), 0, 0

    def slow(handler: Handler) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.1)
        with lock:
            now -= 1
        handler.reply(200, {"choices": [{"text": f" {script.requests[0][0]}", "finish_reason": "stop"}]})

    script = serve(slow)
    with RemoteModel(script.url, "m", concurrency=3) as model:
        assert len(model.complete([Prompt(f"x{n} =", 5) for n in range(9)])) == 9
    assert most == 3


def test_one_failure_ends_all(serve: Serve) -> None:
    script = serve(silent, silent, error(401))
    start = time.monotonic()
    with RemoteModel(script.url, "m") as model, pytest.raises(ModelError, match="rejected the key"):
        model.complete([PROMPT] * 8)
    assert time.monotonic() - start < SOON
    assert len(script.requests) <= 4


def test_a_model_serves_several_threads_and_nobody_once_closed(serve: Serve) -> None:
    script = serve(whole("\n    return x"))
    results: list[str] = []
    model = RemoteModel(script.url, "m")
    threads = [
        threading.Thread(target=lambda: results.append(model.complete([PROMPT])[0].text)) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["    return x"] * 6
    model.close()
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.complete([PROMPT])


def test_closing_ends_what_is_running(serve: Serve) -> None:
    script = serve(silent)
    model = RemoteModel(script.url, "m")
    caught: list[BaseException] = []

    def work(run: Callable[[], object]) -> None:
        try:
            run()
        except ModelError as error:
            caught.append(error)

    thread = threading.Thread(target=work, args=(lambda: model.complete([PROMPT]),))
    thread.start()
    while not script.requests:
        time.sleep(0.01)
    model.close()
    thread.join()
    assert "closed" in str(caught[0])
