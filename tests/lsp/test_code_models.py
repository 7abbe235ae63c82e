"""Code models that are offered by name: how fast they would be, and fetching one through the editor."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
import pytest_lsp
from pytest_lsp import ClientServerConfig, LanguageClient

from counterlens.models.files import EMBEDDED_MODEL, EMBEDDED_SHA256, note
from counterlens.models.speed import ModelSpeed
from tests.conftest import short_model
from tests.lsp.conftest import initialize, watch
from tests.lsp.test_tasks import ask

ROOT = Path(__file__).parents[2]
ID = "deepseek-coder-1.3b"  # its official hash is not known here, so any file may take its place
NAME = "TheBloke/deepseek-coder-1.3b-base-GGUF/deepseek-coder-1.3b-base.Q4_K_M.gguf"


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.models.hub_server", f"{NAME}={short_model()}"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["url"])
        process.kill()


CONFIG = ClientServerConfig(server_command=[sys.executable, "-m", "counterlens", "serve", "--stdio"])


@pytest_lsp.fixture(config=CONFIG, loop_scope="session")
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    watch(lsp_client)
    await lsp_client.initialize_session(initialize())
    yield
    await lsp_client.shutdown_session()


@pytest.fixture(autouse=True)
def surroundings(hub: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Before the server is started, which has them from here."""
    patch = pytest.MonkeyPatch()
    patch.setenv("HF_ENDPOINT", hub)
    patch.setenv("HF_HUB_CACHE", str(tmp_path_factory.mktemp("hub")))
    # In tests/e2e, the editor has it measured.
    note("model-speeds.json", EMBEDDED_SHA256, msgspec.json.encode(ModelSpeed(30, 90, 0.5, 10**8)).decode())
    yield
    patch.undo()


async def test_models_are_listed_with_their_speed_and_fetched(client: LanguageClient) -> None:
    listing = await ask(client, "counterlens.codeModels", "", measure=True)
    speeds = [one.speed for one in listing.models]
    assert speeds == sorted(speeds, reverse=True)  # the smallest first
    assert all(speed > 0 for speed in speeds)
    (wanted,) = (one for one in listing.models if one.id == ID)
    assert not wanted.path
    assert listing.byDefault == EMBEDDED_MODEL

    fetched = await ask(client, "counterlens.fetchModel", "", id=wanted.id)
    assert fetched.ok, fetched.error
    assert Path(fetched.path).read_bytes()[:4] == b"GGUF"
    again = await ask(client, "counterlens.codeModels", "")
    assert [one.path for one in again.models if one.id == wanted.id] == [fetched.path]

    refused = await ask(client, "counterlens.fetchModel", "", id="none")
    assert not refused.ok
    assert "no offered model none" in refused.error
    missing = await ask(client, "counterlens.fetchModel", "", id="qwen2.5-coder-3b")
    assert "the hub does not provide Qwen/Qwen2.5-Coder-3B" in missing.error
