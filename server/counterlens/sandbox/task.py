"""Wire form of a `Job`, read by the launcher before anything is confined."""

from __future__ import annotations

import marshal
import os
import struct

READY = b"ready"
"""What a zygote sends when it can take jobs."""
WALL = 60
"""How many times the time without work a program may take in all."""
_HEAD = struct.Struct("<Q")
_VERSION = 4  # version of the marshal encoding, which older and newer interpreters than ours also read


class SandboxTask:
    """A job's fields, without the files, which are sent after them; sizes are in bytes."""

    def __init__(
        self,
        *,
        python: str,
        program: list[str],
        environment: dict[str, str],
        folder: str,
        readable: list[str],
        writable: list[str],
        covers: list[tuple[str, bytes]],
        seconds: float,
        cpu_seconds: float,
        memory: int,
        processes: int,
        open_files: int,
        file_size: int,
        disk: int,
        result: int,
        status: int,
        given: int = -1,
    ) -> None:
        self.python = python
        self.program = program
        self.environment = environment
        self.folder = folder
        self.readable = readable
        self.writable = writable
        self.covers = covers  # pairs of a file's path and the content that programs see there
        self.seconds = seconds
        self.cpu_seconds = cpu_seconds
        self.memory = memory
        self.processes = processes
        self.open_files = open_files
        self.file_size = file_size
        self.disk = disk
        self.result = result
        self.status = status
        self.given = given  # a pipe that is standard input of the program; -1 for none

    @property
    def wide(self) -> bool:
        """Whether the program runs in a wide room; see `Limits`."""
        return self.processes > 0


def encode(task: SandboxTask, files: dict[str, bytes]) -> bytes:
    """The encoded task, then the encoded files, each after its length."""
    parts = [marshal.dumps(part, _VERSION) for part in (vars(task), files)]
    return b"".join(_HEAD.pack(len(part)) + part for part in parts)


def read_task() -> SandboxTask:
    """The task from standard input; ends the process if there is none."""
    return SandboxTask(**marshal.loads(_part()))  # noqa: S302 - from our parent


def read_files() -> dict[str, bytes]:
    """The files from standard input."""
    files: dict[str, bytes] = marshal.loads(_part())  # noqa: S302 - from our parent
    return files


def _part() -> bytes:
    (size,) = _HEAD.unpack(_read(_HEAD.size))
    return _read(size)


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(0, min(size - len(data), 1 << 20))
        if not chunk:
            os._exit(0)  # the parent closed the pipe before it sent everything
        data += chunk
    return bytes(data)
