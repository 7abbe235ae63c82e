"""The benches of this process: one per concurrent judgement of Java programs."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Iterator
from threading import Condition

from counterlens.java.judging.bench import JavaBench, Library
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.java.jdk import find_jdk
from counterlens.sandbox.serving import serving

_MOST = 8  # maximum benches; each has three JVMs, about 300 MB together


class Benches:
    """A pool of benches, one per concurrent judgement, at most one per processor, or 8. Thread-safe."""

    def __init__(self) -> None:
        self._free: list[tuple[Sandbox, Library, JavaBench]] = []
        self._made = 0
        self._changed = Condition()
        self._owner = os.getpid()
        atexit.register(self.close)

    @contextlib.contextmanager
    def bench(self, sandbox: Sandbox, library: Library = ()) -> Iterator[JavaBench]:
        """A bench for exclusive use.

        Raises:
            SandboxError: there is no kit, or the sandbox cannot run persistent programs.
        """
        bench = self._take(sandbox, library)
        try:
            yield bench
        finally:
            with self._changed:
                self._free.append((sandbox, library, bench))
                self._changed.notify()

    def _take(self, sandbox: Sandbox, library: Library) -> JavaBench:
        able, jdk = serving(sandbox), find_jdk()
        most = min(os.cpu_count() or 1, _MOST)
        self._after_fork()
        with self._changed:
            while True:
                fitting = [each for each in self._free if each[0] is sandbox and each[1] == library]
                if fitting:
                    self._free.remove(fitting[0])
                    return fitting[0][2]
                if self._made < most or self._free:
                    break
                self._changed.wait()
            if self._made < most:
                self._made += 1
            else:
                self._free.pop(0)[2].close()
        return JavaBench(able, jdk, library)

    def _after_fork(self) -> None:
        """Drop the JVMs, which belong to the parent process."""
        if os.getpid() != self._owner:
            self._free, self._made, self._changed, self._owner = [], 0, Condition(), os.getpid()

    def close(self) -> None:
        """End the JVMs that are not in use."""
        if os.getpid() == self._owner:
            with self._changed:
                self._made -= len(self._free)
                while self._free:
                    self._free.pop()[2].close()


BENCHES = Benches()
