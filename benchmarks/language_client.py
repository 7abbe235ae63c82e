"""A language server in its own process, and its client, for benchmarks."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from typing import Any

import psutil
from lsprotocol import types
from pygls.lsp.client import LanguageClient

UNCERTAINTY = {"diagnostics": {"enabled": True}, "overlay": {"calm": False, "granularity": "leaf"}}
"""Settings that show all uncertainty: the calm default may colour nothing."""
NO_LIMIT = 6000
"""Processor seconds per minute with which idle work never waits."""
SLACK = 6
"""Lines at either end of a screen that may be blank, or belong to a unit with no code on the screen."""


class Client:
    """A server in a separate process, and its notifications."""

    def __init__(self, client: LanguageClient, process: psutil.Process) -> None:
        self.client, self.process = client, process
        self.scored: set[tuple[str, int]] = set()
        self.grown: list[str] = []
        self.states: list[str] = []

    @classmethod
    async def start(cls, *command: str, idle_seconds: float = NO_LIMIT) -> Client:
        """Start a server with its own cache, and initialise the session.

        Args:
            idle_seconds: The setting `counterlens.scoring.idleSecondsPerMinute`.
        """
        client = LanguageClient("benchmark", "1")
        cache = tempfile.mkdtemp(prefix="counterlens-benchmark-")
        before = set(psutil.Process().children())
        await client.start_io(sys.executable, *command, env={**os.environ, "XDG_CACHE_HOME": cache})
        (process,) = set(psutil.Process().children()) - before
        self = cls(client, process)

        @client.feature("counterlens/scoresChanged")
        def _scored(params: Any) -> None:
            self.scored.add((params.uri, params.version))
            self.grown.append(params.uri)

        @client.feature("counterlens/partlyScored")
        def _partly(params: Any) -> None:
            self.grown.append(params.uri)

        @client.feature("counterlens/status")
        def _status(params: Any) -> None:
            self.states.append(params.state)

        @client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def _refresh(_params: None) -> None:
            return None

        able = types.ClientCapabilities(
            text_document=types.TextDocumentClientCapabilities(
                diagnostic=types.DiagnosticClientCapabilities()
            ),
            workspace=types.WorkspaceClientCapabilities(
                diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
            ),
        )
        options = {"settings": UNCERTAINTY | {"scoring": {"idleSecondsPerMinute": idle_seconds}}}
        await client.initialize_async(
            types.InitializeParams(capabilities=able, initialization_options=options)
        )
        client.initialized(types.InitializedParams())
        return self

    def open(self, uri: str, text: str) -> None:
        """Open a document."""
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(self, uri: str, version: int, text: str) -> None:
        """Change the text of a document."""
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=version, uri=uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def until_scored(self, uri: str, version: int) -> None:
        """Wait for the scores of a version."""
        while (uri, version) not in self.scored:
            await asyncio.sleep(0.01)

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        """Request the hover at a position."""
        place = types.Position(line, character)
        return await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), place)
        )

    async def pull(self, uri: str) -> Any:
        """The diagnostics of a document."""
        return await self.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        )

    async def state(self, uri: str) -> tuple[Any, Any]:
        """Everything shown for a document: the spans of the overlay, and the diagnostics."""
        found = await self.client.protocol.send_request_async(
            "counterlens/overlay", {"textDocument": {"uri": uri}}
        )
        spans = [
            (span.range.start, span.range.end, span.level, span.confidence, span.kind) for span in found.spans
        ]
        marks = [(one.range, one.message) for one in (await self.pull(uri)).items]
        return spans, marks

    async def until_coloured(self, uri: str, first: int, last: int) -> None:
        """Request some lines until every line with code is coloured."""
        place = types.Range(types.Position(first, 0), types.Position(last, 0))
        params = {"textDocument": {"uri": uri}, "range": place}
        while True:
            before = len(self.grown)
            found = await self.client.protocol.send_request_async("counterlens/overlay", params)
            coloured = [span.range.start.line for span in found.spans]
            if coloured and min(coloured) <= first + SLACK and max(coloured) >= last - SLACK:
                return
            while len(self.grown) == before:
                await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Shut the server down."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()
