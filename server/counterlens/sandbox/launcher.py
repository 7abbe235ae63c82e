"""Launcher between Counterlens and an untrusted program: confines itself, starts the program, cleans up.

A cold one is started as `python -I -S` in a separate process, because confining between `fork` and `exec` of
a threaded parent is not safe; a warm one is forked from a zygote (see `zygote.py`). Processes:

- the first process of a cold launcher, which removes the private folder at the end;
- its child, which enters the namespaces, writes the files and waits;
- the supervisor, the first process of the PID namespace: when it ends, the kernel ends all others in it.
  Without a PID namespace, the previous process supervises, as the subreaper of its descendants. A warm
  launcher is forked into its namespaces, and is the supervisor itself;
- the program: the job's entry. It is started before the files are read, so that no content of the files is in
  the memory of a program that continues without `exec`.

Standard input is the connection to the parent: it carries the task, and its end means "stop", so that nothing
survives a killed parent. Reports go to the status pipe, which the program does not inherit.
"""

from __future__ import annotations

import os
import select
import sys

from counterlens.sandbox import program as programs
from counterlens.sandbox.task import read_files, read_task

TYPE_CHECKING = False  # `typing`, `dataclasses` and `signal` would double the launcher's start
if TYPE_CHECKING:
    import resource
    from collections.abc import Callable
    from typing import NoReturn

    from counterlens.sandbox.linux.namespaces import Ruleset
    from counterlens.sandbox.linux.refusals import Refusals
    from counterlens.sandbox.linux.usage import ProgramUsage
    from counterlens.sandbox.task import SandboxTask

    Ended = tuple[int, resource.struct_rusage]

LINUX = sys.platform == "linux"
_SIGKILL = 9
_SHARED = ("/tmp", "/var/tmp")  # noqa: S108 - what every program may write to
_MEMORY = "/dev/shm"  # noqa: S108
_GLANCE = 0.01  # seconds between two checks of the program if the kernel cannot announce its end


