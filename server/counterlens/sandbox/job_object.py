"""Windows: a Job Object that limits time, memory and processes, and ends all of them with the job.

Written from Microsoft's documentation, "Job Objects" and "JOBOBJECT_EXTENDED_LIMIT_INFORMATION". UNTESTED: it
has not run on Windows yet. A job object isolates neither files nor the network, so this is weak, and says so;
WSL 2 has the strong ones. There is no result pipe: nothing that
reports on it works there.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Event
from typing import Any

from counterlens.errors import Cancelled, SandboxError
from counterlens.processes import start
from counterlens.sandbox.base import Ending, Job, JobOutcome, Limits
from counterlens.sandbox.following import followed

_KILL_ON_CLOSE, _ACTIVE_PROCESSES, _PROCESS_TIME, _PROCESS_MEMORY = 0x2000, 0x8, 0x2, 0x100
_EXTENDED_LIMITS = 9
_SUSPENDED = 0x4
_TICK = 0.025
_PASSED_ON = ("SYSTEMROOT", "TZ")


class _Basic(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),  # units of 100 ns
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t),
        ("most_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )


class _Extended(ctypes.Structure):
    _fields_ = (
        ("basic", _Basic),
        ("counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class JobObjectSandbox:
    """Runs programs in a job object.

    Raises:
        SandboxError: this is not Windows.
    """

    name = "job object"

    def __init__(self) -> None:
        if sys.platform != "win32":
            raise SandboxError("job objects exist on Windows only")

    @property
    def guarantees(self) -> tuple[tuple[str, bool], ...]:
        """The isolation of a job object, by its documentation."""
        held = {"time", "memory", "processes", "leftovers"}
        every = ("time", "memory", "network", "processes", "leftovers", "signals", "writes", "reads", "disk")
        return tuple((what, what in held) for what in every)

    @followed
    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:
        """Run one job to its end; see `Sandbox.run`."""
        folder = Path(tempfile.mkdtemp(prefix="counterlens-")).resolve()
        try:
            return _run(job, folder, cancel)
        except OSError as error:
            raise SandboxError(f"the job object could not be used: {error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _run(job: Job, folder: Path, cancel: Event | None) -> JobOutcome:
    for name, content in job.cold().files.items():
        path = folder / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    environment |= {"TEMP": str(folder / "tmp"), "USERPROFILE": str(folder / "home"), "PYTHONHASHSEED": "0"}
    started = time.monotonic()
    with (folder / "out").open("w+b") as output, (folder / "err").open("w+b") as errors:
        child = start(
            [str(job.python.absolute()), job.entry, *job.arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=folder / "work",
            environment=environment,
            creationflags=_SUSPENDED,
        )
        handle = _confine(child, job.limits)
        try:
            in_time = _wait(child, started + job.limits.seconds, cancel)
        finally:
            handle.kernel.CloseHandle(handle.job)  # ends whatever is left
            child.wait()
        if not in_time and cancel is not None and cancel.is_set():
            raise Cancelled
        kept = job.limits.output_bytes
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(stream.read(kept + 1))
    ending = Ending.EXITED if in_time else Ending.TIMED_OUT
    cut = any(len(text) > kept for text in texts)
    seconds = time.monotonic() - started
    return JobOutcome(ending, child.returncode, texts[0][:kept], texts[1][:kept], b"", cut, seconds)


class _Handle:
    def __init__(self, kernel: Any, job: ctypes.c_void_p) -> None:
        self.kernel, self.job = kernel, job


def _confine(child: subprocess.Popen[bytes], limits: Limits) -> _Handle:
    """Put a suspended process into a new job object, and resume it."""
    system: Any = vars(ctypes)["WinDLL"]
    kernel, native = system("kernel32", use_last_error=True), system("ntdll")
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    job = kernel.CreateJobObjectW(None, None)
    wanted = _Extended()
    wanted.basic.flags = _KILL_ON_CLOSE | _ACTIVE_PROCESSES | _PROCESS_TIME | _PROCESS_MEMORY
    wanted.basic.active_processes = limits.processes + 1
    wanted.basic.process_time = limits.cpu_seconds * 10_000_000
    wanted.process_memory = limits.memory_bytes
    process = ctypes.c_void_p(int(vars(child)["_handle"]))
    size = ctypes.sizeof(wanted)
    done = kernel.SetInformationJobObject(
        ctypes.c_void_p(job), _EXTENDED_LIMITS, ctypes.byref(wanted), size
    ) and kernel.AssignProcessToJobObject(ctypes.c_void_p(job), process)
    if not done:
        child.kill()
        raise OSError("the process could not be put into a job object")
    native.NtResumeProcess(process)
    return _Handle(kernel, ctypes.c_void_p(job))


def _wait(child: subprocess.Popen[bytes], deadline: float, cancel: Event | None) -> bool:
    while time.monotonic() < deadline and not (cancel is not None and cancel.is_set()):
        try:
            child.wait(_TICK)
        except subprocess.TimeoutExpired:
            continue
        return True
    return False
