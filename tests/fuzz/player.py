"""A user who does random things in random order, and the invariants that must hold."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import psutil

from tests.fuzz.text import Text
from tests.fuzz.wire import Json, Wire

PATIENCE = 900.0  # maximum seconds for an answer; a busy machine is not a failure
KILL_EVERY = 150  # steps from one death of the model process to the next
START = '''\
"""A module."""

import math


def area(width, height):
    if width > height:
        return width
    return width * height
'''
CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"diagnostics": {"refreshSupport": True}, "executeCommand": {}},
    "textDocument": {"diagnostic": {}, "hover": {"contentFormat": ["markdown"]}},
}
ASKED = (
    "textDocument/hover", "textDocument/codeAction", "textDocument/codeLens", "textDocument/diagnostic",
    "textDocument/inlayHint", "counterlens/overlay", "counterlens/tree",
)  # fmt: skip
SETTINGS: tuple[Any, ...] = (
    {}, {"overlay": {"granularity": "token"}}, {"overlay": {"granularity": "leaf"}},
    {"inlayHints": {"enabled": True}},
    {"diagnostics": {"enabled": False}}, {"diagnostics": {"perHundredLines": 50}},
    {"diagnostics": {"ignoredConcepts": ["operators"]}}, {"overlay": {"granularity": 7}}, {"overlay": None},
    {"threads": -1}, {"diagnostics": {"perHundredLines": "many"}}, [], None, "x", {"unknown": {"a": 1}},
)  # fmt: skip


def greet(wire: Wire) -> None:
    """Begin a session."""
    wire.ask("initialize", {"processId": None, "rootUri": None, "capabilities": CAPABILITIES})
    wire.notify("initialized", {})


class Player:
    """A random user of one server.

    Args:
        wire: The server.
        random: Decides all actions, apart from time.
    """

    def __init__(self, wire: Wire, random: Random) -> None:
        self.wire, self.random = wire, random
        self.documents: dict[str, Text] = {}
        self.done: Counter[str] = Counter()
        self.memory: list[int] = []  # samples of the server's memory in bytes, without its children
        self.asked: dict[int, tuple[str, str, int]] = {}  # method, document, its version at the time
        self._actions: tuple[tuple[int, Callable[[], None]], ...] = (
            (50, self.edit), (20, self.look), (6, self.open), (4, self.close), (8, self.cancel),
            (4, self.configure), (5, self.nonsense), (3, self.wait),
        )  # fmt: skip

    def play(self, steps: int) -> None:
        """Take a number of steps.

        Raises:
            AssertionError: the server died, or its output is not a message.
        """
        greet(self.wire)
        weights = [weight for weight, _ in self._actions]
        for step in range(steps):
            _, action = self.random.choices(self._actions, weights)[0]
            action()
            self.done[action.__name__] += 1
            if step % KILL_EVERY == KILL_EVERY - 1:
                self.kill_models()
            if step % 50 == 0:
                self.keep_up()
                self.memory.append(self.wire.process.memory_info().rss)
            assert self.wire.alive, f"the server died after {step} steps"
            assert not self.wire.broken, self.wire.broken

    def keep_up(self) -> None:
        """Wait until all but the newest requests have their answers, as an editor would."""
        for number in [one for one in self.asked if one not in self.wire.answers][:-20]:
            self.wire.answer(number, PATIENCE)

    def edit(self) -> None:
        if not self.documents:
            self.open()
            return
        uri = self.random.choice(list(self.documents))
        document = self.documents[uri]
        change = document.edited(self.random)
        self.wire.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": document.version}, "contentChanges": [change]},
        )

    def look(self) -> None:
        uri = self.random.choice([*self.documents, "file:///not-open.py"])
        document = self.documents.get(uri, Text("x"))
        at = document.position(document.place(self.random))
        method = self.random.choice(ASKED)
        params = {
            "textDocument": {"uri": uri}, "position": at, "range": {"start": at, "end": at},
            "context": {"diagnostics": []},
        }  # fmt: skip
        self.asked[self.wire.request(method, params)] = (method, uri, document.version)

    def open(self) -> None:
        kind = self.random.choice(["py", "py", "java", "txt"])
        uri = f"file:///fuzz/module_{self.random.randint(0, 5)}.{kind}"
        if uri in self.documents:
            return
        language = {"py": "python", "java": "java"}.get(uri.rpartition(".")[2], "plaintext")
        self.documents[uri] = document = Text(START if self.random.random() < 0.8 else "")
        item = {"uri": uri, "languageId": language, "version": 1, "text": document.text}
        self.wire.notify("textDocument/didOpen", {"textDocument": item})

    def close(self) -> None:
        if len(self.documents) > 1:
            uri = self.random.choice(list(self.documents))
            del self.documents[uri]
            self.wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def cancel(self) -> None:
        waiting = [number for number in self.asked if number not in self.wire.answers]
        number = self.random.choice([*waiting, 10**9])
        self.wire.notify("$/cancelRequest", {"id": number})

    def configure(self) -> None:
        settings = {"counterlens": self.random.choice(SETTINGS)}
        self.wire.notify("workspace/didChangeConfiguration", {"settings": settings})

    def wait(self) -> None:
        time.sleep(self.random.random() * 0.2)

    def nonsense(self) -> None:
        """Send an invalid message."""
        uri = self.random.choice(
            [*self.documents, "untitled:1", "", "file:///%zz", "https://example.org/x.py"]
        )
        far = {"line": 10**9, "character": 10**9}
        below = {"line": -1, "character": -5}
        change = {"range": {"start": far, "end": below}, "text": "x"}
        self.random.choice(
            (
                lambda: self.wire.say_bytes(b"{not json"),
                lambda: self.wire.say_bytes(b"[]"),
                lambda: self.wire.say_bytes(b"null"),
                lambda: self.wire.say_bytes(b"\xff\xfe{}"),
                lambda: self.wire.say_bytes(b'{"jsonrpc": "2.0"}', b"X-Odd: 1\r\n"),
                lambda: self.wire.say({"method": "no/such/notification", "params": {"a": [1]}}),
                lambda: self._answered("no/such/request", {}),
                lambda: self._answered("textDocument/hover", None),
                lambda: self._answered("textDocument/hover", {"textDocument": {"uri": 7}, "position": "x"}),
                lambda: self._answered("textDocument/hover", {"textDocument": {"uri": uri}, "position": far}),
                lambda: self._answered(
                    "textDocument/hover", {"textDocument": {"uri": uri}, "position": below}
                ),
                lambda: self._answered("counterlens/overlay", {}),
                lambda: self._answered("counterlens/tree", {"textDocument": {"uri": uri}, "level": "x"}),
                lambda: self._answered("workspace/executeCommand", {"command": "counterlens.probe"}),
                lambda: self._answered(
                    "workspace/executeCommand",
                    {"command": "counterlens.probe", "arguments": [{"uri": uri}, 3]},
                ),
                lambda: self._answered(
                    "workspace/executeCommand", {"command": "rm -rf", "arguments": [None]}
                ),
                lambda: self.wire.notify("textDocument/didChange", {"textDocument": {"uri": uri}}),
                lambda: self.wire.notify(
                    "textDocument/didChange",
                    {
                        "textDocument": {"uri": "file:///not-open.py", "version": 3},
                        "contentChanges": [change],
                    },
                ),
                lambda: self.wire.notify("textDocument/didClose", {"textDocument": {"uri": "file:///no.py"}}),
                lambda: self.wire.say({"id": 10**12, "result": {"nobody": "asked"}}),
            )
        )()

    def _answered(self, method: str, params: Any) -> None:
        self.asked[self.wire.request(method, params)] = (method, "", 0)

    def kill_models(self) -> None:
        """Kill the model processes in the middle of their work, for which edits are made."""
        self.edit()
        ends = time.monotonic() + PATIENCE
        while not (running := self.wire.models()) and time.monotonic() < ends:
            self.edit()
            time.sleep(0.3)
        for process in running:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
                self.done["kill_models"] += 1

    def check_answers(self) -> None:
        """Check that every request has an answer, about at least the version at the time of the request.

        Raises:
            AssertionError: a request has no answer, or an answer is stale.
        """
        for number, (method, uri, version) in self.asked.items():
            try:
                found = self.wire.answer(number, PATIENCE)
            except TimeoutError as error:
                raise AssertionError(f"{method} on {uri}, version {version}: {error}") from error
            result = found.get("result")
            if method in ("counterlens/overlay", "counterlens/tree") and isinstance(result, dict) and uri:
                known = result["version"]
                assert known == -1 or known >= version, f"{method}: asked at {version}, answered for {known}"


def shown(wire: Wire, documents: dict[str, Text]) -> dict[str, dict[str, Any]]:
    """Everything that a server shows for its documents, once all are scored.

    Raises:
        TimeoutError: a document is not scored in time.
    """
    state = {}
    for uri, document in sorted(documents.items()):
        ends = time.monotonic() + PATIENCE
        while True:
            overlay = wire.ask("counterlens/overlay", {"textDocument": {"uri": uri}})
            if overlay["version"] == document.version and overlay["state"] != "scoring":
                break
            if time.monotonic() > ends:
                raise TimeoutError(f"{uri} is still {overlay['state']} at version {overlay['version']}")
            time.sleep(0.2)
        marks = wire.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
        tree = wire.ask("counterlens/tree", {"textDocument": {"uri": uri}})
        state[uri] = {
            "state": overlay["state"], "reason": overlay["reason"], "spans": overlay["spans"],
            "diagnostics": marks, "tree": tree,
        }  # fmt: skip
    return state
