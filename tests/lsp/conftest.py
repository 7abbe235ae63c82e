"""A real client over stdio, and a server with a real model: usually the short one.

Starting a server costs more than most tests, so tests share one, which `fresh` resets. Tests on the start,
the end or the environment of a server have one of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from counterlens.models import files
from counterlens.models.files import EMBEDDED_MODEL
from tests.conftest import short_model

CONFIG = ClientServerConfig(server_command=[sys.executable, "-m", "counterlens", "serve", "--stdio"])


UNCERTAINTY: dict[str, Any] = {
    "diagnostics": {"enabled": True},
    "overlay": {"calm": False, "granularity": "leaf"},
}
"""Settings that show all uncertainty, like the command of that name; the default shows less."""


def default_model() -> str:
    """The model of tests that do not name one: a short one, since most tests need no particular answer."""
    return own_model()


def own_model() -> str:
    """The short model by a name of this process's own: another's probes are not counted as its."""
    shared = short_model()
    own = shared.with_stem(f"{shared.stem}-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}")
    if not own.exists():
        own.hardlink_to(shared)
    return str(own)


@pytest.fixture
def embedded_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the embedded model the default: for tests that need a trained model."""
    monkeypatch.setattr("tests.lsp.conftest.default_model", lambda: EMBEDDED_MODEL)


def brief(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with a model, without waits for idle time, and with probes of short answers, however long."""
    probe = {"maxTokens": 16, "budget": 0, **settings.get("probe", {})}
    scoring = {"idleSecondsPerMinute": 6000, **settings.get("scoring", {})}
    return {"model": default_model(), **settings, "probe": probe, "scoring": scoring}


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

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def _registered(_params: types.RegistrationParams) -> None:
        """Files are watched by the tests themselves."""

    client.lens_refreshes = 0  # type: ignore[attr-defined]

    @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def _refresh(_params: None) -> None:
        client.lens_refreshes += 1  # type: ignore[attr-defined]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests of this folder in one event loop, that of the shared servers."""
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path.parent) == here and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


async def begin_session(client: LanguageClient, said: types.InitializeParams) -> None:
    """Begin a session that is ready for `fresh`."""
    watch(client)
    client.open_documents = set()  # type: ignore[attr-defined]
    did_open = client.text_document_did_open

    def note(params: types.DidOpenTextDocumentParams) -> None:
        client.open_documents.add(params.text_document.uri)  # type: ignore[attr-defined]
        did_open(params)

    client.text_document_did_open = note  # type: ignore[method-assign]
    client.own_features = set(client.protocol.fm.features)  # type: ignore[attr-defined]
    client.first_settings = said.initialization_options["settings"]  # type: ignore[attr-defined,index]
    await client.initialize_session(said)


@asynccontextmanager
async def fresh(client: LanguageClient) -> AsyncIterator[LanguageClient]:
    """A client of a shared server for one test, after which documents are closed and settings reset.

    What earlier tests counted of the model is forgotten: one that has failed often is not offered.
    """
    for kind in ("short", "long"):
        files.note("editor-completions.json", f"{own_model()} {kind}", "")
    await until(lambda: bool(client.statuses))  # type: ignore[attr-defined]
    del client.statuses[:-1]  # type: ignore[attr-defined] # a new server has said how it is, too
    client.scored.clear()  # type: ignore[attr-defined]
    client.partly.clear()  # type: ignore[attr-defined]
    client.lens_refreshes = client.diagnostic_refresh_count = 0  # type: ignore[attr-defined]
    for seen in (client.diagnostics, client.messages, client.shown_documents, client.progress_reports):
        seen.clear()
    yield client
    for uri in client.open_documents:  # type: ignore[attr-defined]
        document = types.TextDocumentIdentifier(uri)
        client.text_document_did_close(types.DidCloseTextDocumentParams(document))
    client.open_documents.clear()  # type: ignore[attr-defined]
    configure(client, **client.first_settings)  # type: ignore[attr-defined]
    features = client.protocol.fm.features
    for added in set(features) - client.own_features:  # type: ignore[attr-defined]
        del features[added]
    # What it still had to say of the test comes before this answer.
    await client.workspace_execute_command_async(
        types.ExecuteCommandParams("counterlens.runs", [{"uri": "", "folders": []}])
    )


@pytest_lsp.fixture(config=CONFIG, scope="session")
async def shared_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin_session(lsp_client, initialize({"model": own_model()}))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, scope="session")
async def shared_embedded_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin_session(lsp_client, initialize({"model": EMBEDDED_MODEL}))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, scope="session")
async def shared_plain_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin_session(lsp_client, initialize({"model": own_model()}, showsResults=False))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, scope="session")
async def shared_untrusted_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin_session(lsp_client, initialize({"model": own_model()}, trusted=False))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, loop_scope="session")
async def own_client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """A client of a server that no other test has."""
    watch(lsp_client)
    await lsp_client.initialize_session(initialize())
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def _shared(request: pytest.FixtureRequest) -> LanguageClient:
    """The shared client whose server has the default model of the test."""
    embedded = "embedded_by_default" in request.fixturenames
    found = request.getfixturevalue("shared_embedded_client" if embedded else "shared_client")
    assert isinstance(found, LanguageClient)
    return found


@pytest_asyncio.fixture(loop_scope="session")
async def client(_shared: LanguageClient) -> AsyncIterator[LanguageClient]:
    async with fresh(_shared) as one:
        yield one


@pytest_asyncio.fixture(loop_scope="session")
async def untrusted_client(shared_untrusted_client: LanguageClient) -> AsyncIterator[LanguageClient]:
    async with fresh(shared_untrusted_client) as one:
        yield one


@pytest_asyncio.fixture(loop_scope="session")
async def plain_client(
    shared_plain_client: LanguageClient, request: pytest.FixtureRequest
) -> AsyncIterator[LanguageClient]:
    async with fresh(shared_plain_client) as one:
        if "embedded_by_default" in request.fixturenames:
            configure(one)
        yield one


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


def model_process(client: LanguageClient) -> psutil.Process | None:
    """The child process with the model of a client's server; None if there is none."""
    assert client._server is not None
    for child in psutil.Process(client._server.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may have ended
            if "counterlens.models.llama.worker" in child.cmdline():
                return child
    return None


@contextmanager
def model_waiting(client: LanguageClient) -> Iterator[psutil.Process]:
    """Pause the server's model, so that the state before its answer can be inspected."""
    model = model_process(client)
    assert model is not None
    model.suspend()
    try:
        yield model
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            model.resume()
