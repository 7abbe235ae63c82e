"""Addresses, keys, the environment, and connections that do not come about."""

from __future__ import annotations

import logging
import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from counterlens.errors import ModelError
from counterlens.models import load
from counterlens.models.base import Prompt
from counterlens.models.registry import Options
from counterlens.models.remote.client import Retries, Timeouts
from counterlens.models.remote.connecting import connect
from counterlens.models.remote.endpoint import ApiKey, Endpoint, is_loopback, read_environment
from counterlens.models.remote.model import RemoteModel

if TYPE_CHECKING:
    from tests.models.remote.conftest import Handler, Serve

KEY = "sk-very-secret-0123456789"
VARIABLES = ["BASE_URL", "MODEL", "API_KEY", "ALLOW_INSECURE", "ALLOW_UNLISTED"]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"COUNTERLENS_{name}" for name in VARIABLES]
    names += ["OPENAI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]
    for name in names:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def failure(url: str) -> ModelError:
    with (
        RemoteModel(url, "m", timeout=Timeouts(connect=10, total=30), retries=Retries(0)) as model,
        pytest.raises(ModelError) as caught,
    ):
        model.complete([Prompt("x =", 1)])
    return caught.value


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def answer(handler: Handler) -> None:
    handler.reply(200, {"choices": [{"text": " 1", "finish_reason": "stop"}]})


# Connections


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_refused_connection_names_the_port_and_asks_for_the_server(host: str) -> None:
    port = closed_port()
    found = failure(f"http://{host}:{port}/v1")
    assert f"{host}:{port} refused the connection" in found.message
    assert "running" in (found.hint or "")


def test_a_host_that_does_not_exist() -> None:
    assert "nowhere.invalid cannot be resolved" in failure("https://nowhere.invalid/v1").message


def test_https_to_a_server_that_speaks_http(serve: Serve) -> None:
    found = failure(serve(answer).url.replace("http:", "https:"))
    assert "the TLS connection to " in found.message
    assert "http://" in (found.hint or "")


def test_a_certificate_that_nobody_vouches_for(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [
        openssl,
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def refuse_politely(server: socket.socket) -> None:
        try:
            while True:
                connection, _ = server.accept()
                with connection:
                    try:
                        context.wrap_socket(connection, server_side=True).close()
                    except OSError:
                        continue
        except OSError:
            return  # the test is over

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=refuse_politely, args=(server,), daemon=True).start()
        found = failure(f"https://localhost:{server.getsockname()[1]}/v1")
        server.shutdown(socket.SHUT_RDWR)
    assert "certificate" in found.message
    assert "SSL_CERT_FILE" in (found.hint or "")


def test_this_machine_is_never_reached_through_a_proxy(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with RemoteModel(serve(answer).url, "m") as model:
        assert model.complete([Prompt("x =", 1)])[0].text == " 1"


def test_other_machines_are_reached_through_the_proxy(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    script = serve(answer)
    monkeypatch.setenv("http_proxy", script.url.removesuffix("/v1"))
    with RemoteModel("http://model.example/v1", "m") as model:
        assert model.complete([Prompt("x =", 1)])[0].text == " 1"
    assert script.requests[0][0] == "http://model.example/v1/completions"


def test_a_proxy_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "gopher://nowhere")
    assert "network settings" in failure("http://model.example/v1").message


# Addresses


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        (" https://api.example.com/v1/chat/completions ", "https://api.example.com/v1"),
        ("https://api.example.com/v1/completions", "https://api.example.com/v1"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
)
def test_base_urls_are_taken_as_people_paste_them(url: str, normal: str) -> None:
    assert Endpoint.parse(url).url == normal


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080/v1",
        "ftp://host/v1",
        "http://",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://h:x/",
        f"http://user:{KEY}@host/v1",
        f"http://{KEY}@[::1/v1",
        f"https://host/v1?key={KEY}",
        "http://host/v1#a",
    ],
)
def test_base_urls_that_cannot_be_used_are_refused_without_repeating_secrets(url: str) -> None:
    with pytest.raises(ModelError) as caught:
        RemoteModel(url, "m")
    assert caught.value.hint
    assert KEY not in str(caught.value)


def test_loopback_is_known_without_asking_anybody() -> None:
    assert all(map(is_loopback, ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"]))
    assert not any(map(is_loopback, ["10.0.0.1", "localhost.example.com", "example.com", "::2"]))


def test_an_api_that_there_is_not() -> None:
    with pytest.raises(ModelError, match="completions, fill, chat"):
        RemoteModel("http://127.0.0.1/v1", "m", api="telepathy")


def test_identity_is_stable_and_tells_endpoint_model_and_api_apart() -> None:
    def identity(url: str, model: str, api: str = "completions") -> str:
        return RemoteModel(url, model, api).info.identity

    first = identity("http://127.0.0.1/v1", "m")
    assert first == identity("http://127.0.0.1/v1/", "m")
    others = {identity("http://127.0.0.1/v2", "m"), identity("http://127.0.0.1/v1", "n")}
    others.add(identity("http://127.0.0.1/v1", "m", "chat"))
    assert len({first, *others}) == 4
    assert all(len(each) == 64 for each in others)


# Keys


def test_a_key_does_not_travel_in_the_open() -> None:
    with pytest.raises(ModelError, match="unencrypted") as caught:
        RemoteModel("http://model.example/v1", "m", api_key=KEY)
    assert KEY not in str(caught.value)
    for url in ("http://127.0.0.1:1/v1", "http://localhost/v1", "https://model.example/v1"):
        RemoteModel(url, "m", api_key=KEY)
    RemoteModel("http://model.example/v1", "m", api_key=KEY, allow_insecure=True)


def test_the_key_is_sent_and_never_shown(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    body = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    script = serve(lambda handler: handler.reply(401, body))
    monkeypatch.setenv("COUNTERLENS_API_KEY", f" {KEY}\n")
    with connect("m", base_url=script.url) as model, pytest.raises(ModelError) as caught:
        model.complete([Prompt("x =", 1)])
    assert script.requests[0][2]["Authorization"] == f"Bearer {KEY}"
    assert "environment variable COUNTERLENS_API_KEY" in (caught.value.hint or "")
    shown = [repr(model), repr(vars(model)), repr(model.info), str(caught.value), repr(caught.value)]
    shown += [caplog.text, repr(ApiKey(KEY)), repr(Endpoint.parse(script.url, ApiKey(KEY)))]
    shown.append(repr(read_environment()))
    assert not [text for text in shown if KEY in text]
    assert "[key]" in caught.value.message


@pytest.mark.parametrize("key", ["", "two words", "käse", "line\nbreak"])
def test_a_key_that_cannot_be_sent(key: str) -> None:
    with pytest.raises(ModelError, match="not usable") as caught:
        RemoteModel("https://model.example/v1", "m", api_key=key)
    assert not key or key not in str(caught.value)


def test_the_key_of_openai_goes_to_openai_only() -> None:
    environment = read_environment({"OPENAI_API_KEY": KEY})
    found = environment.key_for("https://api.openai.com/v1")
    assert found is not None
    assert found.source == "the environment variable OPENAI_API_KEY"
    for url in (
        "https://api.openai.com.example/v1",
        "https://example.com/api.openai.com",
        "http://127.0.0.1",
    ):
        assert environment.key_for(url) is None
    both = read_environment({"OPENAI_API_KEY": KEY, "COUNTERLENS_API_KEY": "mine"})
    chosen = both.key_for("https://api.openai.com/v1")
    assert chosen is not None
    assert chosen.value == "mine"


# The environment and the registry


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError) as caught:
        connect("m")
    assert "COUNTERLENS_BASE_URL" in (caught.value.hint or "")
    monkeypatch.setenv("COUNTERLENS_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(ModelError) as caught:
        connect()
    assert "COUNTERLENS_MODEL" in (caught.value.hint or "")


def test_the_environment_is_enough_and_arguments_come_first(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = serve(answer)
    monkeypatch.setenv("COUNTERLENS_BASE_URL", script.url)
    monkeypatch.setenv("COUNTERLENS_MODEL", "m")
    assert dict(connect().info.details) == {"endpoint": script.url, "api": "completions"}
    assert dict(connect(api="chat").info.details)["api"] == "chat"
    assert connect("n", base_url="http://127.0.0.1:1/v1").info.details[0][1] == "http://127.0.0.1:1/v1"


def test_the_registry_opens_remote_models(serve: Serve) -> None:
    with load("remote:m", Options(base_url=serve(answer).url)) as model:
        assert model.info.id == "remote:m"
        assert model.complete([Prompt("x =", 1)])[0].text == " 1"


def test_a_server_is_refused_before_it_is_asked_where_completions_must_be_exact(serve: Serve) -> None:
    script = serve()
    with pytest.raises(ModelError, match="not exact"):
        load("remote:m", Options(base_url=script.url, exact=True))
    assert not script.requests
