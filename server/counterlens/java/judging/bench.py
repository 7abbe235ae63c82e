"""The JVMs that judge Java programs: one with the compiler, and another for each program and its tests.

The first never runs a program's code, and the others run one program each, so that none can change what
another one meets. The next one is started in advance, because a start takes as long as the rest of a
judgement (`benchmarks/sandbox.py --language java`).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from threading import Condition, Event

from counterlens.errors import Cancelled
from counterlens.judging.base import Judgement
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.java.machine import AnswerParts, JavaMachine, Jdk, find_jdk
from counterlens.sandbox.serving import ServiceEndedError, ServiceLateError

_COMPILER_HEAP, _HEAP = 512, 256  # MiB
_COMPILE_SECONDS = 120.0
_SEAL = 16  # bytes

Units = Sequence[tuple[str, str]]
Classes = Mapping[str, bytes]
Library = tuple[Path, ...]
_MOST = 8  # maximum benches; each has three JVMs, about 300 MB together


class CompilerStoppedError(Exception):
    """The compiler did not finish, so it is unknown whether the sources compile.

    Attributes:
        judgement: The resulting judgement of the program.
    """

    def __init__(self, message: str, judgement: Judgement) -> None:
        super().__init__(message)
        self.judgement = judgement


class Fate(Enum):
    """Why tests made no report."""

    ENDED = "the program ended its process"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class TestsReport:
    """The result of a program's tests.

    Attributes:
        passed: Whether they all ended without an exception.
        tests: Number of tests that did.
        failed: The test that did not.
        fate: Why there is no report, or none with the seal.
    """

    passed: bool
    tests: int = 0
    failed: str = ""
    message: str = ""
    fate: Fate | None = None


class JavaBench:
    """The JVMs for one judgement at a time. Not thread-safe.

    Args:
        library: The jars that programs and tests can use besides the kit's library.
    """

    def __init__(self, sandbox: Sandbox, jdk: Jdk, library: Library = ()) -> None:
        self._sandbox, self._jdk, self._library = sandbox, jdk, library
        self._compiler_machine: JavaMachine | None = None
        self._spare: JavaMachine | None = None

    def compile(self, units: Units, *, cancel: Event | None = None) -> dict[str, bytes] | str:
        """Compile units of source together; return the classes, or the errors.

        Raises:
            CompilerStoppedError: the compiler timed out or crashed.
            SandboxError: the compiler cannot be run.
            Cancelled: `cancel` was set.
        """
        with self._careful():
            used = self._compiler_machine is not None
            made = self._compile(units, cancel)
            if made is None and used:  # earlier work of the JVM may be the reason
                made = self._compile(units, cancel)
        if made is None:
            message = "the compiler ended early; it may have run out of memory"
            raise CompilerStoppedError(message, Judgement.REFUSED)
        return made

    def _compile(self, units: Units, cancel: Event | None) -> dict[str, bytes] | str | None:
        """As `compile`; None if the compiler's JVM ended."""
        if self._compiler_machine is None or not self._compiler_machine.alive:
            self._close_compiler_machine()
            self._compiler_machine = JavaMachine(self._sandbox, self._jdk, _COMPILER_HEAP, self._library)
        try:
            return self._compiler_machine.compile(units, time.monotonic() + _COMPILE_SECONDS, cancel)
        except ServiceLateError:
            self._close_compiler_machine()
            message = f"the compiler was stopped after {_COMPILE_SECONDS:g} s"
            raise CompilerStoppedError(message, Judgement.TIMED_OUT) from None
        except ServiceEndedError:
            self._close_compiler_machine()
            return None

    def run_tests(
        self, names: Sequence[str], classes: Classes, seconds: float, cancel: Event | None = None
    ) -> TestsReport:
        """Run the tests of some classes together with their program, in one JVM.

        Args:
            classes: Program and tests, compiled together.
            seconds: Their time limit.

        Raises:
            SandboxError: a JVM cannot be started.
            Cancelled: `cancel` was set.
        """
        with self._careful():
            machine, seal = self.fresh_machine(), os.urandom(_SEAL)
            try:
                frame = machine.run_tests(names, classes, seal, time.monotonic() + seconds, cancel)
                return _report(frame, seal)
            except ServiceLateError:
                return TestsReport(False, fate=Fate.LATE)
            except ServiceEndedError:
                return TestsReport(False, fate=Fate.ENDED)
            finally:
                machine.close(wait=False)

    @contextlib.contextmanager
    def held(self, program: Classes, cancel: Event | None = None) -> Iterator[HeldProgram]:
        """A program that can be called, in a JVM of its own; errors as in `run_tests`."""
        held = HeldProgram(self, program, cancel)
        with self._careful():
            try:
                yield held
            finally:
                held.leave()

    def close(self) -> None:
        """End all JVMs; they start again on demand."""
        self._close_compiler_machine()
        if self._spare is not None:
            self._spare.close()
        self._spare = None

    def _close_compiler_machine(self) -> None:
        if self._compiler_machine is not None:
            self._compiler_machine.close()
        self._compiler_machine = None

    def fresh_machine(self) -> JavaMachine:
        """A JVM that ran no program yet; the next one starts in the background."""
        machine, self._spare = self._spare, None
        if machine is None or not machine.alive:
            if machine is not None:
                machine.close()
            machine = JavaMachine(self._sandbox, self._jdk, _HEAP, self._library)
        self._spare = JavaMachine(self._sandbox, self._jdk, _HEAP, self._library)
        return machine

    @contextlib.contextmanager
    def _careful(self) -> Iterator[None]:
        """After an interruption, the state of the JVMs is unknown."""
        try:
            yield
        except (Cancelled, KeyboardInterrupt):
            self.close()
            raise


