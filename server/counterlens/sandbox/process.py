"""A sandbox of child processes, confined by unprivileged kernel features, in a shell or without one.

On Linux these are, if available: user, PID, network, IPC and mount namespaces, Landlock, a seccomp filter,
and resource limits. `guarantees` says which hold on this machine. Programs start warm, as forks of a waiting
interpreter, if that is equally isolated; see `zygote.py`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path, PurePosixPath
from threading import Event, Lock
from typing import TYPE_CHECKING

import counterlens
from counterlens.environment import closed_variable
from counterlens.errors import Cancelled, SandboxError
from counterlens.processes import bare_python, start, start_lasting
from counterlens.sandbox import shell as system
from counterlens.sandbox.base import Job, JobOutcome, Limits, ServedProgram
from counterlens.sandbox.following import follow
from counterlens.sandbox.interpreter import describe
from counterlens.sandbox.outcome import LaunchedRun, outcome_of
from counterlens.sandbox.pipes import Pipes
from counterlens.sandbox.shell import Bare, Shell, links_of
from counterlens.sandbox.task import WALL, SandboxTask, encode

if sys.platform == "linux":
    from counterlens.sandbox.warm import Pool, Zygote
if TYPE_CHECKING:
    from counterlens.sandbox.serving import Conversation

_SYSTEM = system.readable()
_PASSED_ON = ("TZ", "LD_LIBRARY_PATH")
_PATIENCE = 2.0  # seconds for the launcher to clean up before it is killed
_FEW = 8  # processes of a program that starts none
_WARM_SINCE = (3, 9)  # the oldest Python whose interpreter can be kept warm


class ProcessSandbox:
    """Runs programs in confined child processes; see the module.

    Args:
        warm: Whether programs may start as forks of a waiting interpreter.
    """

    def __init__(self, shell: Shell | None = None, *, warm: bool = True) -> None:
        self._shell: Shell = shell or Bare()
        self._lock = Lock()
        self._wants_warm = warm and sys.platform == "linux"

    @property
    def name(self) -> str:
        """The back end's id."""
        return self._shell.name

    @property
    def guarantees(self) -> tuple[tuple[str, bool], ...]:
        """The isolation on this machine, detected by running an empty program once."""
        held = self._held | self._shell.holds
        spaces, landlock, seccomp = ("namespaces" in held, "landlock" in held, "seccomp" in held)
        return (
            ("time", True),
            ("memory", sys.platform == "linux"),
            ("network", spaces or seccomp),
            ("processes", seccomp and ("counted" in held or os.geteuid() != 0)),
            ("leftovers", spaces or seccomp or sys.platform == "linux"),
            ("signals", spaces or seccomp),
            ("writes", landlock or "view" in held),
            ("reads", landlock or "view" in held),
            ("disk", "filesystem" in held or "view" in held),
        )

    @property
    def warm(self) -> bool:
        """Whether programs start warm here: only if each can have its own namespaces and file system."""
        return self._wants_warm and {"namespaces", "filesystem", "landlock"} <= self._held

    @property
    def wide(self) -> bool:
        """Whether there are wide rooms here; without, every room is closed."""
        needed = {"namespaces", "filesystem", "readonly", "loopback", "watched", "seccomp", "layer"}
        return needed <= self._held

    @property
    def _held(self) -> frozenset[str]:
        with self._lock:
            return self._found

    @cached_property
    def _found(self) -> frozenset[str]:
        job = Job({"empty.py": b""}, "empty.py", Path(sys.executable))
        with tempfile.TemporaryDirectory() as folder:
            in_wide_room = replace(
                job, readable=(Path(folder),), writable=(Path(folder),), limits=Limits(processes=_FEW)
            )
            with contextlib.suppress(SandboxError):
                return self._cold(in_wide_room, None)[1]
        return self._cold(job, None)[1]

    @follow
    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:
        """Run one job to its end.

        Raises:
            SandboxError: the sandbox itself could not be set up.
            Cancelled: `cancel` was set; nothing of the program is left.
        """
        for name in (*job.files, *job.cold_files, job.entry):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise SandboxError(f"the file {name} would be outside the sandbox")
        if job.limits.wide and not self.wide:
            job = replace(job, limits=replace(job.limits, processes=0))
        outcome = None
        if self.warm and describe(job.python).version >= _WARM_SINCE:
            outcome = self._warm(job, cancel) or self._warm(job, cancel)  # None if a zygote died
        return (outcome or self._cold(job, cancel))[0]

    def _cold(self, job: Job, cancel: Event | None) -> tuple[JobOutcome, frozenset[str]]:
        job = job.cold()
        folder, done = self._shell.folder()
        task = make_task(job, folder)
        try:
            with contextlib.ExitStack() as stack:
                lines = _Lines(stack)
                task.result, task.status = lines.inner[3:]
                child = self._launch(task, lines.inner)
                lines.leave()
                try:
                    run = _run_to_end(job, task, lines, cancel)
                finally:
                    _end(child)
        finally:
            done()
        outcome = outcome_of(run, job)
        if outcome is None:
            output = run.pipes.data("errors").decode("utf-8", "replace").strip()[-300:]
            raise SandboxError(f"the sandbox's launcher ended before the program did {output}".rstrip())
        return outcome

    def _launch(self, task: SandboxTask, inner: Sequence[int]) -> subprocess.Popen[bytes]:
        """Start a cold launcher with its ends of the pipes; its task is sent later."""
        environment = {k: v for k, v in task.environment.items() if not k.startswith("PYTHON")}
        command = bare_python(_inside("launcher", "main"))
        readable = [*task.readable, *links_of(task.python)]
        try:
            return start(
                self._shell.wrap(command, task.folder, readable, task.disk),
                stdin=inner[0],
                stdout=inner[1],
                stderr=inner[2],
                pass_fds=inner[3:],
                start_new_session=True,
                environment=environment,
            )
        except OSError as error:
            raise SandboxError(f"no process could be started: {error}") from error

    def serve(self, service: ServedProgram) -> Conversation:
        """Start a persistent program; see `Sandbox.serve`.

        Raises:
            SandboxError: the sandbox itself could not be set up.
        """
        from counterlens.sandbox.serving import Conversation

        folder, done = self._shell.folder()
        task = make_service_task(service, folder)
        pairs = [os.pipe() for _ in range(6)]
        ours = [pairs[0][1], *(pair[0] for pair in pairs[1:5]), pairs[5][1]]
        theirs = [pairs[0][0], *(pair[1] for pair in pairs[1:5]), pairs[5][0]]
        task.result, task.status, task.given = theirs[3:]
        try:
            launcher = start_lasting(lambda: self._launch(task, theirs))
        except SandboxError:
            for end in ours:
                os.close(end)
            done()
            raise
        finally:
            for end in theirs:
                os.close(end)
        with contextlib.suppress(BrokenPipeError):  # the first request will find that the launcher is gone
            _write_all(ours[0], encode(task, {}))
        return Conversation(
            launcher,
            given=ours[5],
            replies=ours[1],
            others=ours[2:5],  # standard error, result and status
            stop=lambda: os.close(ours[0]),  # it means "stop" to the launcher
            done=done,
        )

    def _warm(self, job: Job, cancel: Event | None) -> tuple[JobOutcome, frozenset[str]] | None:
        """Run a job in a warm interpreter; None if that interpreter is gone."""
        sample = make_task(job, "")
        interpreter = describe(job.python)
        view = self._shell.view([*interpreter.folders, *map(str, job.readable)])  # the system's stay
        key = (sample.python, interpreter, job.preload, tuple(sample.environment.items()), view)

        def make() -> Zygote:
            folder, done = self._shell.folder()
            task = make_task(job, folder)
            command = [task.python, "-c", _inside("zygote", "run")]
            readable = [*task.readable, *links_of(task.python)]
            command = self._shell.wrap(command, folder, readable, 1 << 20)
            always = os.pathsep.join([*_SYSTEM, *interpreter.folders])
            arguments = [" ".join(job.preload), always]
            return Zygote(command, arguments, task.environment, folder, done)

        with self._pool.zygote(key, make) as zygote, contextlib.ExitStack() as stack:
            task = make_task(job, zygote.folder)
            lines = _Lines(stack)
            if not zygote.hand_over(lines.inner):
                return None
            lines.leave()
            run = _run_to_end(job, task, lines, cancel)
            return outcome_of(run, job)

    @cached_property
    def _pool(self) -> Pool:
        return Pool()


