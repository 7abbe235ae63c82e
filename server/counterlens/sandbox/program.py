"""The last steps of a process before it becomes the untrusted program: limits, Landlock, seccomp, start.

A cold program replaces the process (`exec`). A warm one runs in the interpreter that was forked for it, which
has read no task: see `zygote.py`.
"""

from __future__ import annotations

import atexit
import os
import resource
import sys
import types

TYPE_CHECKING = False  # `typing` would double the launcher's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from counterlens.sandbox.linux.namespaces import Ruleset
    from counterlens.sandbox.linux.refusals import Refusals
    from counterlens.sandbox.task import SandboxTask

LINUX = sys.platform == "linux"
LAUNCHED = 127  # the exit code if the program could not be started
RESULT_FD = "COUNTERLENS_RESULT_FD"
READABLE, WRITABLE = "COUNTERLENS_READABLE", "COUNTERLENS_WRITABLE"  # of a wide room, as a search path is
_MACHINE = ("/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version")
_THREADS = 128  # allowance for threads, which the process limit also counts

_OWN: list[str] = []
_KEPT: list[types.ModuleType] = []  # freeing modules would copy the pages that a warm program shares


def most_processes(task: SandboxTask) -> int:
    """The kernel's bound on processes and threads; in a wide room, the supervisor ends it before that."""
    return 2 * task.processes + _THREADS


class SandboxedProgram:
    """A task's program, about to begin.

    Args:
        task: The task; the content of its files is not in this process.
        go: A file descriptor that receives one byte when the files are written.
        namespaces: Whether the process is in its own namespaces.
        ruleset: For a warm program: the paths that all programs of this interpreter may read.
        refusals: In a wide room: who hears of refused system calls.
    """

    def __init__(
        self,
        task: SandboxTask,
        *,
        go: int,
        namespaces: bool,
        ruleset: Ruleset | None,
        refusals: Refusals | None,
    ) -> None:
        self.task, self.go, self.ruleset, self.refusals = task, go, ruleset, refusals
        self.namespaces, self.warm = namespaces, ruleset is not None

    def confine(self, attempt: Callable[[str, Callable[[], None]], bool]) -> None:
        """Apply all irreversible confinements."""
        task = self.task
        os.setsid()
        if not os.read(self.go, 1):
            os._exit(LAUNCHED)
        os.close(self.go)
        os.chdir(os.path.join(task.folder, "work"))  # noqa: PTH118
        os.dup2(task.given if task.given >= 0 else os.open(os.devnull, os.O_RDWR), 0)
        self._limit()
        if LINUX:
            from counterlens.sandbox.linux import namespaces, seccomp, syscalls

            if self.warm:
                namespaces.drop_capabilities()
            if task.wide:  # so that the supervisor may see how much memory of it is shared
                syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
            attempt("landlock", lambda: namespaces.restrict_files(self._ruleset(), self._writable()))
            attempt("seccomp", lambda: seccomp.restrict_calls(refusals=self.refusals))
        self._keep_descriptors()

    def _ruleset(self) -> Ruleset:
        from counterlens.sandbox.linux.namespaces import Ruleset

        ruleset = self.ruleset or Ruleset(tcp=self.namespaces)
        ruleset.allow_reading(self._readable())
        return ruleset

    def _readable(self) -> list[str]:
        """What it may read besides what it may change."""
        return [*self.task.readable, "/proc/self", *(_MACHINE if self.task.wide else ())]

    def _writable(self) -> list[str]:
        """The folders that it may change; of a wide room, all others are read-only, whatever this says."""
        task = self.task
        if not task.wide:
            return [task.folder]
        own = [os.path.join(task.folder, name) for name in ("work", "home", "tmp", "shm")]  # noqa: PTH118
        return [*own, *task.writable, "/tmp", "/var/tmp", "/dev/shm"]  # noqa: S108

    def begin(self) -> Callable[[], None]:
        """Become the program; returns only for a warm one, with the function that runs it."""
        task = self.task
        environment = dict(task.environment)
        environment[RESULT_FD] = str(task.result)
        if task.wide:
            from counterlens.sandbox.linux.namespaces import DEVICES

            environment[READABLE] = os.pathsep.join([*self._readable(), *DEVICES])
            environment[WRITABLE] = os.pathsep.join([*self._writable(), *DEVICES])
        if not self.warm:
            os.execve(task.python, [task.python, *task.program], environment)  # noqa: S606 - the purpose
        os.close(task.status)
        os.environ.clear()
        os.environ.update(environment)
        return _warm_start(task.program)

    def _keep_descriptors(self) -> None:
        """Close all descriptors but the program's own, and the status pipe, which closes when it begins."""
        kept = sorted(fd for fd in (self.task.result, self.task.status) if fd > 2)
        at = 3
        for descriptor in kept:
            os.closerange(at, descriptor)
            at = descriptor + 1
        os.closerange(at, max(at, 1024))
        for descriptor in kept:
            os.set_inheritable(descriptor, descriptor != self.task.status)

    def _limit(self) -> None:
        """Set the resource limits, soft and hard ones alike."""
        task = self.task
        whole = -int(-task.cpu_seconds // 1)  # the kernel counts in whole seconds, the supervisor in parts
        limits = {
            resource.RLIMIT_CORE: (0, 0),
            resource.RLIMIT_CPU: (whole, whole + 1),
        }
        if not task.wide:
            limits[resource.RLIMIT_FSIZE] = (task.file_size, task.file_size)
            limits[resource.RLIMIT_NOFILE] = (task.open_files, task.open_files)
        if LINUX:  # other systems do not enforce these, or reject them
            if not task.wide:
                limits[resource.RLIMIT_AS] = (task.memory, task.memory)
            limits[resource.RLIMIT_MEMLOCK] = (0, 0)
            limits[resource.RLIMIT_MSGQUEUE] = (0, 0)
            if self.namespaces:  # they have their own count
                most = most_processes(task)
                limits[resource.RLIMIT_NPROC] = (most, most)
        for which, values in limits.items():
            hard = resource.getrlimit(which)[1]
            if hard != resource.RLIM_INFINITY:
                values = (min(values[0], hard), min(values[1], hard))
            resource.setrlimit(which, values)


def note_own() -> None:
    """Record the modules of Counterlens, in the waiting interpreter: looking for them copies shared pages."""
    _OWN[:] = [name for name in sys.modules if name.partition(".")[0] == "counterlens"]


def _warm_start(arguments: list[str]) -> Callable[[], None]:
    """Give this interpreter the state of one just started with a script."""
    entry = os.path.abspath(arguments[0])  # noqa: PTH100
    with open(entry, "rb") as file:  # noqa: PTH123
        source = file.read()
    sys.argv[:] = arguments
    sys.path[0] = os.path.dirname(entry)  # noqa: PTH120
    main = types.ModuleType("__main__")
    main.__file__ = entry
    vars(main)["__builtins__"] = sys.modules["builtins"]
    _KEPT.extend(sys.modules.pop(name) for name in _OWN)
    sys.modules["__main__"] = main
    execute, translate, space = exec, compile, vars(main)
    return lambda: execute(translate(source, entry, "exec", dont_inherit=True), space)


def leave(start: Callable[[], None]) -> NoReturn:
    """Run a warm program and end as the interpreter would: error message, exit functions, exit code."""
    code: object = 0
    try:
        start()
    except SystemExit as error:
        code = error.code
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("counterlens."):
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        code = 1
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # the program has closed or replaced it
            continue
    os._exit((code or 0) & 0xFF)  # the interpreter's own finalisation would take longer than most programs
