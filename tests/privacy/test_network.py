"""Nothing leaves the machine unless a remote model was chosen, and then only to its address."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from counterlens.sandbox.registry import best_sandbox
from tests.conftest import ModelServer
from tests.lsp.conftest import open_file, scored
from tests.lsp.test_server import hover_text, position_of, probe
from tests.privacy.watching import addresses, strace, watched_server

SOURCE = '''def sign(x):
    """The sign of x.

    >>> sign(3), sign(-2)
    (1, -1)
    """
    if x < 0:
        return -1
    else:
        return 1
'''


@pytest.fixture(autouse=True)
def sandbox_is_tried() -> None:
    """Try the sandbox's claims now: at the first use of a sandbox, its programs try this machine's ports."""
    best_sandbox()


async def _probed(client: LanguageClient, uri: str) -> Any:
    return await probe(client, {"uri": uri, "position": {"line": 0, "character": 4}})


async def _lensed(client: LanguageClient, uri: str) -> None:
    """Ask for code lenses until there are some: what can be asked is counted in the background."""
    asked = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    for _ in range(600):
        if await client.text_document_code_lens_async(asked):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("there are no code lenses")


async def test_with_the_embedded_model_no_address_is_reached(tmp_path: Path) -> None:
    log = tmp_path / "strace.log"
    async with watched_server(log, {"probe": {"maxTokens": 8}}) as client:
        uri = open_file(client, tmp_path / "sign.py", SOURCE)
        await scored(client, uri)
        assert "least certain" in await hover_text(client, uri, position_of(SOURCE, "< 0"))
        await _lensed(client, uri)
        assert "operand-swap" in (await _probed(client, uri)).report
    text = log.read_text(encoding="utf-8", errors="replace")
    assert (
        text.count("+++ exited with") > 3
    )  # the server, its model, the sandbox and its programs were watched
    assert addresses(log) == set()


async def test_with_a_remote_model_only_its_address_is_reached(
    short_model_server: ModelServer, tmp_path: Path
) -> None:
    log = tmp_path / "strace.log"
    server = short_model_server
    remote = {"baseUrl": server.base_url, "model": server.model, "api": "completions"}
    settings = {"model": "remote", "remote": remote, "probe": {"maxTokens": 8}}
    async with watched_server(log, settings) as client:
        uri = open_file(client, tmp_path / "sign.py", SOURCE)
        assert "operand-swap" in (await _probed(client, uri)).report
    port = urlsplit(server.base_url).port
    assert addresses(log) == {("127.0.0.1", port)}


def test_the_watch_sees_connections_and_datagrams_of_children(tmp_path: Path) -> None:
    log = tmp_path / "strace.log"
    child = (
        "import socket\n"
        "for family, kind, host in ((2, 1, '127.0.0.1'), (10, 1, '::1'), (2, 2, '127.0.0.2')):\n"
        "    with socket.socket(family, kind) as one:\n"
        "        try: one.sendto(b'', (host, 9)) if kind == 2 else one.connect((host, 9))\n"
        "        except OSError: pass\n"
    )
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    subprocess.run([*strace(log), sys.executable, "-c", program], check=True)
    assert addresses(log) == {("127.0.0.1", 9), ("::1", 9), ("127.0.0.2", 9)}
