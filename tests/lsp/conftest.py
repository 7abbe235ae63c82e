"""A real client over stdio, and a server with a real model: usually the embedded model's first layers."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from counterlens.models.registry import DEFAULT_MODEL
from tests.conftest import short_model

CONFIG = ClientServerConfig(server_command=[sys.executable, "-m", "counterlens", "serve", "--stdio"])


UNCERTAINTY: dict[str, Any] = {
    "diagnostics": {"enabled": True},
    "overlay": {"calm": False, "granularity": "leaf"},
}
"""Settings that show all uncertainty, like the command of that name; the default shows less."""


def default_model() -> str:
    """The model of tests that do not name one: a short one, since most tests need no particular answer."""
    return str(short_model())


@pytest.fixture
def embedded_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the embedded model the default: for tests that need a trained model."""
    monkeypatch.setattr("tests.lsp.conftest.default_model", lambda: DEFAULT_MODEL)


def brief(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with a model and short answers in probes: longer ones do not add to a test."""
    return {"model": default_model(), **settings, "probe": {"maxTokens": 16, **settings.get("probe", {})}}


def uncertain(**settings: Any) -> dict[str, Any]:
    """Settings, in addition to all uncertainty."""
    beside = {key: UNCERTAINTY[key] | settings.get(key, {}) for key in UNCERTAINTY}
    return {**settings, **beside}


def initialize(settings: dict[str, Any] | None = None, **options: Any) -> types.InitializeParams:
    """The first message of a client with all capabilities."""
    said = {"showsResults": True, "trusted": True, "settings": brief(settings or {}), **options}
    return types.InitializeParams(
        capabilities=client_capabilities("visual-studio-code"), initialization_options=said
    )


def watch(client: LanguageClient) -> None:
    """Record the server's notifications."""
    client.statuses = []  # type: ignore[attr-defined]
    client.scored = []  # type: ignore[attr-defined]

    @client.feature("counterlens/status")
    def _status(params: Any) -> None:
        client.statuses.append(params)  # type: ignore[attr-defined]

    @client.feature("counterlens/scoresChanged")
    def _scored(params: Any) -> None:
        client.scored.append((params.uri, params.version))  # type: ignore[attr-defined]

    client.partly = []  # type: ignore[attr-defined]

    @client.feature("counterlens/partlyScored")
    def _partly(params: Any) -> None:
        client.partly.append((params.uri, params.version))  # type: ignore[attr-defined]

    client.lens_refreshes = 0  # type: ignore[attr-defined]

    @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def _refresh(_params: None) -> None:
        client.lens_refreshes += 1  # type: ignore[attr-defined]


@pytest_lsp.fixture(config=CONFIG)
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    watch(lsp_client)
    await lsp_client.initialize_session(initialize())
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG)
async def untrusted_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    watch(lsp_client)
    await lsp_client.initialize_session(initialize(trusted=False))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG)
async def plain_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    watch(lsp_client)
    await lsp_client.initialize_session(initialize(showsResults=False))
    yield
    await lsp_client.shutdown_session()


def configure(client: LanguageClient, **settings: Any) -> None:
    """Change the settings, with short answers in probes."""
    said = {"counterlens": brief(settings)}
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(said))


def show_uncertainty(client: LanguageClient) -> None:
    """Show all uncertainty."""
    configure(client, **UNCERTAINTY)


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition holds.

    Raises:
        AssertionError: it does not within `seconds`.
    """
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the server did not get there in time")


def open_file(
    client: LanguageClient, path: Path, text: str, version: int = 1, language: str = "python"
) -> str:
    """Open a document as an editor does, and return its URI."""
    path.write_text(text, encoding="utf-8", newline="")
    uri = path.as_uri()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, version, text))
    )
    return uri


async def scored(client: LanguageClient, uri: str, version: int = 1) -> None:
    """Wait until a version of a document has been scored."""
    await until(lambda: (uri, version) in client.scored)  # type: ignore[attr-defined]


def model_process() -> psutil.Process | None:
    """The server's child process with the model; None if there is none."""
    servers: set[int] = set()
    for child in psutil.Process().children(recursive=True):  # parents come before their children
        with contextlib.suppress(psutil.Error):  # it may have ended
            command = child.cmdline()
            if "serve" in command:
                servers.add(child.pid)
            elif child.ppid() in servers and "counterlens.models.llama.worker" in command:
                return child
    return None


@contextmanager
def model_waiting() -> Iterator[psutil.Process]:
    """Pause the server's model, so that the state before its answer can be inspected."""
    model = model_process()
    assert model is not None
    model.suspend()
    try:
        yield model
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            model.resume()
