"""Endpoints that do not take a request as it is: asked with what they take, which is remembered and said."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Draw, Prompt, Stop
from counterlens.models.files import note
from counterlens.models.remote.accepted_parameters import AcceptedParameters, Temperature
from counterlens.models.remote.model import ParameterMemory, RemoteModel
from tests.models.remote.test_requests import FAST, chunk, error, stream, whole

if TYPE_CHECKING:
    from tests.models.remote.conftest import AnswerStep, Handler, Serve

PROMPT = Prompt("def f(x):\n", 50, Stop(indent=0))
NEW_LIMIT = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
OWN = (
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
)
GIVEN = whole("\n    return x\n")


def strict(*refusals: tuple[Any, AnswerStep]) -> AnswerStep:
    """An endpoint that refuses each request for the first reason that holds of its body."""

    def answer(handler: Handler) -> None:
        found = next((refusal for refuses, refusal in refusals if refuses(handler.body)), GIVEN)
        found(handler)

    return answer


THINKING = strict(
    (lambda body: "max_tokens" in body, error(400, NEW_LIMIT, "unsupported_parameter", "max_tokens")),
    (lambda body: "temperature" in body, error(400, OWN, "unsupported_value", "temperature")),
    (lambda body: "stop" in body, error(400, "'stop' is not supported with this model")),
)


def test_what_is_refused_is_left_out_once_and_for_all_and_said(serve: Serve, tmp_path: Path) -> None:
    script, memory = serve(THINKING), ParameterMemory(tmp_path / "parameters.json")
    prompt = replace(PROMPT, stop=Stop(0, ("print",)))
    with RemoteModel(script.url, "m", accepted_parameters=memory) as model:
        assert "asked" not in dict(model.info.details)
        assert [found.text for found in model.complete([prompt, prompt])] == ["    return x\n"] * 2
        said = dict(model.info.details)["asked"]
        asked = len(script.requests)
        model.complete([prompt])
        assert len(script.requests) == asked + 1
    assert said == (
        "at the model's own temperature, because it rejects 0, with max_completion_tokens, without stop"
    )
    *_, (_, body, _) = script.requests
    assert body["max_completion_tokens"] == 50
    assert not {"max_tokens", "temperature", "stop"} & body.keys()

    with RemoteModel(script.url, "m", accepted_parameters=memory) as again:
        assert dict(again.info.details)["asked"] == said
        again.complete([prompt])
    assert len(script.requests) == asked + 2
    with RemoteModel(script.url, "other", accepted_parameters=memory) as other:
        assert "asked" not in dict(other.info.details)


@pytest.mark.parametrize(
    ("refusal", "summary"),
    [
        (
            error(422, "`temperature` must be strictly positive"),
            "at the temperature 0.01, because it rejects 0",
        ),
        (
            lambda handler: handler.reply(
                422,
                {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]},
            ),
            "without stream_options",
        ),
        (error(400, "unknown field stream_options"), "without stream_options"),
        (error(400, "Unrecognized argument: seed"), ""),  # none was sent: nothing to be done
    ],
)
def test_refusals_are_understood_in_the_words_of_several_servers(
    serve: Serve, refusal: AnswerStep, summary: str
) -> None:
    script = serve(refusal, GIVEN)
    with RemoteModel(script.url, "m") as model:
        if not summary:
            with pytest.raises(ModelError, match="rejected the request"):
                model.complete([PROMPT])
            return
        assert model.complete([PROMPT])[0].text == "    return x\n"
        assert dict(model.info.details)["asked"] == summary
    least = script.requests[1][1].get("temperature")
    assert least == (0.01 if "0.01" in summary else 0)


def test_a_limit_that_is_too_high_is_no_other_name_of_it(serve: Serve) -> None:
    script = serve(error(400, "max_tokens is too large: 50. At most 10 are supported"))
    with RemoteModel(script.url, "m") as model, pytest.raises(ModelError, match="is too large"):
        model.complete([PROMPT])
    assert len(script.requests) == 1


def test_no_draw_is_taken_at_another_temperature_than_was_asked_for(serve: Serve) -> None:
    script = serve(THINKING)
    with RemoteModel(script.url, "m") as model:
        with pytest.raises(ModelError, match="temperature") as caught:
            model.complete([replace(PROMPT, draw=Draw(0.8, 0, 0))])
        assert caught.value.hint == "Use it: --temperature 1"
        (found,) = model.complete([replace(PROMPT, draw=Draw(1, 0, 0))])
    assert found.text == "    return x\n"


def test_what_is_kept_of_endpoints_is_believed_for_a_week_and_only_if_it_can_be_read(tmp_path: Path) -> None:
    now = 1000.0
    memory = ParameterMemory(tmp_path / "a" / "parameters.json", lambda: now)
    stored = AcceptedParameters("max_completion_tokens", Temperature.OWN, frozenset({"stop"}), several=False)
    memory.remember("one", stored)
    memory.remember("two", AcceptedParameters(several=True))
    assert (memory.recall("one"), memory.recall("two"), memory.recall("three")) == (
        stored,
        AcceptedParameters(several=True),
        None,
    )
    now += 7 * 86_400
    assert memory.recall("one") is None
    now = 1000.0
    for entry in ("", "[]", "null", '[{}, "x"]', "[3, 999]", '[{"limit": 3}, 999]'):
        note(str(tmp_path / "a" / "parameters.json"), "one", entry)
        assert memory.recall("one") is None
    for damaged in ("", "[]", '{"one": 3}', '{"one": {}}'):
        (tmp_path / "a" / "parameters.json").write_text(damaged)
        assert memory.recall("one") is None


# Several answers to one request


def prompts(count: int) -> list[Prompt]:
    return [replace(PROMPT, draw=Draw(0.8, 5, i)) for i in range(count)]


def several(handler: Handler) -> None:
    """Streams as many answers as are asked for, in pieces that alternate."""
    count = handler.body.get("n", 1)
    handler.start_stream()
    for part, finish in (("\n    return ", None), ("x", None), ("", "stop")):
        for index in reversed(range(count)):
            text = f"{part}{index}" if part == "x" else part
            choice = {"index": index, "text": text, "finish_reason": finish}
            handler.send(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
    handler.send(b"data: [DONE]\n\n")


def test_draws_of_one_prompt_are_one_request_where_the_endpoint_gives_several(serve: Serve) -> None:
    script = serve(several)
    seen: list[tuple[int, int]] = []
    other = Prompt("def g(x):\n", 50, Stop(indent=0))
    with RemoteModel(script.url, "m") as model:
        asked = [*prompts(3), other, *(replace(one, text="def h(x):\n") for one in prompts(20))]
        found = model.complete(asked, progress=lambda done, total: seen.append((done, total)))
    assert [one.text for one in found[:4]] == [f"    return x{i}" for i in (0, 1, 2, 0)]
    assert [one.text for one in found[4:]] == [f"    return x{i}" for i in (*range(16), *range(4))]
    assert sorted(body.get("n", 1) for _, body, _ in script.requests) == [1, 3, 4, 16]
    assert seen[-1] == (24, 24)


def test_an_answer_of_several_that_does_not_fit_the_prompt_is_asked_for_by_itself(serve: Serve) -> None:
    def answer(handler: Handler) -> None:
        texts = ["\n    return 1\n", " return 2\n"] if "n" in handler.body else ["\n    return 3\n"]
        choices = [{"index": i, "text": text, "finish_reason": "stop"} for i, text in enumerate(texts)]
        handler.reply(200, {"choices": choices})

    script = serve(answer)
    with RemoteModel(script.url, "m") as model:
        found = model.complete(prompts(2))
    assert [one.text for one in found] == ["    return 1\n", "    return 3\n"]
    assert [body.get("n") for _, body, _ in script.requests] == [2, None]
    assert script.requests[1][1]["seed"] != script.requests[0][1]["seed"]


@pytest.mark.parametrize(
    "single",
    [
        strict((lambda body: "n" in body, error(400, "Only one completion choice is allowed"))),
        strict((lambda body: "n" in body, error(422, "n must be 1"))),
        GIVEN,
        stream(chunk("\n    return x\n", "stop")),
    ],
    ids=["refused", "unprocessable", "ignored", "ignored in a stream"],
)
def test_an_endpoint_that_gives_one_answer_is_asked_for_several_once(
    serve: Serve, tmp_path: Path, single: AnswerStep
) -> None:
    script, memory = serve(single), ParameterMemory(tmp_path / "parameters.json")
    with RemoteModel(script.url, "m", accepted_parameters=memory) as model:
        assert [one.text for one in model.complete(prompts(3))] == ["    return x\n"] * 3
        model.complete([replace(one, text="def h(x):\n") for one in prompts(3)])
    with RemoteModel(script.url, "m", accepted_parameters=memory) as again:
        again.complete(prompts(3))
    assert sum("n" in body for _, body, _ in script.requests) == 1
    assert len({body.get("seed") for _, body, _ in script.requests[-3:]}) == 3


def test_only_one_request_tries_for_several(serve: Serve) -> None:
    def slow(handler: Handler) -> None:
        time.sleep(0.05)
        (error(400, "n > 1 is not supported") if "n" in handler.body else GIVEN)(handler)

    script = serve(slow)
    asked = [replace(one, text=f"def f{i}(x):\n") for i in range(5) for one in prompts(2)]
    with RemoteModel(script.url, "m", retries=FAST, concurrency=8) as model:
        assert len(model.complete(asked)) == 10
    assert sum("n" in body for _, body, _ in script.requests) == 1
