"""A zygote: an interpreter inside the sandbox's shell that forks a fresh copy of itself for each job.

It runs no program itself and reads no task. Each copy enters its own namespaces in advance, then waits on the
shared control socket; the copy that receives a job's pipes becomes that job's launcher. So every program
starts from the same unchanged state, and cannot affect the zygote.

The end of the control socket means that the parent is gone, or no longer needs the zygote.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys

from counterlens.sandbox import program
from counterlens.sandbox.launcher import Launcher
from counterlens.sandbox.linux import namespaces, refusals, seccomp, syscalls, usage
from counterlens.sandbox.task import READY, read_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, NoReturn

    _Entered = Callable[[], None] | Literal[False]

_SPARE = 2  # copies that wait for a job
_DISK = 64 << 20  # maximum bytes of the private folder until the job sets the size
_AHEAD = (refusals, usage)  # modules that only some jobs need; each copy would import them again
_LINES = 5  # standard input, output and error, result, status


def main(control: int, preload: list[str], readable: list[str]) -> Callable[[], None]:
    """Serve until the parent is gone; returns only in a copy, with the function that runs its program."""
    if os.geteuid() != 0:  # as root, the copies need them to be mapped to another user
        namespaces.drop_capabilities()
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    # A stopped one sees no end of input. It goes on, rather than being killed, to remove its folder.
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGCONT)
    for name in preload:
        try:
            importlib.import_module(name)
        except ImportError:  # this interpreter does not have it; a program that needs it will report that
            continue
    seccomp.prepare()
    program.note_own()
    gc.collect()
    gc.freeze()  # copies share these pages until a process writes to them
    taken, take = os.pipe()
    line = socket.socket(fileno=control)
    line.send(READY)
    watch = select.poll()
    watch.register(control, 0)  # reports only its end
    watch.register(taken, select.POLLIN)
    missing, no_proc = _SPARE, _no_proc()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel collects the copies
    while True:
        for _ in range(missing):
            copy = _fork()
            if copy is not None:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.close(taken)
                return serve(Launcher(copy or None, no_proc), line, take, readable)
        ready = dict(watch.poll())
        if control in ready:
            with contextlib.suppress(OSError):  # empty, or inside a shell that ends with this process
                os.rmdir(os.path.dirname(os.environ["TMPDIR"]))  # noqa: PTH106, PTH120
            os._exit(0)
        missing = len(os.read(taken, 64))


def _fork() -> _Entered | None:
    """Fork a copy; None in the zygote. In the copy, a function to complete its namespaces, or False."""
    try:
        entered = namespaces.fork_into_namespaces()
    except OSError:  # the copy tries the remaining confinements, and reports the missing ones
        return False if os.fork() == 0 else None
    return entered


def _no_proc() -> OSError | None:
    """Why no copy can have its own `/proc`; None if one can. Tried once, as each refusal logs a line."""
    try:
        entered = namespaces.fork_into_namespaces()
    except OSError:
        return None
    if entered is None:
        code = os.waitstatus_to_exitcode(os.wait()[1])
        return OSError(code, os.strerror(code)) if code > 0 else None
    try:
        entered()
        namespaces.read_only()
        namespaces.own_proc()
    except OSError as error:
        os._exit(error.errno or 0)
    finally:
        os._exit(0)


def serve(launcher: Launcher, line: socket.socket, take: int, readable: list[str]) -> Callable[[], None]:
    """Wait for one job and carry it out."""
    try:
        launcher.isolate()
        launcher.ruleset = namespaces.Ruleset(tcp=launcher.namespaces)
        launcher.ruleset.allow_reading(readable)
        if launcher.namespaces:
            launcher.make_folder(os.path.dirname(os.environ["TMPDIR"]), _DISK)  # noqa: PTH120
        _, lines, _, _ = socket.recv_fds(line, 16, _LINES)
        if len(lines) < _LINES:
            os._exit(0)  # the parent is gone
        os.write(take, b".")
        os.close(take)
        line.close()
        for number in (0, 1, 2):
            os.dup2(lines[number], number)
            os.close(lines[number])
        task = read_task()
        task.result, task.status = lines[3:]
        launcher.accept(task)
        if not launcher.namespaces:
            raise OSError("a warm program needs its own namespaces")
        launcher.run()
        assert launcher.start is not None
    except BaseException as error:
        launcher.report("error", error)
        os._exit(program.LAUNCHED)
    return launcher.start


def run() -> NoReturn:
    """Run the zygote; its arguments are the control socket, modules to import, and shared readable paths."""
    control, preload, readable = sys.argv[1:]
    program.leave(main(int(control), preload.split(), readable.split(os.pathsep)))
