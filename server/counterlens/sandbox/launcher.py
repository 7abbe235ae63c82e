"""What runs between Counterlens and an untrusted program: confines itself, becomes the program, cleans up.

It is started as `python -I -S` in a process of its own, because confining between `fork` and `exec` of a
threaded parent is not safe. Four processes come of it:

- the launcher, which removes the private folder at the end;
- its child, which enters the namespaces and waits;
- the supervisor, the first process of the PID namespace: when it ends, the kernel ends all others in it.
  Where there is no such namespace the one before supervises, as the subreaper of what it started;
- the program, which limits itself and is then replaced by the interpreter that was asked for.

Standard input is the line to the parent: it brings the task, and its end means "stop", so that nothing
survives a parent that was killed. Reports go to the status pipe, which the program does not inherit.
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import struct
import sys

TYPE_CHECKING = False  # `typing`, `dataclasses` and `signal` would double the launcher's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

LINUX = sys.platform == "linux"
TASK_HEAD = struct.Struct("<Q")
LAUNCHED = 127  # the exit code where the interpreter could not be started
_SIGKILL = 9
_THREADS = 128  # room in the process limit, which counts threads where it counts at all
_GLANCE = 0.01  # seconds between two looks at the program where the kernel cannot announce its end


class Task:
    """The wire form of a `Job`; sizes are in bytes."""

    def __init__(
        self,
        *,
        command: list[str],
        environment: dict[str, str],
        files: dict[str, bytes],
        folder: str,
        readable: list[str],
        cpu_seconds: int,
        memory: int,
        processes: int,
        open_files: int,
        file_size: int,
        disk: int,
        result: int,
        status: int,
    ) -> None:
        self.command = command
        self.environment = environment
        self.files = files
        self.folder = folder
        self.readable = readable
        self.cpu_seconds = cpu_seconds
        self.memory = memory
        self.processes = processes
        self.open_files = open_files
        self.file_size = file_size
        self.disk = disk
        self.result = result
        self.status = status


def encode(task: Task) -> bytes:
    """The task as it travels: its length, then its fields."""
    body = marshal.dumps(vars(task))
    return TASK_HEAD.pack(len(body)) + body


class Launcher:
    """Carries out one task; remembers which confinements the kernel granted."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.namespaces = False

    def report(self, word: str, *values: object) -> None:
        """One line to the parent."""
        os.write(self.task.status, (" ".join([word, *map(str, values)]).replace("\n", " ") + "\n").encode())

    def attempt(self, word: str, action: Callable[[], None]) -> bool:
        """Try one confinement and say whether it holds."""
        try:
            action()
        except OSError as error:
            self.report("missing", word, error)
            return False
        self.report("holds", word)
        return True

    def run(self) -> NoReturn:
        """Confine, run, clean up."""
        os.umask(0o077)
        if LINUX:
            from counterlens.sandbox.linux import namespaces, syscalls

            syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
            self.namespaces = self.attempt("namespaces", namespaces.enter_namespaces)
            if self.namespaces:
                self.attempt(
                    "filesystem", lambda: namespaces.private_filesystem(self.task.folder, self.task.disk)
                )
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
            syscalls.prctl(syscalls.PR_SET_PDEATHSIG, _SIGKILL)
        self.lay_out()
        if not self.namespaces:
            self.supervise()
        supervisor = os.fork()
        if supervisor == 0:
            self.supervise()
        _silence()
        os.waitpid(supervisor, 0)
        os._exit(0)

    def lay_out(self) -> None:
        """Write the program's files to its working directory, and make its home and scratch folders."""
        for name in ("work", "home", "tmp"):
            os.makedirs(os.path.join(self.task.folder, name), exist_ok=True)  # noqa: PTH103, PTH118
        for name, content in self.task.files.items():
            path = os.path.join(self.task.folder, "work", name)  # noqa: PTH118
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            with open(path, "wb") as file:  # noqa: PTH123
                file.write(content)

    def supervise(self) -> NoReturn:
        """Start the program, wait for its end or for the parent's word, and end all that is left."""
        if LINUX:
            from counterlens.sandbox.linux import namespaces, syscalls

            if self.namespaces:
                syscalls.prctl(syscalls.PR_SET_PDEATHSIG, _SIGKILL)
                self.attempt("proc", namespaces.own_proc)
            else:
                syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        program = os.fork()
        if program == 0:
            self.become_program()
        _silence()
        os.close(self.task.result)
        ended = self.wait(program)
        if not self.namespaces:
            self.end_descendants()
        if ended is not None:
            status, usage = ended
            code = os.waitstatus_to_exitcode(status)
            word = "signalled" if code < 0 else "exited"
            self.report(word, abs(code), usage.ru_utime + usage.ru_stime)
        os._exit(0)

    def wait(self, program: int) -> tuple[int, resource.struct_rusage] | None:
        """The program's status when it has ended, None when the parent said stop or is gone."""
        watched, pause = [0], _GLANCE
        if LINUX:
            try:
                watched.append(os.pidfd_open(program))
                pause = 1.0  # only to collect orphans
            except OSError:
                pass
        while True:
            ready = select.select(watched, [], [], pause)[0]
            if 0 in ready:
                return None
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == program:
                    return status, usage
                if pid == 0:
                    break

    def end_descendants(self) -> None:
        """Kill all children, and theirs as they are handed to this subreaper, until there are none."""
        while True:
            for child in _children(os.getpid()):
                os.kill(child, _SIGKILL)
            try:
                os.wait()
            except ChildProcessError:
                return

    def become_program(self) -> NoReturn:
        """Limit this process and replace it by the interpreter."""
        task = self.task
        try:
            os.setsid()
            os.chdir(os.path.join(task.folder, "work"))  # noqa: PTH118
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, 0)
            os.set_inheritable(task.result, True)
            os.set_inheritable(task.status, False)
            self.limit()
            if LINUX:
                from counterlens.sandbox.linux import landlock, seccomp

                readable = [*task.readable, f"/proc/{os.getpid()}" if self.namespaces else "/proc/self"]
                many = task.processes > 0
                self.attempt("landlock", lambda: landlock.restrict_files(readable, [task.folder]))
                self.attempt(
                    "seccomp",
                    lambda: seccomp.restrict_calls(processes=many, signals=many and self.namespaces),
                )
            os.execve(task.command[0], task.command, task.environment)  # noqa: S606 - that is the purpose
        except BaseException as error:
            self.report("error", error)
        finally:
            os._exit(LAUNCHED)

    def limit(self) -> None:
        """Set the resource limits, and the same as their hard limits."""
        task = self.task
        limits = {
            resource.RLIMIT_CORE: (0, 0),
            resource.RLIMIT_CPU: (task.cpu_seconds, task.cpu_seconds + 1),
            resource.RLIMIT_FSIZE: (task.file_size, task.file_size),
            resource.RLIMIT_NOFILE: (task.open_files, task.open_files),
        }
        if LINUX:  # other systems do not enforce these, or refuse to set them
            limits[resource.RLIMIT_AS] = (task.memory, task.memory)
            limits[resource.RLIMIT_MEMLOCK] = (0, 0)
            limits[resource.RLIMIT_MSGQUEUE] = (0, 0)
            if self.namespaces:  # which have a count of their own; root is never counted
                most = task.processes + _THREADS
                limits[resource.RLIMIT_NPROC] = (most, most)
        for which, values in limits.items():
            hard = resource.getrlimit(which)[1]
            if hard != resource.RLIM_INFINITY:
                values = (min(values[0], hard), min(values[1], hard))
            resource.setrlimit(which, values)


def _children(parent: int) -> list[int]:
    found = []
    for name in os.listdir("/proc") if LINUX else ():  # noqa: PTH208
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append(int(name))
    return found


def _silence() -> None:
    """Give up the program's output, so that its end is seen when the program's own copies are closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)  # noqa: PTH106 - empty where it was covered by a file system of its own
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _read(size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = os.read(0, min(size - len(data), 1 << 20))
        if not chunk:
            os._exit(0)  # the parent gave up before it had said what to do
        data += chunk
    return data


def main() -> NoReturn:
    """Read the task, have it carried out, and remove its folder, also for a parent that is gone."""
    fields = marshal.loads(_read(TASK_HEAD.unpack(_read(TASK_HEAD.size))[0]))  # noqa: S302 - from our parent
    launcher = Launcher(Task(**fields))
    confined = os.fork()
    if confined != 0:
        _silence()
        os.waitpid(confined, 0)
        _remove(launcher.task.folder)
        os._exit(0)
    try:
        launcher.run()
    except BaseException as error:
        launcher.report("error", error)
    finally:
        os._exit(LAUNCHED)
