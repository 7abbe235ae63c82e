"""A client for the language server of a test, and fixtures that start one.

A pytest plug-in for that would be imported by every interpreter that waits for judged programs, since their
tests may use the plug-ins that are installed beside Counterlens: it took a third of its start.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import pytest_asyncio
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls import exceptions
from pygls.lsp import client as pygls_client

_EDITOR = Path(__file__).with_name("visual_studio_code.json")
_REPORTS = {
    "begin": types.WorkDoneProgressBegin,
    "report": types.WorkDoneProgressReport,
    "end": types.WorkDoneProgressEnd,
}
_HARMLESS = {
    exceptions.JsonRpcMethodNotFound,
    exceptions.FeatureRequestError,
    exceptions.FeatureNotificationError,
}
"""Errors after which the session goes on."""


class LanguageClient(pygls_client.LanguageClient):
    """A client that keeps what the server sends.

    Attributes:
        capabilities: What it told the server that it can do; None before the session.
        diagnostics: The last diagnostics, by document.
        diagnostic_refresh_count: The number of requests to read the diagnostics again.
        messages: The messages shown to the user.
        progress_reports: The reports of progress, by token.
        shown_documents: The documents that the server asked to show.
    """

    def __init__(self) -> None:
        super().__init__("counterlens-tests", "1")
        self.capabilities: types.ClientCapabilities | None = None
        self.diagnostics: dict[str, Sequence[types.Diagnostic]] = {}
        self.diagnostic_refresh_count = 0
        self.messages: list[types.ShowMessageParams] = []
        self.progress_reports: dict[types.ProgressToken, list[Any]] = {}
        self.shown_documents: list[types.ShowDocumentParams] = []
        self._failure: Exception | None = None
        self._errors: asyncio.Task[None] | None = None

    async def start_io(self, cmd: str, *arguments: str, **options: Any) -> None:
        """Start a server; what it writes to standard error is shown with the test."""
        await super().start_io(cmd, *arguments, **options)
        self._errors = asyncio.create_task(self._show_errors())

    async def stop(self) -> None:
        """Wait for the end of the server."""
        await super().stop()
        if self._errors is not None:
            self._errors.cancel()

    async def _show_errors(self) -> None:
        assert self._server is not None
        assert self._server.stderr is not None
        async for line in self._server.stderr:
            sys.stderr.write(line.decode(errors="replace"))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Let the test fail; after what is no message of the protocol, also those who wait for an answer."""
        self._failure = self._failure or error
        if source in _HARMLESS:
            return
        for waiting in self.protocol._request_futures.values():
            if not waiting.done():
                waiting.set_exception(RuntimeError(f"{source.__name__}: {error}"))
        if self._server is not None:
            self._server.terminate()

    def check(self) -> None:
        """Raise what was wrong with the server's messages since the last check."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def initialize_session(self, said: types.InitializeParams) -> types.InitializeResult:
        """Begin the session."""
        self.capabilities = said.capabilities
        said.process_id = said.process_id or os.getpid()
        answer = await self.initialize_async(said)
        self.initialized(types.InitializedParams())
        return answer

    async def shutdown_session(self) -> None:
        """End the session and wait for the end of the server."""
        self.check()
        await self.shutdown_async(None)
        self.exit(None)
        if self._server is not None:
            await self._server.wait()


def make_client() -> LanguageClient:
    """A client that is not yet connected."""
    client = LanguageClient()

    @client.feature(types.WORKSPACE_CONFIGURATION)
    def _configuration(said: types.ConfigurationParams) -> list[None]:
        return [None for _ in said.items]

    @client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
    def _refresh(_said: None) -> None:
        client.diagnostic_refresh_count += 1

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def _diagnostics(said: types.PublishDiagnosticsParams) -> None:
        client.diagnostics[said.uri] = said.diagnostics

    @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
    def _create(said: types.WorkDoneProgressCreateParams) -> None:
        client.progress_reports.setdefault(said.token, [])

    @client.feature(types.PROGRESS)
    def _progress(said: types.ProgressParams) -> None:
        report = client.protocol._converter.structure(said.value, _REPORTS[said.value["kind"]])
        client.progress_reports.setdefault(said.token, []).append(report)

    @client.feature(types.WINDOW_LOG_MESSAGE)
    def _log(_said: types.LogMessageParams) -> None:
        """The server's log is for people."""

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def _message(said: types.ShowMessageParams) -> None:
        client.messages.append(said)

    @client.feature(types.WINDOW_SHOW_DOCUMENT)
    def _show(said: types.ShowDocumentParams) -> types.ShowDocumentResult:
        client.shown_documents.append(said)
        return types.ShowDocumentResult(success=True)

    return client


Session = Callable[..., AsyncIterator[None]]


@dataclass(frozen=True)
class ServerCommand:
    """How a server is started: its command, and its environment if it is not that of the tests."""

    command: Sequence[str]
    environment: Mapping[str, str] | None = None


def client_fixture(
    server: ServerCommand, **options: Any
) -> Callable[[Callable[..., AsyncIterator[None]]], Any]:
    """A fixture that gives a client of a new server, from a generator that begins and ends its session.

    Args:
        server: How the server is started.
        options: As for other asynchronous fixtures.
    """
    if "scope" in options:
        options["loop_scope"] = options["scope"]

    def decorate(session: Session) -> Any:
        own = next(name for name, kind in get_type_hints(session).items() if kind is LanguageClient)

        @pytest_asyncio.fixture(**options)
        async def fixture(request: pytest.FixtureRequest) -> AsyncIterator[LanguageClient]:
            client = make_client()
            await client.start_io(*server.command, env=server.environment)
            others = [name for name in inspect.signature(session).parameters if name != own]
            given = {name: request.getfixturevalue(name) for name in others}
            running = session(**given, **{own: client})
            await anext(running)
            yield client
            async for _ in running:
                raise AssertionError("a session has one beginning and one end")
            await client.stop()

        return fixture

    return decorate


def editor_capabilities() -> types.ClientCapabilities:
    """What Visual Studio Code 1.65 says that it can do."""
    said = json.loads(_EDITOR.read_text())
    return get_converter().structure(said, types.InitializeParams).capabilities
