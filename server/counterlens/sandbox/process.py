"""A sandbox without helpers: a child process, confined by what the kernel offers to everybody.

On Linux that is, each where it is available: user, PID, network, IPC and mount namespaces, Landlock, a
seccomp filter, and resource limits. `guarantees` says what holds on this machine.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path, PurePosixPath
from threading import Event, Lock

import counterlens
from counterlens.errors import Cancelled, SandboxError
from counterlens.sandbox.base import Ending, Job, Outcome
from counterlens.sandbox.interpreter import describe
from counterlens.sandbox.launcher import Task, encode
from counterlens.sandbox.pipes import Pipes

RESULT_FD = "COUNTERLENS_RESULT_FD"
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/sys/devices/system/cpu",
    "/nix/store",
)
_PASSED_ON = ("TZ", "LD_LIBRARY_PATH")
_SIGXCPU, _SIGKILL = 24, 9
_PATIENCE = 2.0  # seconds that the launcher has for cleaning up before it is killed itself


class ProcessSandbox:
    """Runs programs in confined child processes; see the module."""

    name = "process"

    def __init__(self) -> None:
        self._lock = Lock()

    @property
    def guarantees(self) -> tuple[tuple[str, bool], ...]:
        """What is isolated on this machine, found out by running an empty program once."""
        with self._lock:
            held = self._held
        spaces, landlock, seccomp = ("namespaces" in held, "landlock" in held, "seccomp" in held)
        return (
            ("time", True),
            ("memory", sys.platform == "linux"),
            ("network", spaces or seccomp),
            ("processes", seccomp),
            ("leftovers", spaces or seccomp or sys.platform == "linux"),
            ("signals", spaces or seccomp),
            ("writes", landlock),
            ("reads", landlock),
            ("disk", "filesystem" in held),
        )

    @cached_property
    def _held(self) -> frozenset[str]:
        job = Job({"empty.py": b""}, "empty.py", Path(sys.executable))
        return self._run(job, None)[1]

    def run(self, job: Job, *, cancel: Event | None = None) -> Outcome:
        """Run one job to its end.

        Raises:
            SandboxError: the sandbox itself could not be set up.
            Cancelled: `cancel` was set; nothing of the program is left.
        """
        return self._run(job, cancel)[0]

    def _run(self, job: Job, cancel: Event | None) -> tuple[Outcome, frozenset[str]]:
        for name in (*job.files, job.entry):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise SandboxError(f"the file {name} would lie outside of the sandbox")
        folder = Path(tempfile.mkdtemp(prefix="counterlens-")).resolve()
        try:
            with contextlib.ExitStack() as stack:
                result, status = _Pipe(stack), _Pipe(stack)
                return _execute(job, folder, result, status, cancel)
        finally:
            _remove(folder)


class _Pipe:
    """A pipe whose ends are closed once, however often that is asked for."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        read, write = os.pipe()
        self.read = stack.enter_context(os.fdopen(read, "rb", buffering=0))
        self.write = stack.enter_context(os.fdopen(write, "wb", buffering=0))


def _task(job: Job, folder: Path, result: int, status: int) -> Task:
    limits = job.limits
    interpreter = describe(job.python)
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    environment |= {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",  # each thread of theirs reserves address space
        "OMP_NUM_THREADS": "1",
        RESULT_FD: str(result),
    }
    if interpreter.user_base:
        environment["PYTHONUSERBASE"] = interpreter.user_base
    return Task(
        command=[os.path.abspath(job.python), job.entry, *job.arguments],  # noqa: PTH100 - a venv's link is meant
        environment=environment,
        files=dict(job.files),
        folder=str(folder),
        readable=[*_SYSTEM, *interpreter.folders, *(str(path) for path in job.readable)],
        cpu_seconds=limits.cpu_seconds,
        memory=limits.memory_bytes,
        processes=limits.processes,
        open_files=limits.open_files,
        file_size=limits.file_bytes,
        disk=limits.disk_bytes,
        result=result,
        status=status,
    )


