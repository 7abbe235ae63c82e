"""Testing the model, asking an endpoint for its models, and the numbers in the status."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.errors import ModelError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import read_settings
from counterlens.lsp.status import ServerStatus
from counterlens.models.base import RUNS_ON, ModelInfo
from counterlens.models.llama.model import LlamaModel
from counterlens.models.remote.connecting import models_at
from counterlens.models.wrapped import WrappedModel
from tests.lsp.conftest import open_file, until

KEY = "sk-right"
TWO = "def add(a, b):\n    return a + b\n\n\ndef twice(value):\n    return add(value, value)\n"


class _Listing(BaseHTTPRequestHandler):
    """An endpoint that lists two models to whoever has the key."""

    def do_GET(self) -> None:
        allowed = self.headers.get("authorization") == f"Bearer {KEY}"
        body = {"data": [{"id": "small"}, {"id": "large"}]} if allowed else {"error": {"message": "who?"}}
        self.send_response(200 if allowed else 401)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Listing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


async def _ask(client: LanguageClient, command: str, *arguments: Any) -> Any:
    found = await client.workspace_execute_command_async(types.ExecuteCommandParams(command, list(arguments)))
    return SimpleNamespace(**found)


async def _set(client: LanguageClient, settings: dict[str, Any]) -> None:
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"counterlens": settings}))


@pytest.mark.usefixtures("embedded_by_default")
async def test_the_embedded_model_answers_and_says_what_it_can(client: LanguageClient) -> None:
    found = await _ask(client, "counterlens.testModel", {})
    assert found.ok, found
    assert found.model.startswith("SmolLM2-135M")
    assert found.where == "local"
    assert found.completion.strip() == "a + b"
    assert found.tokens > 0
    assert found.seconds > 0
    assert found.scores
    assert found.embeds
    assert found.context == 8192


async def test_while_it_loads_and_scores_the_status_has_numbers(
    own_client: LanguageClient, tmp_path: Path
) -> None:
    client = own_client
    open_file(client, tmp_path / "two.py", TWO)
    await until(lambda: any(one.state == "ready" for one in client.statuses))  # type: ignore[attr-defined]
    steps = {
        state: [one.steps for one in client.statuses if one.state == state and one.steps]  # type: ignore[attr-defined]
        for state in ("loading", "scoring")
    }
    loading = [one.done for one in steps["loading"]]
    assert loading == sorted(set(loading))
    assert loading[-1] == 100
    assert len(loading) > 10
    assert {one.unit for one in steps["loading"]} == {"%"}
    assert {(one.total, one.unit) for one in steps["scoring"]} == {(2, "functions")}
    assert [one.done for one in steps["scoring"]][-1] == 2


async def test_a_refused_connection_is_said_in_short_and_in_full(client: LanguageClient) -> None:
    remote = {"baseUrl": "http://127.0.0.1:9/v1", "model": "any"}
    await _set(client, {"model": "remote", "remote": remote})
    found = await _ask(client, "counterlens.testModel", {})
    assert not found.ok
    assert (found.error, found.reason) == (
        "127.0.0.1:9 refused the connection",
        "offline: connection refused",
    )
    assert "running" in found.hint
    last = client.statuses[-1]  # type: ignore[attr-defined]
    assert (last.state, last.reason) == ("error", "offline: connection refused")


async def test_a_file_that_is_no_model_is_an_error_and_no_traceback(
    client: LanguageClient, tmp_path: Path
) -> None:
    file = tmp_path / "no.gguf"
    file.write_bytes(b"not a model")
    await _set(client, {"model": str(file)})
    found = await _ask(client, "counterlens.testModel", {})
    assert not found.ok
    assert "no.gguf" in found.error
    assert "Traceback" not in found.error


async def test_the_models_of_an_endpoint_are_listed_with_the_key(
    client: LanguageClient, endpoint: str
) -> None:
    found = await _ask(client, "counterlens.listModels", {"baseUrl": endpoint, "key": KEY})
    assert found.ok
    assert found.models == ["small", "large"]
    refused = await _ask(client, "counterlens.listModels", {"baseUrl": endpoint, "key": "sk-wrong"})
    assert not refused.ok
    assert refused.reason == "the key was rejected"
    assert "401" in refused.error
    assert "sk-wrong" not in refused.error + refused.hint
    nonsense = await _ask(client, "counterlens.listModels", {"baseUrl": "ftp://nowhere"})
    assert not nonsense.ok
    assert nonsense.error


def test_a_kept_key_goes_only_to_the_endpoint_that_it_is_for(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERLENS_API_KEY", KEY)
    assert models_at(endpoint) == ["small", "large"]
    with pytest.raises(ModelError, match="401"):
        models_at(endpoint, trusted=False)


@pytest.mark.parametrize(
    ("runs_on", "said"),
    [
        ("the processor", ""),
        (
            "CUDA0 (a card), 3 of 9 layers",
            "; it runs on CUDA0 (a card), 3 of 9 layers",
        ),
        (
            "the processor: too little memory is free on CUDA0 (a card): 0.5 GB",
            "; it runs on the processor: too little memory is free on CUDA0 (a card): 0.5 GB",
        ),
    ],
)
def test_the_status_names_the_device(
    model: LlamaModel, runs_on: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(WrappedModel):
        @property
        def info(self) -> ModelInfo:
            return replace(self.model.info, details=((RUNS_ON, runs_on),))

        def close(self) -> None:
            """The model is everyone's."""

    settings, host = read_settings({"model": "some.gguf"})[0], ModelHost()
    host.choose(settings)
    monkeypatch.setattr(host, "open", lambda *_: Elsewhere(model))
    announced: list[ServerStatus] = []
    protocol = SimpleNamespace(notify=lambda _name, status: announced.append(status))
    ls = SimpleNamespace(settings=settings, host=host, protocol=protocol, _last_status=None)
    try:
        with host.use_model(settings):
            CounterlensServer.announce(ls, "ready", "all is well")
        assert announced[-1].detail == f"all is well{said}"
        assert announced[-1].model == model.info.name
    finally:
        host.close()
