"""Starts every process of Counterlens, so that no code of the folder that a command runs in gets into it.

`tests/test_architecture.py` refuses other ways to start one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from counterlens.environment import closed_environment, outside_project

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

OWN_FOLDER = Path(sys.base_prefix)
"""The current folder of processes that need none: the interpreter's, from which code is loaded anyway."""
_STARTED: WeakSet[subprocess.Popen[bytes]] = WeakSet()


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def python(*arguments: str) -> list[str]:
    """The command that starts our Python without the current folder in its search path."""
    return [sys.executable, "-P", *(["-s"] if sys.flags.no_user_site else []), *arguments]


def bare_python(program: str) -> list[str]:
    """The command that runs a program in our Python with the standard library alone."""
    return [sys.executable, "-I", "-S", "-c", program]


def start(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a process.

    Args:
        command: The absolute path of a program, and its arguments.
        environment: The whole environment; by default a closed one.
        options: Other options of `subprocess.Popen`.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(_check(command), env=_whole(environment), **options)
    _STARTED.add(process)
    return process


def start_lasting(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Start a process that is needed for longer than the calling thread.

    One that dies with its parent dies with the thread that started it, so a lasting thread starts it.
    """
    return _starter(os.getpid()).submit(start).result()


@lru_cache(maxsize=1)
def _starter(_process: int) -> ThreadPoolExecutor:
    """The lasting thread; a forked process gets its own."""
    from concurrent.futures import ThreadPoolExecutor  # most commands start no such process

    return ThreadPoolExecutor(1, "counterlens-starter")


def kill_children() -> None:
    """Kill all processes that `start` has started and that still run: also one that is stopped ends."""
    for process in list(_STARTED):
        if process.poll() is None:
            process.kill()


def run(
    command: Sequence[str],
    *,
    seconds: float,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end.

    Args:
        command: The absolute path of a program, and its arguments.
        seconds: The time limit.
        cwd: Its current folder.
        environment: The whole environment; by default a closed one.
        given: What it reads from its standard input.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it failed, or reached the time limit.
    """
    return subprocess.run(
        _check(command),
        cwd=cwd,
        env=_whole(environment),
        timeout=seconds,
        capture_output=True,
        check=True,
        input=given,
    )


def find_program(name: str) -> str | None:
    """The path of a program in the folders of `PATH` that are outside of the current project."""
    suffix = ".exe" if sys.platform == "win32" else ""
    paths = [Path(folder) / f"{name}{suffix}" for folder in outside_project(os.get_exec_path())]
    return next((str(path) for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def _whole(environment: Mapping[str, str] | None) -> dict[str, str]:
    return closed_environment() if environment is None else dict(environment)


def _check(command: Sequence[str]) -> list[str]:
    if not Path(command[0]).is_absolute():
        raise OSError(f"{command[0]} is not the path of a program")
    return [*command]
