"""Warm interpreters: a zygote for each interpreter and view of the files, a fresh fork of it for each job."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from subprocess import DEVNULL, PIPE, TimeoutExpired
from threading import Lock

from counterlens.errors import SandboxError
from counterlens.processes import start, start_lasting
from counterlens.sandbox.task import READY

_MOST = 4  # maximum zygotes at a time
_START_UP = 180.0  # maximum seconds until a zygote has finished its imports, on a busy machine


class Zygote:
    """One running zygote.

    Args:
        command: The command that starts it, without the number of its control socket.
        arguments: Its imports, and the files that all its programs may read.
        environment: Its environment, which its programs inherit.
        folder: The folder of its programs' files.
        done: Called when it is closed.

    Raises:
        SandboxError: it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        done: Callable[[], None],
    ) -> None:
        self.folder, self._done = folder, done
        self.jobs = 0  # current jobs; counted by the pool
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = start_lasting(
                    lambda: start(
                        [*command, str(theirs.fileno()), *arguments],
                        stdin=DEVNULL,
                        stdout=DEVNULL,
                        stderr=PIPE,
                        pass_fds=(theirs.fileno(),),
                        start_new_session=True,
                        environment=environment,
                        cwd="/",
                    )
                )
        except OSError as error:
            self._control.close()
            done()
            raise SandboxError(f"no process could be started: {error}") from error
        self._control.settimeout(_START_UP)
        try:
            ready = self._control.recv(16) == READY
        except OSError:
            ready = False
        if not ready:
            said = self._last_words()
            raise SandboxError(f"no warm interpreter could be started: {said[-1] if said else 'it ended'}")

    @property
    def alive(self) -> bool:
        """Whether it can take jobs."""
        return self._process.poll() is None

    def hand_over(self, lines: Sequence[int]) -> bool:
        """Send a job's file descriptors to one of its copies; False if no copy is left."""
        try:
            socket.send_fds(self._control, [b"."], list(lines))
        except OSError:
            return False
        return True

    def close(self) -> None:
        """End it, with its jobs."""
        self._last_words()

    def _last_words(self) -> list[str]:
        self._control.close()
        try:
            _, said = self._process.communicate(timeout=1.0)
        except TimeoutExpired:
            self._process.kill()
            _, said = self._process.communicate()
        self._done()
        return said.decode("utf-8", "replace").strip().splitlines()


class Pool:
    """The zygotes in use, started on demand, at most a few at a time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._zygotes: OrderedDict[Hashable, Zygote] = OrderedDict()
        self._owner = os.getpid()
        atexit.register(self.close)

    @contextlib.contextmanager
    def zygote(self, key: Hashable, make: Callable[[], Zygote]) -> Iterator[Zygote]:
        """The zygote for a key, a new one if none is alive; it is not closed while it is in use.

        Raises:
            SandboxError: it cannot be started.
        """
        with self._lock:
            process = self._zygotes.pop(key, None)
            if process is not None and not process.alive:
                process.close()
                process = None
            process = process or make()
            self._zygotes[key] = process
            process.jobs += 1
            idle = [key for key, zygote in self._zygotes.items() if not zygote.jobs]
            superfluous = [self._zygotes.pop(key) for key in idle[: max(0, len(self._zygotes) - _MOST)]]
        for zygote in superfluous:
            zygote.close()
        try:
            yield process
        finally:
            with self._lock:
                process.jobs -= 1

    def close(self) -> None:
        """End all of them; they start again on demand."""
        if os.getpid() != self._owner:  # this process is a fork, which did not start them
            return
        with self._lock, contextlib.suppress(OSError):
            while self._zygotes:
                self._zygotes.popitem()[1].close()
