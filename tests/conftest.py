"""What many tests share: the embedded model, and a real HTTP server (llama-cpp-python's) that serves it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from counterlens.errors import ModelError
from counterlens.models import load
from counterlens.models.files import embedded_model
from counterlens.models.llama.model import LlamaModel

START_UP = 60.0  # seconds that the server has until it answers


@dataclass(frozen=True)
class ModelServer:
    """A running OpenAI-compatible server: its base URL, the name of its model, its log so far."""

    base_url: str
    model: str
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")


@pytest.fixture(scope="session")
def model() -> Iterator[LlamaModel]:
    """The embedded model, loaded once."""
    with load("smollm2-135m") as loaded:
        assert isinstance(loaded, LlamaModel)
        yield loaded


@pytest.fixture(scope="session")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """The embedded model behind `http://127.0.0.1:PORT/v1`, with the completions and the chat API."""
    pytest.importorskip("llama_cpp.server.app", reason="llama-cpp-python[server] is not installed")
    try:
        file = embedded_model()
    except ModelError as error:
        pytest.skip(str(error))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log_file = tmp_path_factory.mktemp("model-server") / "log.txt"
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(file), "--model_alias", "smollm2"]
    command += [
        "--port",
        str(port),
        "--n_ctx",
        "2048",
        "--n_threads",
        "1",
    ]  # two would wait for each other on a busy machine
    command += ["--interrupt_requests", "false"]  # otherwise a second request ends the first one early
    server = ModelServer(f"http://127.0.0.1:{port}/v1", "smollm2", log_file)
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        _wait_until_up(process, server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], server: ModelServer) -> None:
    deadline = time.monotonic() + START_UP
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                pytest.fail(f"the model server ended with {process.returncode}:\n{server.log[-2000:]}")
            try:
                if client.get(f"{server.base_url}/models").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
    pytest.fail(f"the model server did not answer within {START_UP:g} s:\n{server.log[-2000:]}")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Answers that a user's models gave before must not answer for the ones under test."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before