class Launcher:
    """Carries out one task; records which confinements the kernel granted.

    Args:
        entered: For the first process of new namespaces, the function that completes them.
        no_proc: Why it cannot have its own `/proc`, if known.

    Attributes:
        start: The function that runs the program; set only in a warm program, which returns from `run`.
    """

    def __init__(self, entered: Callable[[], None] | None = None, no_proc: OSError | None = None) -> None:
        self._entered, self._no_proc = entered, no_proc
        self.ruleset: Ruleset | None = None  # for a warm program, the paths that all programs may read
        self.prepared = ""  # the private folder, if created in advance
        self.task: SandboxTask
        self.namespaces = False
        self.read_only = False  # whether nothing of the file system can be changed but what is mounted here
        self.first = False  # whether this is the first process of its PID namespace
        self.start: Callable[[], None] | None = None
        self._notes: list[str] = []
        self._status = -1

    def report(self, word: str, *values: object) -> None:
        """Send a line to the parent, or store it until the status pipe is known."""
        line = " ".join([word, *map(str, values)]).replace("\n", " ") + "\n"
        if self._status < 0:
            self._notes.append(line)
        else:
            os.write(self._status, line.encode())

    def attempt(self, word: str, action: Callable[[], None]) -> bool:
        """Try one confinement, and report and return whether it holds."""
        try:
            action()
        except OSError as error:
            self.report("missing", word, error)
            return False
        self.report("holds", word)
        return True

    def isolate(self) -> None:
        """Apply the confinements that need no task: namespaces, and no access to this process by others."""
        os.umask(0o077)
        if LINUX:
            # A wide room covers /tmp, in which this package may be: what it needs later is loaded now.
            from counterlens.sandbox.linux import namespaces, refusals, seccomp, syscalls, usage  # noqa: F401

            syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
            self.namespaces = self.attempt("namespaces", self._entered or namespaces.enter_namespaces)
            self.first = self.namespaces and self._entered is not None
            if self.namespaces:
                self.attempt("expendable", namespaces.be_expendable)
                self.read_only = self.attempt("readonly", namespaces.read_only)
                self.attempt("loopback", lambda: syscalls.interface_up(b"lo"))
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
            syscalls.prctl(syscalls.PR_SET_PDEATHSIG, _SIGKILL)
            if self.first:
                self.contain()

    def contain(self) -> None:
        """In the first process of the PID namespace: restrict `/proc` and the number of processes to it."""
        from counterlens.sandbox.linux import namespaces, usage

        if self._no_proc is None:
            self.attempt("proc", namespaces.own_proc)
        else:
            self.report("missing", "proc", self._no_proc)
        self.count(programs.most_processes(self.task) if not self.first else 0)
        self.attempt("watched", usage.can_watch)

    def count(self, most: int = 0) -> None:
        """Bound the processes in this PID namespace: to the fewest possible, or to those of a wide room."""
        from counterlens.sandbox.linux import namespaces

        self.attempt("counted", lambda: namespaces.bound_processes(max(most, namespaces.FEWEST)))

    def accept(self, task: SandboxTask) -> None:
        """Accept the task."""
        self.task = task
        self._status = task.status
        for line in self._notes:
            os.write(self._status, line.encode())
        if self.namespaces:
            self.make_folder(task.folder, task.disk * (2 if task.wide else 1))
        if task.wide and not self.read_only:
            raise OSError("a wide room needs namespaces of its own")
        if task.wide and self.first:
            self.count(programs.most_processes(task))

    def make_folder(self, folder: str, disk: int) -> None:
        """Create the private folder, or resize the one created in advance."""
        from counterlens.sandbox.linux import namespaces

        again, self.prepared = folder == self.prepared, folder
        self.attempt("filesystem", lambda: namespaces.private_folder(folder, disk, again=again))

    def run(self) -> None:
        """Start, supervise, clean up; returns only in a warm program, with `start` set."""
        waiting, go = os.pipe()
        if self.first or not self.namespaces:
            self.supervise(waiting, go)
            return
        supervisor = os.fork()
        if supervisor == 0:
            self.supervise(waiting, go)
            return
        os.close(waiting)
        self.lay_out(go)
        _silence()
        os.close(self.task.status)
        os.waitpid(supervisor, 0)
        os._exit(0)

    def lay_out(self, go: int) -> None:
        """Create the working, home and scratch folders, write the files, and let the program begin."""
        try:
            for name in ("work", "home", "tmp", "shm", "empty"):
                os.makedirs(os.path.join(self.task.folder, name), exist_ok=True)  # noqa: PTH103, PTH118
            for name, content in read_files().items():
                path = os.path.join(self.task.folder, "work", name)  # noqa: PTH118
                os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
                with open(path, "wb") as file:  # noqa: PTH123
                    file.write(content)
            if self.task.wide and not self.attempt("layer", self.widen):
                raise OSError("its folders could not be given a layer for what it writes")
            if self.namespaces and self.task.covers:
                self.attempt("covers", self.cover)
            os.write(go, b"..")
        except (OSError, ValueError) as error:
            self.report("error", error)
        os.close(go)

    def widen(self) -> None:
        """Let the program write where a plain one may, to the private folder."""
        from counterlens.sandbox.linux import namespaces

        task = self.task
        for number, path in enumerate(task.writable):
            upper, empty = (os.path.join(task.folder, name) for name in (f"layer{number}", "empty"))  # noqa: PTH118
            namespaces.layer(path, upper, empty)
        kept = sorted({task.folder, *task.readable, *task.writable})
        for path in _SHARED:
            if path not in kept and os.path.isdir(path):  # noqa: PTH112
                namespaces.replace_folder(path, os.path.join(task.folder, "tmp"), kept)  # noqa: PTH118
        if os.path.isdir(_MEMORY):  # noqa: PTH112
            namespaces.replace_folder(_MEMORY, os.path.join(task.folder, "shm"), kept)  # noqa: PTH118

    def cover(self) -> None:
        """Replace the content of some files for all processes in this mount namespace."""
        from counterlens.sandbox.linux import namespaces

        for number, (path, content) in enumerate(self.task.covers):
            if os.path.isfile(path):  # noqa: PTH113
                instead = os.path.join(self.task.folder, f"cover{number}")  # noqa: PTH118
                with open(instead, "wb") as file:  # noqa: PTH123
                    file.write(content)
                namespaces.cover_file(path, instead)
                os.unlink(instead)  # noqa: PTH108 - so that no program can write to it

    def supervise(self, waiting: int, go: int) -> None:
        """Start the program, wait for its end or "stop", and end all remaining processes."""
        if LINUX:
            from counterlens.sandbox.linux import syscalls

            if self.namespaces and not self.first:
                syscalls.prctl(syscalls.PR_SET_PDEATHSIG, _SIGKILL)
                os.close(go)
                # Until then, another process reads standard input, and mounts folders through its own /proc,
                # which the one of this namespace would hide.
                os.read(waiting, 1)
                self.contain()
            elif not self.namespaces:
                syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        refusals = self._refusals()
        started = os.fork()
        lays_out = self.first or not self.namespaces
        if started == 0:
            if lays_out:
                os.close(go)
            self.become(waiting, refusals)
            return
        if lays_out:
            self.lay_out(go)
        os.close(waiting)
        _silence()
        os.close(self.task.result)
        ended = self.wait(started, refusals)
        if self.first:
            _end_all()
        elif not self.namespaces:
            self.end_descendants()
        if ended is not None:
            status, usage = ended
            code = os.waitstatus_to_exitcode(status)
            self.report("signalled" if code < 0 else "exited", abs(code), usage.ru_utime + usage.ru_stime)
        os.close(self.task.status)  # the parent need not wait until the memory of this process is released
        os._exit(0)

    def _refusals(self) -> Refusals | None:
        """What the filter of a wide room will refuse."""
        if not self.task.wide:
            return None
        from counterlens.sandbox.linux.refusals import Refusals

        return Refusals(self.report)

    def _usage(self) -> ProgramUsage | None:
        """What the program in a wide room uses."""
        if not self.task.wide:
            return None
        from counterlens.sandbox.linux.usage import ProgramUsage

        return ProgramUsage(self.task)

    def wait(self, started: int, refusals: Refusals | None) -> Ended | None:
        """The status and usage of the program, once it has ended; None if it has to be ended.

        That is if the parent said "stop", or the program exceeded a limit of its wide room.
        """
        usage = self._usage()
        watched, pause = [0], _GLANCE
        if refusals is not None:
            refusals.listen()
        if LINUX:
            try:
                watched.append(os.pidfd_open(started))
                pause = 1.0  # only to collect orphans
            except OSError:
                pass
        while True:
            heard = [*watched, *(refusals.watched if refusals is not None else ())]
            ready = select.select(heard, [], [], pause if usage is None else min(pause, usage.pause))[0]
            if 0 in ready:
                return None
            if refusals is not None:
                refusals.answer(ready)
            ended, over = _collect(started)
            if over:
                return ended
            exceeded = usage and usage.exceeded_limit()
            if exceeded:
                self.report("exceeded", exceeded)
                return None

    def end_descendants(self) -> None:
        """Kill all children, and their children as this subreaper inherits them, until none is left."""
        while True:
            for child in _children(os.getpid()):
                os.kill(child, _SIGKILL)
            try:
                os.wait()
            except ChildProcessError:
                return

    def become(self, waiting: int, refusals: Refusals | None) -> None:
        """Confine this process and begin the program; returns only for a warm one."""
        program = programs.SandboxedProgram(
            self.task, go=waiting, namespaces=self.namespaces, ruleset=self.ruleset, refusals=refusals
        )
        try:
            program.confine(self.attempt)
            self.start = program.begin()
        except BaseException as error:
            self.report("error", error)
            os._exit(programs.LAUNCHED)