def _execute(
    job: Job, folder: Path, result: _Pipe, status: _Pipe, cancel: Event | None
) -> tuple[Outcome, frozenset[str]]:
    task = _task(job, folder, result.write.fileno(), status.write.fileno())
    root = str(Path(counterlens.__file__).parents[1])
    program = f"import sys; sys.path.insert(0, {root!r}); import counterlens.sandbox.launcher as l; l.main()"
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(task.result, task.status),
            start_new_session=True,
            env={key: value for key, value in task.environment.items() if not key.startswith("PYTHON")},
        )
    except OSError as error:
        raise SandboxError(f"no process could be started: {error}") from error
    result.write.close()
    status.write.close()
    assert child.stdin
    assert child.stdout
    assert child.stderr
    kept = job.limits.output_bytes
    pipes = Pipes(
        {"output": (child.stdout.fileno(), kept), "errors": (child.stderr.fileno(), kept),
         "result": (result.read.fileno(), kept), "status": (status.read.fileno(), 1 << 16)},
        (child.stdin.fileno(), encode(task)),
    )  # fmt: skip
    try:
        in_time = pipes.drain(started + job.limits.seconds, cancel)
        seconds = time.monotonic() - started
    finally:
        pipes.stop_writing()
        with contextlib.suppress(OSError):
            child.stdin.close()  # the launcher takes it for "stop"
        _end(child, pipes)
        child.stdout.close()
        child.stderr.close()
    if not in_time and cancel is not None and cancel.is_set():
        raise Cancelled
    return _outcome(pipes, in_time, seconds, job)


def _end(child: subprocess.Popen[bytes], pipes: Pipes) -> None:
    """See the launcher out; it leaves by itself unless something is badly wrong."""
    pipes.drain(time.monotonic() + _PATIENCE, None)
    try:
        child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _outcome(pipes: Pipes, in_time: bool, seconds: float, job: Job) -> tuple[Outcome, frozenset[str]]:
    lines = [line.split(" ") for line in pipes.data("status").decode("utf-8", "replace").splitlines()]
    held = frozenset(words[1] for words in lines if words[0] == "holds")
    for words in lines:
        if words[0] == "error":
            raise SandboxError(f"the program could not be started in the sandbox: {' '.join(words[1:])}")
    ended = next((words for words in lines if words[0] in {"exited", "signalled"}), None)
    if in_time and ended is None:
        raise SandboxError("the sandbox's launcher ended before the program did")
    make: Callable[[Ending, int, float], Outcome] = lambda ending, code, cpu: Outcome(  # noqa: E731
        ending, code, pipes.data("output"), pipes.data("errors"), pipes.data("result"), pipes.truncated,
        seconds, cpu,
    )  # fmt: skip
    if ended is None:
        return make(Ending.TIMED_OUT, _SIGKILL, 0.0), held
    code, cpu = int(ended[1]), float(ended[2])
    if ended[0] == "exited":
        return make(Ending.EXITED, code, cpu), held
    burnt = code == _SIGXCPU or (code == _SIGKILL and cpu >= job.limits.cpu_seconds)
    return make(Ending.TIMED_OUT if burnt else Ending.SIGNALLED, code, cpu), held


def _remove(folder: Path) -> None:
    """Remove a folder whatever the program did to the permissions in it; nothing outside is touched."""

    def unlock(function: Callable[[str], object], path: str, _error: object) -> None:
        for which in (Path(path).parent, Path(path)):
            if which == folder or folder in which.parents:
                with contextlib.suppress(OSError):
                    which.chmod(0o700, follow_symlinks=False)
        with contextlib.suppress(OSError):
            function(path)

    if folder.exists():
        shutil.rmtree(folder, onerror=unlock)
    if folder.exists():  # unlocking a folder lists it only the next time
        shutil.rmtree(folder, ignore_errors=True)
