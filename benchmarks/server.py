"""Does the language server stay quick while the model works? Measured with a real client over stdio.

    python benchmarks/server.py [--quick]

- `hover_p95`: the 95th percentile of the time that a hover takes while the model is scoring a long file, over
  that of a server that answers every hover with a constant, asked in turns with ours beside the same model.
- `slowest_over_model`: the slowest request during a burst of edits (200 in 20 seconds, a hover and a pull of
  diagnostics after each), over the time that scoring the whole file takes. Had one waited for the model, this
  would be near 1 or above.
After the burst, the server's scores and diagnostics have to equal those of a server that was never shown any
other version; that is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable
from typing import Any

import psutil
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.lsp.server import LanguageServer

FUNCTION = '''
def area_{i}(width, height):
    """The area of a frame of {i} tiles."""
    total = width * height
    for tile in range({i}):
        if tile % 2 == 0:
            total -= tile
    return total
'''
HEADER = '"""Frames."""\n\nimport math\n'
PERIOD = 0.1  # seconds from one edit to the next


class Client:
    """A server in a process of its own, and what it says."""

    def __init__(self, client: LanguageClient, process: psutil.Process) -> None:
        self.client, self.process = client, process
        self.scored: set[tuple[str, int]] = set()
        self.states: list[str] = []

    @classmethod
    async def start(cls, *command: str) -> Client:
        """Start a server with a cache of its own, and greet it."""
        client = LanguageClient("benchmark", "1")
        cache = tempfile.mkdtemp(prefix="counterlens-benchmark-")
        before = set(psutil.Process().children())
        await client.start_io(sys.executable, *command, env={**os.environ, "XDG_CACHE_HOME": cache})
        (process,) = set(psutil.Process().children()) - before
        self = cls(client, process)

        @client.feature("counterlens/scoresChanged")
        def _scored(params: Any) -> None:
            self.scored.add((params.uri, params.version))

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
        await client.initialize_async(types.InitializeParams(capabilities=able))
        client.initialized(types.InitializedParams())
        return self

    def open(self, uri: str, text: str) -> None:
        """Open a document."""
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(self, uri: str, version: int, text: str) -> None:
        """Give a document a new text."""
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
        """Hover over a place."""
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
        """All that is shown of a document: the spans of the overlay, and the diagnostics."""
        found = await self.client.protocol.send_request_async(
            "counterlens/overlay", {"textDocument": {"uri": uri}}
        )
        spans = [
            (span.range.start, span.range.end, span.level, span.confidence, span.kind) for span in found.spans
        ]
        marks = [(one.range, one.message) for one in (await self.pull(uri)).items]
        return spans, marks

    async def stop(self) -> None:
        """Take leave."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


async def timed(request: Awaitable[object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    await request
    return time.perf_counter() - start


def p95(times: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(times, n=20)[-1]


def frames(count: int, first: int = 0) -> str:
    """A file of so many functions."""
    return HEADER + "\n".join(FUNCTION.format(i=i) for i in range(first, first + count))


async def hover_while_busy(count: int) -> tuple[float, dict[str, float]]:
    """Our hovers and those of a server that does nothing, in turns, while our model scores a long file."""
    ours = await Client.start("-m", "counterlens", "serve", "--stdio")
    null = await Client.start(__file__, "--null-server")
    short, long = "file:///frames.py", "file:///long.py"
    ours.open(short, frames(3))
    await ours.until_scored(short, 1)
    ours.open(long, frames(240, first=1000))
    while ours.states[-1] != "scoring":
        await asyncio.sleep(0.01)
    niceness = model_niceness(ours.process)
    line = frames(3).splitlines().index("    total = width * height")
    answer = await ours.hover(short, line, 12)
    assert answer is not None
    assert "least certain" in str(answer.contents), answer
    mine, base = [], []
    for turn in range(count):
        mine.append(await timed(ours.hover(short, line, 4 + turn % 20)))
        base.append(await timed(null.hover(short, line, 4)))
        await asyncio.sleep(0.01)
    assert (long, 1) not in ours.scored, "the model was not busy to the end: the long file is too short"
    await ours.stop()
    await null.stop()
    facts = {"ours_p95_ms": 1e3 * p95(mine), "null_p95_ms": 1e3 * p95(base), "niceness": niceness}
    return p95(mine) / p95(base), facts


async def burst(edits: int) -> tuple[float, dict[str, float]]:
    """Edits ten times a second while scoring is on; then the state against that of a fresh server."""
    uri, text = "file:///burst.py", frames(20)
    ours = await Client.start("-m", "counterlens", "serve", "--stdio")
    ours.open("file:///warm.py", "x = 1\n")
    await ours.until_scored("file:///warm.py", 1)
    start = time.perf_counter()
    ours.open(uri, text)
    await ours.until_scored(uri, 1)
    whole = time.perf_counter() - start
    times: list[float] = []
    began = time.perf_counter()
    for version in range(2, edits + 2):
        function = (7 * version) % 20
        marker = f'of {function} tiles."""'
        text = text.replace(marker, f'of {function} tiles."""\n    width += {version}', 1)
        ours.edit(uri, version, text)
        times.append(await timed(ours.hover(uri, 6, 14)))
        times.append(await timed(ours.pull(uri)))
        await asyncio.sleep(max(0.0, began + PERIOD * (version - 1) - time.perf_counter()))
    took = time.perf_counter() - began
    await ours.until_scored(uri, edits + 1)
    settled = time.perf_counter() - began - took
    after = await ours.state(uri)
    await ours.stop()

    fresh = await Client.start("-m", "counterlens", "serve", "--stdio")
    fresh.open(uri, text)
    await fresh.until_scored(uri, 1)
    anew = await fresh.state(uri)
    await fresh.stop()
    assert after[0], "nothing was scored"
    assert after == anew, "after the edits the state differs from that of a fresh open"
    facts = {
        "edits": edits,
        "seconds": took,
        "requests": len(times),
        "request_p95_ms": 1e3 * p95(times),
        "request_max_ms": 1e3 * max(times),
        "full_score_s": whole,
        "settled_after_s": settled,
        "spans_equal_to_fresh": len(after[0]),
    }
    return max(times) / whole, facts


def model_niceness(server: psutil.Process) -> int:
    """By how much the model's process gives way to the server's."""
    workers = [
        child for child in server.children() if any("llama.worker" in part for part in child.cmdline())
    ]
    return int(workers[0].nice()) - int(server.nice())


def null_server() -> None:
    """A server that answers every hover with a constant."""
    server = LanguageServer("null", "1")

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _hover(_params: types.HoverParams) -> types.Hover:
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "nothing"))

    server.start_io()


async def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--null-server", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    hover_ratio, hover_facts = await hover_while_busy(150 if options.quick else 400)
    burst_ratio, burst_facts = await burst(50 if options.quick else 200)
    facts = hover_facts | burst_facts
    ratios = {"hover_p95": hover_ratio, "slowest_over_model": burst_ratio}
    for name, value in (ratios | facts).items():
        print(f"{name:22} {value:10.3f}")
    rounded = {name: round(value, 3) for name, value in ratios.items()}
    print(
        json.dumps(
            {
                "benchmark": "server",
                "quick": options.quick,
                "ratios": rounded,
                "final_state_equal": True,
                **{name: round(value, 3) for name, value in facts.items()},
            }
        )
    )


if __name__ == "__main__":
    if "--null-server" in sys.argv:
        null_server()
    else:
        asyncio.run(main())