class _Lines:
    """The pipes of one run: the ends of the program's side, in the order of the protocol, and ours.

    Each end is closed at most once.
    """

    def __init__(self, stack: contextlib.ExitStack) -> None:
        pairs = [os.pipe() for _ in range(5)]
        pairs[0] = pairs[0][::-1]
        own, others = zip(*pairs, strict=True)
        self._own = [
            stack.enter_context(os.fdopen(end, "wb" if at == 0 else "rb", 0)) for at, end in enumerate(own)
        ]
        self._others = [
            stack.enter_context(os.fdopen(end, "rb" if at == 0 else "wb", 0)) for at, end in enumerate(others)
        ]
        self.inner = list(others)
        self.outer = list(own)

    def leave(self) -> None:
        """Close our copies of the ends that the program's side holds now."""
        for end in self._others:
            end.close()

    def stop(self) -> None:
        """Close standard input, which means "stop" to the launcher."""
        with contextlib.suppress(OSError):
            self._own[0].close()


def _inside(module: str, function: str) -> str:
    root = str(Path(counterlens.__file__).parents[1])
    return (
        f"import sys; sys.path.insert(0, {root!r}); import counterlens.sandbox.{module} as m; "
        f"sys.path.remove({root!r}); m.{function}()"
    )


def _environment(folder: str) -> dict[str, str]:
    """The environment of every program, with its files in a folder."""
    passed_on = zip(_PASSED_ON, map(closed_variable, _PASSED_ON), strict=True)
    return dict(filter(itemgetter(1), passed_on)) | {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": f"{folder}/home",
        "TMPDIR": f"{folder}/tmp",  # noqa: S108
    }