class HeldProgram:
    """A program in a JVM of its own, which can be called repeatedly."""

    def __init__(self, bench: JavaBench, program: Classes, cancel: Event | None) -> None:
        self._bench, self._program, self._cancel = bench, program, cancel
        self._machine: JavaMachine | None = None

    def ask(self, frame: bytes, seconds: float) -> bytes:
        """Send one request to it, with its classes loaded anew: static fields have their first values.

        Errors are those of `Conversation.ask`, after which `leave` must be called.
        """
        if self._machine is None:
            self._machine = self._bench.fresh_machine()
        self._machine.load(self._program, time.monotonic() + seconds, self._cancel)
        return self._machine.ask(frame, time.monotonic() + seconds, self._cancel)

    def leave(self) -> None:
        """End its JVM; the next request starts the program again in a fresh one."""
        if self._machine is not None:
            self._machine.close(wait=False)
        self._machine = None


def _report(frame: bytes, seal: bytes) -> TestsReport:
    """Read a verdict.

    Raises:
        ServiceEndedError: the frame is not a verdict, or does not have the seal.
    """
    part = AnswerParts(frame)
    if part.take(1) != b"D" or part.take(len(seal)) != seal:
        raise ServiceEndedError("it returned no verdict")
    passed, _ = part.flag(), part.flag()  # the second: whether the JVM is damaged
    return TestsReport(passed, part.size(), part.text(), part.text())


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
            SandboxError: there is no kit.
        """
        bench = self._take(sandbox, library)
        try:
            yield bench
        finally:
            with self._changed:
                self._free.append((sandbox, library, bench))
                self._changed.notify()

    def _take(self, sandbox: Sandbox, library: Library) -> JavaBench:
        jdk = find_jdk()
        most = min(os.cpu_count() or 1, _MOST)
        # drop the JVMs, which belong to the parent process
        if os.getpid() != self._owner:
            self._free, self._made, self._changed, self._owner = [], 0, Condition(), os.getpid()
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
        return JavaBench(sandbox, jdk, library)

    def close(self) -> None:
        """End the JVMs that are not in use."""
        if os.getpid() == self._owner:
            with self._changed:
                self._made -= len(self._free)
                while self._free:
                    self._free.pop()[2].close()


BENCHES = Benches()
