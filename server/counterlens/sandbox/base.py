"""Interface of every sandbox: run one untrusted Python program under limits and report the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from counterlens.sandbox.serving import Conversation


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a program, and the room that it runs in.

    A *closed* room, with `processes` 0, is for a program that only computes: it starts no process, has no
    socket but pairs, and the kernel answers what exceeds a limit with an error. A *wide* room is like a plain
    process: the program may start processes, use a loopback network of its own, and have memory, files and
    descriptors in any shape. Its limits hold for all its processes together; exceeding one ends it, and
    `JobOutcome.refusals` says so.

    Attributes:
        seconds: Closed: wall-clock time. Wide: time in which none of its threads computes or wants to, so
            that a busy machine takes nothing from it; and a sixtieth of the wall-clock time.
        cpu_seconds: Processor time; closed: of one process, in whole seconds, rounded up.
        memory_bytes: Closed: address space of one process. Wide: resident memory.
        processes: 0 for a closed room; else the number of processes and threads.
        open_files: File descriptors of a process; a wide room has those of a plain process.
        file_bytes: Size of a file that it writes; in a wide room only `disk_bytes` counts.
        disk_bytes: Size of all files that it writes, if the sandbox guarantees `disk`.
        output_bytes: Bytes kept each of standard output, standard error and the result; the rest is dropped.
    """

    seconds: float = 10.0
    cpu_seconds: float = 10
    memory_bytes: int = 1 << 30
    processes: int = 0
    open_files: int = 64
    file_bytes: int = 16 << 20
    disk_bytes: int = 64 << 20
    output_bytes: int = 1 << 16

    @property
    def wide(self) -> bool:
        """Whether the program runs in a wide room."""
        return self.processes > 0


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run.

    Attributes:
        files: Relative path to content; written to a private directory, which is the working directory and
            is removed after the program. Home and temporary directory are beside it.
        entry: The file that runs as `__main__`.
        arguments: Its `sys.argv[1:]`.
        readable: Directories that the program may read besides the interpreter's own and its private one,
            such as the user's project.
        preload: Modules that a warm interpreter for such jobs imports in advance.
        cold_files: Further files of a program that no warm interpreter runs: the modules that such a one has
            imported with `preload`.
        covers: Outside files that the program sees with this content instead of their own, if the sandbox
            has a mount namespace. Files that do not exist are not created.
        writable: Directories among the readable ones that the program may also change in a wide room; the
            changes are in a private layer, and are gone after the program.
    """

    files: Mapping[str, bytes]
    entry: str
    python: Path
    arguments: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()
    limits: Limits = field(default_factory=Limits)
    preload: tuple[str, ...] = ()
    cold_files: Mapping[str, bytes] = field(default_factory=dict)
    covers: Mapping[Path, bytes] = field(default_factory=dict)
    writable: tuple[Path, ...] = ()

    def cold(self) -> Job:
        """The same job for an interpreter without the preloaded modules."""
        return replace(self, files={**self.cold_files, **self.files}, cold_files={})


class Ending(StrEnum):
    """How a run ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The result of a run.

    Attributes:
        ending: How it ended.
        code: Exit code, or the number of the signal; for a program that timed out, SIGKILL (wall clock) or
            SIGXCPU (processor time).
        output: Its standard output, at most `Limits.output_bytes`.
        errors: Its standard error, with the same limit.
        result: Its output on the file descriptor named by the environment variable `COUNTERLENS_RESULT_FD`,
            which the program's own children do not inherit.
        truncated: Whether any of the three was longer.
        seconds: Wall-clock time, including the sandbox's own.
        cpu_seconds: Processor time of the program; 0 if it was stopped from outside.
        refusals: What the wide room has kept the program from, each as `it may …`, whether or not the program
            noticed. A failure of such a program may be the sandbox's.
    """

    ending: Ending
    code: int
    output: bytes
    errors: bytes
    result: bytes
    truncated: bool
    seconds: float
    cpu_seconds: float = 0.0
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedProgram:
    """A persistent program, which answers requests.

    It reads frames from standard input and writes frames to standard output: the length in four bytes, the
    most significant first, then that many bytes.

    Attributes:
        command: The program, with an absolute path, and its arguments.
        readable: Paths that it may read besides the system's files and its private folder.
        environment: Environment variables added to the sandbox's own.
        limits: Its limits, except `seconds` and `output_bytes`: each request sets its own time limit and the
            size limit of its answer.
    """

    command: tuple[str, ...]
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


class Sandbox(Protocol):
    """Runs untrusted programs. Thread-safe; leaves no file and no process behind."""

    @property
    def name(self) -> str:
        """The back end's id, for `doctor` and for verdicts."""
        ...

    @property
    def guarantees(self) -> tuple[tuple[str, bool], ...]:
        """Its isolation on this machine: (`network`, True), (`processes`, False) ..."""
        ...

    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:
        """Run one job to its end.

        Raises:
            SandboxError: the sandbox itself could not be set up.
            Cancelled: `cancel` was set; nothing of the program is left.
        """
        ...

    def serve(self, service: ServedProgram) -> Conversation:
        """Start a persistent program.

        Raises:
            SandboxError: the sandbox itself could not be set up.
        """
        ...
