"""A stand-in for the Hugging Face hub: it sends sizes and hashes, redirects, and sends parts of files."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """The server.

    Args:
        files: The contents of its files, by path.
        told: Hashes that it sends instead of the right ones, by path.
        breaks_at: Number of bytes of a file after which the first connection ends.
    """

    daemon_threads = True

    def __init__(
        self, files: dict[str, bytes], told: dict[str, str] | None = None, breaks_at: int | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.told, self.breaks_at = files, told or {}, breaks_at
        self.asked: list[tuple[str, str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        place, _, path = self.path.partition("/resolve/main/")
        data = self.server.files.get(f"{place.removeprefix('/cdn').strip('/')}/{path}")
        if data is None:
            self.send_error(404)
        elif place.startswith("/cdn"):
            self._give(data)
        else:
            self._lead(data)

    def _lead(self, data: bytes) -> None:
        sha256 = self.server.told.get(self.path) or hashlib.sha256(data).hexdigest()
        self.send_response(302)
        self.send_header("Location", f"/cdn{self.path}")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("X-Linked-Size", str(len(data)))
        self.send_header("X-Linked-Etag", f'"{sha256}"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _give(self, data: bytes) -> None:
        ranged = self.headers.get("Range", "")
        start = int(ranged.removeprefix("bytes=").rstrip("-")) if ranged else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        if self.command != "GET":
            return
        if self.server.breaks_at is not None:
            end, self.server.breaks_at = self.server.breaks_at, None
            self.wfile.write(data[start:end])
            self.close_connection = True
            return
        self.wfile.write(data[start:])

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def hub(
    files: dict[str, bytes], told: dict[str, str] | None = None, breaks_at: int | None = None
) -> Iterator[Hub]:
    """A running server, while the context lasts."""
    server = Hub(files, told, breaks_at)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":  # for the end-to-end tests: NAME=PATH for each file
    named = (argument.partition("=") for argument in sys.argv[1:])
    with hub({name: Path(path).read_bytes() for name, _, path in named}) as running:
        sys.stdout.write(json.dumps({"url": running.url}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
