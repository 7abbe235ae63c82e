"""Observe the network calls of a process and its children, as the kernel sees them (strace)."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pytest_lsp import LanguageClient, make_test_lsp_client

from tests.lsp.conftest import initialize, watch

# Every way to reach an address: connections, and datagrams such as a look-up of a name.
_TRACE = "trace=connect,sendto,sendmsg,sendmmsg,bind"
_INTERNET = re.compile(r"sa_family=AF_INET6?, .*?(?:sin6?_port=htons\((\d+)\)).*?\"([0-9a-f.:]+)\"")


def strace(log: Path) -> list[str]:
    """The beginning of a command that records another command's network calls in a file."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed")
    return [found, "-f", "--seccomp-bpf", "-e", _TRACE, "-o", str(log)]


def addresses(log: Path) -> set[tuple[str, int]]:
    """The internet addresses and ports in a file that `strace` wrote."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    internet = [line for line in lines if "AF_INET" in line]
    matches = [_INTERNET.search(line) for line in internet]
    unread = [line for line, match in zip(internet, matches, strict=True) if match is None]
    assert not unread, unread
    return {(match[2], int(match[1])) for match in matches if match}


@asynccontextmanager
async def watched_server(log: Path, settings: dict[str, Any]) -> AsyncIterator[LanguageClient]:
    """A client of a real server whose network calls are recorded from start to end."""
    client = make_test_lsp_client()
    watch(client)
    command = [*strace(log), sys.executable, "-m", "counterlens", "serve", "--stdio"]
    await client.start_io(*command)
    try:
        await client.initialize_session(initialize(settings=settings))
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()  # type: ignore[no-untyped-call]
