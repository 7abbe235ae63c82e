"""What a program and its descendants use together, and whether that exceeds the limits of a wide room.

Sampled from `/proc`, see proc(5), by the supervisor, whose descendants they are. Nothing is counted by the
kernel here, so a program may exceed a limit for as long as it takes until the next look. A bound of the
kernel's behind it is twice as wide; and of a machine that is out of memory, the kernel ends such a program
before any other process.
"""

from __future__ import annotations

import os
import time

from counterlens.sandbox.task import WALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from counterlens.sandbox.task import SandboxTask

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_BUSY = b"R"  # the state of a thread that runs, or waits for a processor
_PAUSE, _SHARE = 0.02, 20  # seconds between two looks, at least; and in multiples of what a look takes
_SCARCE = 10  # the part of the machine's memory that has to be available is one in so many
INODE = 4096  # bytes of the private folder for which it may hold one file


def can_watch() -> None:
    """Check that descendants can be found here.

    Raises:
        OSError: this kernel, or the `/proc` here, does not tell them.
    """
    own = os.readlink("/proc/self")  # noqa: PTH115
    _read(f"/proc/self/task/{own}/children")


class ProgramUsage:
    """Watches the descendants of the calling process.

    Raises:
        OSError: they cannot be found here.
    """

    def __init__(self, task: SandboxTask) -> None:
        self._task = task
        self._own = os.readlink("/proc/self")  # noqa: PTH115
        self._begun = self._last = time.monotonic()
        self._idle = 0.0
        self._available = _available()[0]
        self.pause = _PAUSE
        """Seconds until the next look is worth its cost."""

    def exceeded_limit(self) -> str | None:
        """Look once: the name of a limit that is exceeded, if one is."""
        now = time.monotonic()
        if now - self._last < self.pause:
            return None
        waited, self._last = now - self._last, now
        name = self._look(waited)
        self.pause = max(_PAUSE, _SHARE * (time.monotonic() - now))
        return name

    def _look(self, waited: float) -> str | None:
        task, threads, resident, busy = self._task, 0, 0, False
        times = os.times()
        processor = times.children_user + times.children_system
        processes = _descendants(self._own)
        for process, names in processes:
            try:
                fields = _fields(f"/proc/{process}/stat")
                resident += int(_read(f"/proc/{process}/statm").split()[1]) * _PAGE
            except OSError:  # it has just ended
                continue
            threads += len(names)
            processor += sum(map(int, fields[11:15])) / _TICKS
            busy = busy or fields[0] == _BUSY or (len(names) > 1 and _any_busy(process, names))
        self._idle += 0.0 if busy else waited
        if resident > task.memory and _shared_fairly(processes, resident) > task.memory:
            return "memory"
        if threads > task.processes:
            return "processes"
        if _written(task.folder, task.disk):
            return "disk"
        if processor > task.cpu_seconds:
            return "processor"
        if self._idle > task.seconds or self._last - self._begun > WALL * task.seconds:
            return "time"
        available, total = _available()
        scarce = available < total // _SCARCE and self._available - available > task.memory
        return "machine" if scarce else None


def _descendants(ancestor: str) -> list[tuple[str, list[str]]]:
    """The process ids, each with the ids of its threads, below a process, which is not among them."""
    tree: list[tuple[str, list[str]]] = []
    waiting = [ancestor]
    while waiting:
        process = waiting.pop()
        try:
            names = os.listdir(f"/proc/{process}/task")  # noqa: PTH208
            for name in names:
                waiting += _read(f"/proc/{process}/task/{name}/children").decode().split()
        except OSError:  # it, or one of its threads, has just ended; its children are found the next time
            continue
        if process != ancestor:
            tree.append((process, names))
    return tree


def _any_busy(process: str, threads: list[str]) -> bool:
    for thread in threads:
        try:
            if _fields(f"/proc/{process}/task/{thread}/stat")[0] == _BUSY:
                return True
        except OSError:
            continue
    return False


def _shared_fairly(processes: list[tuple[str, list[str]]], resident: int) -> int:
    """Bytes in memory, where a page of several processes counts once; `resident` if that is not told."""
    share = 0
    for process, _ in processes:
        try:
            rows = _read(f"/proc/{process}/smaps_rollup").splitlines()
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            continue
        except OSError:
            return resident
        share += sum(int(row.split()[1]) << 10 for row in rows if row.startswith(b"Pss:"))
    return share


def _written(folder: str, most: int) -> bool:
    """Whether the file system of a folder holds more bytes, or more files, than it may."""
    state = os.statvfs(folder)
    used = (state.f_blocks - state.f_bfree) * state.f_frsize
    return used > most or state.f_files - state.f_ffree > 64 + most // INODE


def _available() -> tuple[int, int]:
    """Bytes of memory that programs could still have, and all bytes of memory."""
    rows = dict(row.split(b":") for row in _read("/proc/meminfo").splitlines())
    available, total = (int(rows[name].split()[0]) << 10 for name in (b"MemAvailable", b"MemTotal"))
    return available, total


def _fields(path: str) -> list[bytes]:
    """The fields of a `stat` file, from the state on; the name before it may contain anything."""
    return _read(path).rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()
