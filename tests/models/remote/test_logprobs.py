"""Log-probabilities of generated tokens from endpoints, as the servers of each kind return them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from counterlens.errors import ModelError
from counterlens.explaining.completing import explain
from counterlens.models.base import Prompt, Stop
from counterlens.models.remote.model import RemoteModel
from counterlens.progress import Steps
from counterlens.reports.build.explanation import explanation_report
from counterlens.reports.document import Paragraph
from counterlens.syntax.document import Document
from tests.models.remote.test_requests import ask, error, stream, whole

if TYPE_CHECKING:
    from tests.models.remote.conftest import AnswerStep, Serve

PROMPT = Prompt("def f(x):\n", 50, Stop(indent=0), logprobs=True)


def objects(*tokens: tuple[str, float | None]) -> dict[str, Any]:
    """The tokens as the chat API returns them."""
    return {
        "content": [
            {"token": text, "logprob": value, "bytes": list(text.encode()), "top_logprobs": []}
            for text, value in tokens
        ]
    }


def lists(*tokens: tuple[str, float | None]) -> dict[str, Any]:
    """The tokens as the completions API returns them."""
    return {
        "tokens": [text for text, _ in tokens],
        "token_logprobs": [value for _, value in tokens],
        "text_offset": [0] * len(tokens),
        "top_logprobs": None,
    }


def chunk(text: str, logprobs: object, finish: str | None = None, *, chat: bool = False) -> bytes:
    choice: dict[str, Any] = {"index": 0, "logprobs": logprobs, "finish_reason": finish}
    choice |= {"delta": {"content": text}} if chat else {"text": text}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


@pytest.mark.parametrize("form", [objects, lists])
def test_a_completion_carries_them_at_its_bytes(serve: Serve, form: Any) -> None:
    tokens = [("\n   ", -0.5), (" return", -0.1), (" xä", -0.25), ("\n", -0.75), ("print", -3.0)]
    script = serve(stream(*(chunk(text, form((text, value))) for text, value in tokens)))
    completion = ask(script, PROMPT)
    assert completion.text == "    return xä\n"
    assert completion.logprobs == ((0, -0.5), (3, -0.1), (10, -0.25), (14, -0.75))
    [(_, body, _)] = script.requests
    assert body["logprobs"] == 1


def test_they_are_requested_only_if_they_are_wanted(serve: Serve) -> None:
    answer = whole("\n    return x\n")
    script = serve(answer)
    assert ask(script, replace(PROMPT, logprobs=False)).logprobs is None
    assert "logprobs" not in script.requests[0][1]


def test_a_chat_reply_carries_those_of_its_code(serve: Serve) -> None:
    tokens = [
        *(("```", -0.1), ("python\n", -0.2), ("def f(x):", -0.3), ("\n", -0.01), ("  return", -0.4)),
        *((" x", -0.5), ("\n```", -0.6), ("\nIt returns x.", -2.0)),
    ]
    script = serve(stream(*(chunk(text, objects((text, value)), chat=True) for text, value in tokens)))
    completion = ask(script, PROMPT, api="chat")
    assert completion.text.strip() == "return x"
    assert completion.logprobs is not None
    assert [value for _, value in completion.logprobs if value in (-0.4, -0.5)] == [-0.4, -0.5]
    assert not {value for _, value in completion.logprobs} & {-0.1, -0.2, -0.3, -2.0}
    assert script.requests[0][1]["logprobs"] is True


def test_a_code_block_that_is_indented_otherwise_keeps_those_of_its_code(serve: Serve) -> None:
    tokens = [("```\n", -0.1), ("if", -0.2), (" x:\n", -0.3), ("    return x", -0.4), ("\n```", -0.5)]
    script = serve(stream(*(chunk(text, objects((text, value)), chat=True) for text, value in tokens)))
    completion = ask(script, PROMPT, api="chat")
    assert completion.text.rstrip() == "    if x:\n        return x"
    assert completion.logprobs == ((4, -0.2), (6, -0.3), (18, -0.4))


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"content": None}, {"content": [{"token": "x"}]}, lists(("\n    return x", None)), "no"],
)
def test_an_endpoint_that_gives_none_is_still_read(serve: Serve, logprobs: object) -> None:
    script = serve(stream(chunk("\n    return x\n", logprobs, "stop")))
    completion = ask(script, PROMPT)
    assert completion.text == "    return x\n"
    assert completion.logprobs is None


def test_an_endpoint_that_refuses_them_is_asked_without(serve: Serve) -> None:
    refusal = error(400, "logprobs is not supported with this model", "unsupported_parameter", "logprobs")
    script = serve(refusal, whole("\n    return x\n"))
    with RemoteModel(script.url, "m") as model:
        (completion,) = model.complete([PROMPT])
        assert completion.text == "    return x\n"
        assert completion.logprobs is None
        assert dict(model.info.details)["asked"] == "without logprobs"
    assert "logprobs" not in script.requests[1][1]


def test_a_whole_answer_carries_them_too(serve: Serve) -> None:
    body = {
        "text": "\n    return x",
        "finish_reason": "stop",
        "logprobs": lists(("\n    return", -1), (" x", -2)),
    }
    script = serve(lambda handler: handler.reply(200, {"choices": [body]}))
    completion = ask(script, PROMPT)
    assert completion.logprobs == ((0, -1.0), (10, -2.0))
    assert math.exp(completion.logprobs[0][1]) < 1


def by_path(**answers: AnswerStep) -> AnswerStep:
    """An endpoint that has some paths, by their last part, and knows nothing else."""
    unknown = error(404, "not found")
    return lambda handler: answers.get(handler.path.rpartition("/")[2], unknown)(handler)


def test_a_completion_is_explained_by_what_the_endpoint_returned_with_it(serve: Serve) -> None:
    document = Document("def double(x):\n    return x\n")
    tokens = [
        *(("```python\n", -0.1), ("def double(x):\n", -0.2), ("    return", -0.3), (" 2", -1.5)),
        *((" *", -0.05), (" x", -0.01), ("\n```", -0.1)),
    ]
    answer = stream(*(chunk(text, objects((text, value)), chat=True) for text, value in tokens))
    script = serve(by_path(completions=answer))
    with RemoteModel(script.url, "m", api="chat") as model:
        explained = explain(model, document, "double", len("def double(x):\n"), 60, Steps())
        report = explanation_report([("line 2", explained)], model.info, "Completion")
    assert explained.text.rstrip() == "    return 2 * x"
    shown = {token.text.strip(): token.probability for token in explained.tokens}
    assert shown["2"] == pytest.approx(math.exp(-1.5))
    assert shown["x"] == pytest.approx(math.exp(-0.01))
    assert explained.departure is not None
    assert (explained.departure.wrote, explained.departure.stands) == ("2", "x")
    assert explained.departure.stands_probability is None
    text = "\n".join(block.text for block in report.blocks if isinstance(block, Paragraph))
    assert "is not measured" in text


def test_one_without_them_says_what_is_missing(serve: Serve) -> None:
    document = Document("def double(x):\n    return x\n")
    script = serve(by_path(completions=stream(chunk("    return 2 * x\n", None, "stop"))))
    with RemoteModel(script.url, "m") as model, pytest.raises(ModelError, match="no token probabilities"):
        explain(model, document, "double", len("def double(x):\n"), 60, Steps())
