"""Small real HTTP servers on a loopback port, with scripted answers."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Handler(BaseHTTPRequestHandler):
    """Handles one request: a scripted answer gets it, and controls the connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ScriptServer
    body: dict[str, Any]
    """The body of the current request; `script.requests` has the requests of all connections."""

    @property
    def script(self) -> Script:
        return self.server.script

    def do_GET(self) -> None:
        self.script.lists += 1
        if self.script.models is None:
            self.reply(404, {"detail": "Not Found"})
        else:
            self.reply(200, {"object": "list", "data": [{"id": name} for name in self.script.models]})

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.script.lock:
            self.script.requests.append((self.path, self.body, dict(self.headers)))
            at = min(len(self.script.requests), len(self.script.answers)) - 1
        try:
            self.script.answers[at](self)
        except (BrokenPipeError, ConnectionResetError):
            self.script.left.set()

    def reply(self, status: int, body: object, kind: str | None = "application/json", **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        if kind is not None:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def start_stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()

    def send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.shutdown(socket.SHUT_RD)
        self.connection.close()

    def wait_until_left(self, seconds: float = 200.0) -> None:
        """Stay silent until the client closes the connection."""
        self.connection.settimeout(seconds)
        try:
            if self.connection.recv(1) == b"":
                self.script.left.set()
        except ConnectionResetError:
            self.script.left.set()
        except TimeoutError:
            pass
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


AnswerStep = Callable[[Handler], None]


@dataclass
class Script:
    """The answers of a server in turn, of which the last one repeats, and the requests that it got."""

    answers: list[AnswerStep]
    models: list[str] | None = None
    url: str = ""
    requests: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    lists: int = 0
    left: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


class ScriptServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    script: Script

    def handle_error(self, request: object, client_address: object) -> None:
        """Broken connections are expected in these tests."""


@contextmanager
def serving(*answers: AnswerStep, models: list[str] | None = None) -> Iterator[Script]:
    """A server with these answers in turn, while the context lasts; `models`: the models that it lists."""
    server = ScriptServer(("127.0.0.1", 0), Handler)
    server.script = Script(list(answers), models)
    server.script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.script
    finally:
        server.shutdown()
        server.server_close()


Serve = Callable[..., Script]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts servers like `serving`, until the end of the test."""
    with ExitStack() as stack:
        yield lambda *answers, models=None: stack.enter_context(serving(*answers, models=models))
