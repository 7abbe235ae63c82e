"""Each hostile program is really run in every back end, is contained, leaves nothing, and is forgotten."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from counterlens.sandbox import registry
from counterlens.sandbox.base import Ending, Job, JobOutcome, Limits, Sandbox
from tests.sandbox.hostile.programs import ALLOWED_IN_A_WIDE_ROOM, ENDLESS, NEEDS, PROGRAMS

USABLE = [back_end.name for back_end in registry.available() if back_end.usable]
MARK = "a-very-private-value"


@dataclass
class World:
    """The targets of the programs' attacks, all of them real."""

    folder: Path
    port: int
    abstract: str
    bystander: subprocess.Popen[bytes]
    connected: list[str] = field(default_factory=list)

    @property
    def names(self) -> dict[str, object]:
        return {
            "victim": str(self.folder / "victim"), "outside": str(self.folder), "port": self.port,
            "secret": str(self.folder / "secret"), "socket": str(self.folder / "socket"),
            "abstract": self.abstract, "datagrams": str(self.folder / "datagrams"),
            "parent": os.getpid(), "bystander": self.bystander.pid,
            "real_home": str(Path.home()), "token": MARK,
        }  # fmt: skip

    def state(self) -> object:
        """Files with their contents, and the bystander's health."""
        files = {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}
        places = ("/tmp", "/dev/shm", "/var/tmp", str(Path.home()))  # noqa: S108
        strays = [p for place in places for p in Path(place).glob("*escaped*")]
        return files, strays, self.bystander.poll()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("outside")
    (folder / "victim").write_text("original")
    (folder / "secret").write_text("treasure")
    abstract = f"counterlens-test-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))),
            stack.enter_context(socket.socket(socket.AF_UNIX)),
            stack.enter_context(socket.socket(socket.AF_UNIX)),
        ]
        letters = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        letters.bind(str(folder / "datagrams"))
        servers[1].bind(str(folder / "socket"))
        servers[2].bind("\0" + abstract)
        waiting = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        made = World(folder, servers[0].getsockname()[1], abstract, waiting)

        def accept(server: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, address = server.accept()
                    made.connected.append(str(address))
                    connection.close()

        for server in servers:
            server.listen()
            threading.Thread(target=accept, args=(server,), daemon=True).start()
        with socket.create_connection(("127.0.0.1", made.port), 5):
            pass  # from here it can be reached
        while not made.connected:
            pass
        made.connected.clear()
        before = os.environ.get("SOME_TOKEN")
        os.environ["SOME_TOKEN"] = MARK
        yield made
        os.environ.pop("SOME_TOKEN") if before is None else None
        for server in servers:
            server.close()
        waiting.communicate(b"\n")


@pytest.fixture(scope="module", params=USABLE)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return registry._create(request.param)


def run(sandbox: Sandbox, program: str, seconds: float, memory: int = 512, processes: int = 0) -> JobOutcome:
    limits = Limits(seconds=seconds, cpu_seconds=2, memory_bytes=memory << 20, processes=processes)
    return sandbox.run(
        Job({"program.py": program.encode()}, "program.py", Path(sys.executable), limits=limits)
    )


@pytest.fixture(scope="module")
def settled(sandbox: Sandbox) -> set[int]:
    """The processes that belong to the sandbox itself, once it has been used."""
    run(sandbox, "pass", 20)
    return {child.pid for child in psutil.Process().children(recursive=True)}


@pytest.mark.parametrize("processes", [0, 64], ids=["closed", "wide"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_contained_and_leaves_nothing(
    sandbox: Sandbox, settled: set[int], world: World, name: str, processes: int
) -> None:
    held = dict(sandbox.guarantees)
    for what, names in NEEDS.items():
        if name in names and not held[what]:
            pytest.skip(f"{sandbox.name} does not isolate {what} on this machine")
    before = world.state()
    source = textwrap.dedent(PROGRAMS[name])
    if "{" in source and name not in ENDLESS:
        with contextlib.suppress(KeyError, IndexError, ValueError):
            source = source.format(**world.names)
    compile(source, name, "exec")
    memory = 128 if name == "deep recursion" else 512  # so that its memory ends before its time
    outcome = run(sandbox, source, 0.5 if name in ENDLESS else 60.0, memory, processes)
    output = outcome.output.replace(b"ESCAPED fork\n", b"") if processes else outcome.output
    if not processes or name not in ALLOWED_IN_A_WIDE_ROOM:
        assert b"ESCAPED" not in output, outcome
    assert b"SyntaxError" not in outcome.errors
    assert b"KeyError" not in outcome.errors
    assert b"NameError" not in outcome.errors
    if name != "deep recursion":  # a crash or the end of its time, as the machine has it
        assert (outcome.ending is Ending.TIMED_OUT) == (name in ENDLESS), outcome
    assert max(len(outcome.output), len(outcome.errors), len(outcome.result)) <= 1 << 16
    assert world.state() == before
    assert world.connected == []
    clean = run(sandbox, "import os, json; print(sorted(os.listdir('.')), len(json.dumps(1)))", 20)
    assert (clean.output, clean.code) == (b"['program.py'] 1\n", 0), clean
    assert not _left(settled, world)


def _left(settled: set[int], world: World) -> list[psutil.Process]:
    """What is left after some seconds: a copy of the interpreter that is just getting ready is not."""
    ends = time.monotonic() + 60
    while True:
        found = [one for one in psutil.Process().children(recursive=True) if _is_left(one, settled, world)]
        if not found or time.monotonic() > ends:
            return found
        time.sleep(0.02)


def _is_left(child: psutil.Process, settled: set[int], world: World) -> bool:
    """Whether a process is none of the sandbox's own; copies of its interpreter that wait for work are."""
    if child.pid in settled or child.pid == world.bystander.pid:
        return False
    with contextlib.suppress(psutil.Error):
        above = child.parents()
        return not any(parent.pid in settled for parent in above) or child.status() == psutil.STATUS_RUNNING
    return False


def test_there_are_enough_of_them() -> None:
    assert len(PROGRAMS) >= 40
    assert set().union(*NEEDS.values()) <= set(PROGRAMS)
