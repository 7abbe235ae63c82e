"""Each hostile program is really run, is contained and leaves nothing; none is judged passed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from counterlens.java.judging.bench import BENCHES
from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.judging.base import Judgement, Setting, Verdict, lasting
from counterlens.sandbox import registry
from tests.judging.java.conftest import Judged
from tests.judging.java.hostile import PROGRAMS, source

RIGHT = "class Solution { int total(int a, int b) { return a + b; } }"
TESTS = """
class Main {
    public static void main(String[] args) throws Exception {
        if (!Integer.valueOf(3).equals(new Solution().total(1, 2))) {
            throw new AssertionError("not three");
        }
    }
}
"""
UNCOMPILED = {"a package of the worker", "a source without a bottom"}
MARK = "a-very-private-value"


@dataclass
class World:
    """The targets of the programs' attacks, all of them real."""

    folder: Path
    server: socket.socket
    bystander: subprocess.Popen[bytes]

    def filled(self, program: str) -> str:
        """A program with the names of what it attacks."""
        names = {
            "SECRET": self.folder / "secret", "OUTSIDE": self.folder, "TOKEN": MARK, "DEEP": "-~" * 20_000,
            "PORT": self.server.getsockname()[1], "BYSTANDER": self.bystander.pid,
        }  # fmt: skip
        for name, value in names.items():
            program = program.replace(f"@{name}@", str(value))
        return program

    def state(self) -> object:
        """Files with their contents, connections, and the bystander's health."""
        try:
            self.server.accept()[0].close()
            reached = True
        except BlockingIOError:
            reached = False
        files = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        return files, reached, self.bystander.poll()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Files, a server and a process."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret").write_text("treasure")
    os.environ["COUNTERLENS_TOKEN"] = MARK
    waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        subprocess.Popen(waiting, stdin=subprocess.PIPE) as bystander,
    ):
        server.setblocking(False)
        yield World(folder, server, bystander)
        bystander.kill()
    del os.environ["COUNTERLENS_TOKEN"]


def judged_in(back_end: str, program: str, seconds: float = 1.0) -> Verdict:
    """The verdict on a program in one back end."""
    setting = Setting(registry._create(back_end), Path(sys.executable), lasting(seconds))
    return JavaTestsJudge(TESTS, None, setting).judge(program)


STRONG = [back_end.name for back_end in registry.available() if back_end.strength == "strong"]


@pytest.mark.skipif(not STRONG, reason="no sandbox here is strong")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_is_contained_and_not_passed(world: World, name: str) -> None:
    back_end = STRONG[list(PROGRAMS).index(name) % len(STRONG)]
    before = world.state()
    verdict = judged_in(back_end, world.filled(PROGRAMS[name]))
    assert not verdict.passed, verdict
    assert (verdict.judgement is Judgement.INVALID) == (name in UNCOMPILED)
    assert world.state() == before
    again = judged_in(back_end, RIGHT, seconds=20.0)  # a busy machine is no verdict
    assert again.passed, again


def test_nothing_is_left(world: World) -> None:
    judged_in(STRONG[0], world.filled(PROGRAMS["threads that stay"]))
    BENCHES.close()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        mine = psutil.Process().children(recursive=True)
        left = [each for each in mine if "counterlens.worker" in " ".join(_command(each))]
        if not left:
            return
        time.sleep(0.05)
    raise AssertionError(left)


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


_AT_MOST = 60.0  # seconds; usually one or two


def test_machines_end_with_a_parent_that_is_killed() -> None:
    script = (
        "import sys, time; from pathlib import Path\n"
        "from counterlens.judging.base import LIMITS, Setting\n"
        "from counterlens.java.judging.judge import JavaTestsJudge\n"
        "from counterlens.sandbox.registry import best_sandbox\n"
        "setting = Setting(best_sandbox(), Path(sys.executable), LIMITS)\n"
        f"assert JavaTestsJudge({TESTS!r}, None, setting).judge({RIGHT!r}).passed\n"
        "print('judged', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"judged\n"
        deadline = time.monotonic() + _AT_MOST
        started, machines = list[psutil.Process](), 0
        while machines < 2 and time.monotonic() < deadline:  # the compiler, and the next one
            started = psutil.Process(parent.pid).children(recursive=True)
            machines = sum("counterlens.worker" in " ".join(_command(each)) for each in started)
        assert machines >= 2
        parent.kill()
    _, alive = psutil.wait_procs(started, timeout=_AT_MOST)  # with their launchers
    assert alive == []


def test_a_program_alone_does_not_slow_the_others(verdict: Judged) -> None:
    started = time.monotonic()
    assert not verdict(source("new Thread(() -> { while (true) { } }).start(); return 0;"), TESTS).passed
    between = time.monotonic()
    assert verdict(RIGHT, TESTS).passed
    assert time.monotonic() - between < 5 + 5 * (between - started)
