"""The remote model against a real server with a real model."""

from __future__ import annotations

import ast
import threading
import time
from typing import TYPE_CHECKING

import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Capability, Model, Prompt, Stop
from counterlens.models.connection_test import run_connection_test
from counterlens.models.remote.model import RemoteModel

if TYPE_CHECKING:
    from tests.conftest import ModelServer

COUNT = '''def count_even(numbers):
    """Return how many of the numbers are even."""
    count = 0
    for number in numbers:
        if number % 2 == 0:
'''
LONG = "Once upon a time there was a programmer who wrote a very long story. The story began like this:"


@pytest.fixture(params=["completions", "chat"])
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def left(server: ModelServer, more_than: int) -> bool:
    """Whether the server noticed that a client left before its answer was finished."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if server.log.count("Disconnected from client") > more_than:
            return True
        time.sleep(0.05)
    return False


def test_a_code_prompt_is_completed_to_the_end_of_its_function_and_no_further(
    model_server: ModelServer,
) -> None:
    before = model_server.log.count("Disconnected from client")
    with RemoteModel(model_server.base_url, model_server.model) as model:
        [completion] = model.complete([Prompt(COUNT, 1500, Stop(indent=0))])
        assert left(model_server, before)
    assert completion.finish == "stop"
    assert completion.tokens < 150
    program = COUNT + completion.text
    [function] = ast.parse(program).body
    assert isinstance(function, ast.FunctionDef)
    scope: dict[str, object] = {}
    exec(program, scope)  # noqa: S102 - the model's greedy answer, the same each time
    assert scope["count_even"]([1, 2, 4]) == 2  # type: ignore[operator]


def test_the_chat_api_gives_code_that_follows_the_prompt(model_server: ModelServer) -> None:
    prompt = 'def add(a, b):\n    """Return the sum of a and b."""\n'
    with RemoteModel(model_server.base_url, model_server.model, api="chat") as model:
        [completion] = model.complete([Prompt(prompt, 80, Stop(indent=0))])
    scope: dict[str, object] = {}
    exec(prompt + completion.text, scope)  # noqa: S102 - the model's greedy answer, the same each time
    assert scope["add"](2, 3) == 5  # type: ignore[operator]


def test_cancel_ends_a_stream_and_the_servers_work(model_server: ModelServer, api: str) -> None:
    before = model_server.log.count("Disconnected from client")
    cancel = threading.Event()
    with RemoteModel(model_server.base_url, model_server.model, api=api) as model:
        threading.Timer(0.8, cancel.set).start()
        with pytest.raises(Cancelled):  # and no answers: 1,500 tokens take much longer
            model.complete([Prompt(LONG, 1500)] * 2, cancel=cancel)
        [again] = model.complete([Prompt("x =", 1)])
    assert again.tokens >= 1
    assert left(model_server, before)


def test_several_prompts_come_back_in_order_with_progress(model_server: ModelServer) -> None:
    prompts = [Prompt(f"{one} {two} " * 4 + one, 3) for one, two in (("red", "green"), ("cat", "dog"))]
    prompts.append(Prompt("one = 1\ntwo = 2\nthree =", 3))
    seen: list[tuple[int, int, int]] = []
    with RemoteModel(model_server.base_url, model_server.model) as model:
        completions = model.complete(
            prompts, progress=lambda done, total: seen.append((done, total, threading.get_ident()))
        )
    assert [completion.text.split()[0] for completion in completions] == ["green", "dog", "3"]
    here = threading.get_ident()
    assert seen == [(1, 3, here), (2, 3, here), (3, 3, here)]


def test_the_token_limit_is_told_from_a_stop(model_server: ModelServer, api: str) -> None:
    with RemoteModel(model_server.base_url, model_server.model, api=api) as model:
        [cut] = model.complete([Prompt(LONG, 4)])
        [stopped] = model.complete([Prompt("letters = 'a b c d e f g h", 60, Stop(texts=("l",)))])
    assert cut.finish == "length"
    assert "l" not in stopped.text


def test_an_unknown_model_is_named_with_those_that_there_are(model_server: ModelServer, api: str) -> None:
    with (
        RemoteModel(model_server.base_url, "gpt-unheard-of", api=api) as model,
        pytest.raises(ModelError, match="gpt-unheard-of") as failure,
    ):
        model.complete([Prompt("x = ", 1)])
    assert "smollm2" in (failure.value.hint or "")


def test_a_prompt_beyond_the_context_is_refused_with_the_reason(model_server: ModelServer) -> None:
    with (
        RemoteModel(model_server.base_url, model_server.model) as model,
        pytest.raises(ModelError, match="too long for the model"),
    ):
        model.complete([Prompt("x = 1\n" * 1500, 10)])


@pytest.mark.parametrize(("server", "api"), [("model_server", "completions"), ("short_model_server", "chat")])
def test_models_are_listed_and_tested(server: str, api: str, request: pytest.FixtureRequest) -> None:
    running: ModelServer = request.getfixturevalue(server)
    with RemoteModel(running.base_url, running.model, api=api) as model:
        assert model.list_models() == [running.model]
        result = run_connection_test(model)
    assert result.completion
    assert result.tokens > 0
    assert 0 < result.seconds < 60


def test_it_is_a_model(model_server: ModelServer) -> None:
    remote = RemoteModel(model_server.base_url, model_server.model)
    with remote as opened:
        model: Model = opened
        assert Capability.COMPLETE in model.info.capabilities
        assert model.info.where == "127.0.0.1"
    assert opened is remote