def _write_all(end: int, data: bytes) -> None:
    while data:
        data = data[os.write(end, data) :]


def make_service_task(service: ServedProgram, folder: str) -> SandboxTask:
    """The task of a persistent program, without the three file descriptors."""
    limits = service.limits
    return SandboxTask(
        python=service.command[0],
        program=[*service.command[1:]],
        environment=_environment(folder) | dict(service.environment),
        folder=folder,
        readable=[*_SYSTEM, *(str(path) for path in service.readable)],
        writable=[],
        covers=[],
        seconds=limits.seconds,
        cpu_seconds=limits.cpu_seconds,
        memory=limits.memory_bytes,
        processes=limits.processes,
        open_files=limits.open_files,
        file_size=limits.file_bytes,
        disk=limits.disk_bytes,
        result=-1,
        status=-1,
    )


def make_task(job: Job, folder: str) -> SandboxTask:
    """The task of a job, with its files in a folder, without the two file descriptors."""
    limits = job.limits
    interpreter = describe(job.python)
    environment = _environment(folder) | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",  # each of their threads reserves address space
        "OMP_NUM_THREADS": "1",
    }
    if interpreter.user_base:
        environment["PYTHONUSERBASE"] = interpreter.user_base
    return SandboxTask(
        python=os.path.abspath(job.python),  # noqa: PTH100 - keep the link of a virtual environment
        program=[job.entry, *job.arguments],
        environment=environment,
        folder=folder,
        readable=[*_SYSTEM, *interpreter.folders, *(str(path) for path in job.readable)],
        writable=[os.path.realpath(path) for path in job.writable],
        covers=[(os.path.realpath(path), content) for path, content in job.covers.items()],
        seconds=limits.seconds,
        cpu_seconds=limits.cpu_seconds,
        memory=limits.memory_bytes,
        processes=limits.processes,
        open_files=limits.open_files,
        file_size=limits.file_bytes,
        disk=limits.disk_bytes,
        result=-1,
        status=-1,
    )


def _run_to_end(job: Job, task: SandboxTask, lines: _Lines, cancel: Event | None) -> LaunchedRun:
    """Send the task to the launcher, and read until all pipes are closed or the time limit is reached."""
    kept = job.limits.output_bytes
    room = {"output": kept, "errors": kept, "result": kept, "status": 1 << 16}
    pipes = Pipes(
        dict(zip(room, zip(lines.outer[1:], room.values(), strict=True), strict=True)),
        (lines.outer[0], encode(task, dict(job.files))),
    )
    started = time.monotonic()
    try:
        longest = job.limits.seconds * (WALL if job.limits.wide else 1) + (
            _PATIENCE if job.limits.wide else 0
        )
        in_time = pipes.drain(started + longest, cancel)
        seconds = time.monotonic() - started
    finally:
        pipes.stop_writing()
        lines.stop()
        pipes.drain(time.monotonic() + _PATIENCE, None)
    if not in_time and cancel is not None and cancel.is_set():
        raise Cancelled
    return LaunchedRun(pipes, in_time, seconds)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Wait for the launcher to end; kill it if it does not."""
    try:
        child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
