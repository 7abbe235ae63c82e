"""A server without an open file: no model, no sandbox, little memory."""

from __future__ import annotations

import psutil
from pytest_lsp import LanguageClient

from tests.lsp.conftest import until

MEGABYTES = 250  # about three times what it needs: a model, or the packages of the evaluation, would be more


async def test_nothing_is_loaded_before_a_file_is_open(own_client: LanguageClient) -> None:
    client = own_client
    await until(lambda: bool(client.statuses))  # type: ignore[attr-defined]
    assert client._server is not None
    server = psutil.Process(client._server.pid)
    assert server.children(recursive=True) == []
    assert server.memory_info().rss < MEGABYTES << 20
    needless = ("hypothesis", "scipy", "llama_cpp", "datasets", "pandas")
    loaded = {place.path for place in server.memory_maps()}
    assert not [path for path in loaded if any(f"/site-packages/{name}" in path for name in needless)]
