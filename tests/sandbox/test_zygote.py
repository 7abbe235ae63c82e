"""A waiting interpreter: what it forks is the first process of namespaces of its own."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from counterlens.sandbox.base import Job
from counterlens.sandbox.process import ProcessSandbox
from counterlens.sandbox.registry import best_sandbox

linux = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


@linux
def test_a_copy_that_waits_is_the_first_process_of_its_namespace(sandbox: ProcessSandbox) -> None:
    if not sandbox.warm:
        pytest.skip("no warm programs here")
    assert sandbox.run(Job({"a.py": b"print(6)"}, "a.py", Path(sys.executable))).output == b"6\n"
    children = psutil.Process().children(recursive=True)
    numbers = [_numbers(child.pid) for child in children if "python" in _name(child)]
    own = len(_numbers(os.getpid()))
    assert [found for found in numbers if len(found) > own and found[-1] == "1"], numbers


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def _numbers(pid: int) -> list[str]:
    """The numbers of a process, in each PID namespace that it is in; none if it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return []
    return next(line.split()[1:] for line in lines if line.startswith("NSpid:"))


@linux
def test_a_fork_that_the_kernel_refuses_leaves_one_process() -> None:
    from counterlens.sandbox.linux import syscalls

    before = os.getpid()
    with pytest.raises(OSError, match="clone3"):
        syscalls.fork_into(1)  # no flag of a namespace
    assert os.getpid() == before


@linux
def test_a_zygote_outlives_the_thread_that_started_it() -> None:
    sandbox = best_sandbox()  # bubblewrap ends with the thread that starts it
    if not isinstance(sandbox, ProcessSandbox) or not sandbox.warm:
        pytest.skip("no warm programs here")
    job = Job({"a.py": b"print(7)"}, "a.py", Path(sys.executable), preload=("tabnanny",))
    before = {child.pid for child in psutil.Process().children()}
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(sandbox.run, job).result().output == b"7\n"
    started = [child for child in psutil.Process().children() if child.pid not in before]
    _, running = psutil.wait_procs(started, timeout=0.3)
    assert running, "the zygote ended with the thread"
    assert sandbox.run(job).output == b"7\n"


def test_a_warm_program_needs_no_cold_files(sandbox: ProcessSandbox) -> None:
    program = b"import os; print(sorted(os.listdir()))"
    job = Job({"a.py": program}, "a.py", Path(sys.executable), cold_files={"b.py": b""})
    expected = b"['a.py']\n" if sandbox.warm else b"['a.py', 'b.py']\n"
    assert sandbox.run(job).output == expected
    cold = job.cold()
    assert (dict(cold.files), cold.cold_files) == ({"a.py": program, "b.py": b""}, {})
