"""A client that can also send invalid messages: it writes bytes, and keeps all answers."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil

Json = dict[str, Any]


class Wire:
    """A server in a process of its own, with a cache of its own.

    Args:
        folder: The folder of its cache and its log.
    """

    def __init__(self, folder: Path) -> None:
        self.log = folder / "server.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "counterlens", "serve", "--stdio"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
            )
        self.process = psutil.Process(self._process.pid)
        self.sent: dict[int, float] = {}
        self.answers: dict[int, Json] = {}
        self.broken = ""  # why the server's output is not a message; empty if it is
        self._ids = itertools.count(1)
        self._writing = threading.Lock()
        self._arrived = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def request(self, method: str, params: Any) -> int:
        number = next(self._ids)
        self.sent[number] = time.monotonic()
        self.say({"id": number, "method": method, "params": params})
        return number

    def notify(self, method: str, params: Any) -> None:
        self.say({"method": method, "params": params})

    def say(self, message: Json) -> None:
        self.say_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def say_bytes(self, body: bytes, headers: bytes = b"") -> None:
        self.say_anything(b"Content-Length: %d\r\n%b\r\n%b" % (len(body), headers, body))

    def say_anything(self, data: bytes) -> None:
        """Send bytes that need not be a message."""
        with self._writing:
            assert self._process.stdin is not None
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def answer(self, number: int, patience: float) -> Json:
        """The answer to a request.

        Raises:
            TimeoutError: there is none within `patience` seconds.
        """
        with self._arrived:
            if not self._arrived.wait_for(lambda: number in self.answers or not self.alive, patience):
                raise TimeoutError(f"request {number} has no answer after {patience:.0f} s")
            return self.answers[number]

    def ask(self, method: str, params: Any, patience: float = 120.0) -> Any:
        """The result of a request.

        Raises:
            TimeoutError: there is none within `patience` seconds.
            AssertionError: the answer is an error.
        """
        found = self.answer(self.request(method, params), patience)
        assert "error" not in found, found
        return found["result"]

    def models(self) -> list[psutil.Process]:
        """The processes of the models."""
        found = []
        for one in self.process.children(recursive=True):
            try:
                if "counterlens.models.llama" in " ".join(one.cmdline()):
                    found.append(one)
            except psutil.Error:  # the process has just ended
                continue
        return found

    def close(self) -> int:
        """Shut the server down as the protocol requires; returns the exit code."""
        if self.alive:
            self.ask("shutdown", None)
            self.notify("exit", None)
        return self._process.wait(30)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            while True:
                length = -1
                while (line := stream.readline().strip()) != b"" or length < 0:
                    if not line:
                        return  # the end of the stream
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                self._take(json.loads(stream.read(length)))
        except (ValueError, AssertionError) as error:
            self.broken = repr(error)
        finally:
            with self._arrived:
                self._arrived.notify_all()

    def _take(self, message: Json) -> None:
        if "method" in message:
            if "id" in message:  # a request of the server, which the client accepts
                self.say({"id": message["id"], "result": None})
            return
        with self._arrived:
            self.answers[message.get("id")] = message  # type: ignore[index]  # null: the answer to an unreadable message
            self._arrived.notify_all()