def _collect(started: int) -> tuple[Ended | None, bool]:
    """Collect children that have ended: the end of the program, and whether it, or every child, has ended."""
    while True:
        try:
            pid, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return None, True
        if pid == started:
            return (status, used), True
        if pid == 0:
            return None, False


def _end_all() -> None:
    """In the first process of a PID namespace: end all others in it, as its end would, and wait for that."""
    try:
        os.kill(-1, _SIGKILL)
    except ProcessLookupError:
        return
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _children(parent: int) -> list[int]:
    children = []
    for name in os.listdir("/proc") if LINUX else ():  # noqa: PTH208
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                children.append(int(name))
    return children


def _silence() -> None:
    """Close the program's output here, so that it ends when the program's own copies are closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)  # noqa: PTH106 - empty if a separate file system covered it
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def main() -> NoReturn:
    """Run a cold launcher: have a task carried out, and remove its folder even if the parent is gone."""
    task = read_task()
    confined = os.fork()
    if confined != 0:
        _silence()
        os.close(task.result)
        os.waitpid(confined, 0)
        _remove(task.folder)
        os._exit(0)
    launcher = Launcher()
    try:
        launcher.isolate()
        launcher.accept(task)
        launcher.run()
    except BaseException as error:
        launcher.report("error", error)
    finally:
        os._exit(programs.LAUNCHED)
