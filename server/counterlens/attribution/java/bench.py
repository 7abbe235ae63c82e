"""The JVMs that judge Java programs: one with the compiler and the tests, and others with programs.

The first never runs a program's code. Programs that may share a JVM do, in sequence; each of the others
gets a fresh one, which was started in advance. A JVM is replaced if a program may have changed its state,
and a program that ends in such a way in a used JVM runs again in a fresh one.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from threading import Event

from counterlens.attribution.base import Judgement
from counterlens.attribution.java.sharing import why_alone
from counterlens.errors import Cancelled, SandboxError
from counterlens.sandbox.java.jdk import Jdk
from counterlens.sandbox.java.machine import AnswerParts, JavaMachine
from counterlens.sandbox.serving import ServiceEndedError, ServiceLateError, ServingSandbox

_COMPILER_HEAP, _HEAP = 512, 256  # MiB
_COMPILE_SECONDS = 120.0
_GRACE = 2.0  # seconds for the tests to end after the program ended
_KEPT = 64  # maximum compiled tests in the cache
_MOST_PROGRAMS = 1000  # maximum programs in one JVM
_SEAL = 16  # bytes

Units = Sequence[tuple[str, str]]
Classes = Mapping[str, bytes]
Library = tuple[Path, ...]


class CompilerStoppedError(Exception):
    """The compiler did not finish, so it is unknown whether the sources compile.

    Attributes:
        judgement: The resulting judgement of the program.
    """

    def __init__(self, message: str, judgement: Judgement) -> None:
        super().__init__(message)
        self.judgement = judgement


class Fate(Enum):
    """The outcome of a program's process during its tests."""

    ENDED = "the program ended its process"
    LATE = "late"
    UNPASSABLE = "unpassable"


@dataclass(frozen=True, slots=True)
class TestsReport:
    """The result of a program's tests.

    Attributes:
        passed: Whether they all ended without an exception.
        tests: Number of tests that did.
        failed: The test that did not.
        message: Its message.
        fate: The fate of the program's process.
        calls: Number of their calls to a program in another process.
        changing: Whether a call changed its arguments and also returned a value, or emptied them.
        nothing: Whether a call returned null or an empty value.
        strange: Whether a call returned NaN or infinity.
        raised: Whether a call threw an exception.
        unpassable: The class of a value of the tests that could not be passed on.
        threads: Whether the tests left threads behind.
    """

    passed: bool
    tests: int = 0
    failed: str = ""
    message: str = ""
    fate: Fate | None = None
    calls: int = 0
    changing: bool = False
    nothing: bool = False
    strange: bool = False
    raised: bool = False
    unpassable: str = ""
    threads: bool = False


class JavaBench:
    """The JVMs for one judgement at a time. Not thread-safe.

    Args:
        sandbox: Their sandbox.
        jdk: Their kit.
        library: The jars that programs and tests can use besides the kit's library.
    """

    def __init__(self, sandbox: ServingSandbox, jdk: Jdk, library: Library = ()) -> None:
        self._sandbox, self._jdk, self._library = sandbox, jdk, library
        self._compiler_machine: JavaMachine | None = None
        self._shared: JavaMachine | None = None
        self._spare: JavaMachine | None = None
        self._compiled: OrderedDict[tuple[tuple[str, str], ...], dict[str, bytes] | str] = OrderedDict()

    def compile(self, units: Units, *, tests: bool, cancel: Event | None = None) -> dict[str, bytes] | str:
        """Compile units of source together; return the classes, or the errors. Results for tests are cached.

        Raises:
            CompilerStoppedError: the compiler timed out or crashed.
            SandboxError: the compiler cannot be run.
            Cancelled: `cancel` was set.
        """
        key = tuple(units)
        if tests and key in self._compiled:
            self._compiled.move_to_end(key)
            return self._compiled[key]
        with self._careful():
            used = self._compiler_machine is not None
            made = self._compile(units, tests, cancel)
            if made is None and used:  # earlier work of the JVM may be the reason
                made = self._compile(units, tests, cancel)
        if made is None:
            message = "the compiler ended early; it may have run out of memory"
            raise CompilerStoppedError(message, Judgement.REFUSED)
        if tests:
            self._compiled[key] = made
            while len(self._compiled) > _KEPT:
                self._compiled.popitem(last=False)
        return made

    def _compile(self, units: Units, tests: bool, cancel: Event | None) -> dict[str, bytes] | str | None:
        """As `compile`; None if the compiler's JVM ended."""
        try:
            deadline = time.monotonic() + _COMPILE_SECONDS
            return self._open_compiler_machine().compile(units, deadline, tests=tests, cancel=cancel)
        except ServiceLateError:
            self._close_compiler_machine()
            message = f"the compiler was stopped after {_COMPILE_SECONDS:g} s"
            late = Judgement.REFUSED if tests else Judgement.TIMED_OUT
            raise CompilerStoppedError(message, late) from None
        except ServiceEndedError:
            self._close_compiler_machine()
            return None

    def library_has(self, names: Sequence[str]) -> list[bool]:
        """Return whether the library has each of some classes; errors as in `compile`."""
        with self._careful():
            try:
                return self._open_compiler_machine().library_has(names, time.monotonic() + _COMPILE_SECONDS)
            except (ServiceEndedError, ServiceLateError) as error:
                self._close_compiler_machine()
                raise SandboxError(f"the JVM of the compiler ended: {error}") from None

    def run_apart(
        self, program: Classes, tests: Classes, seconds: float, cancel: Event | None = None
    ) -> TestsReport:
        """Run tests on stand-ins, and the program in another JVM.

        Raises:
            SandboxError: a JVM cannot be started.
            Cancelled: `cancel` was set.
        """
        alone = why_alone(program) is not None
        with self._careful():
            machine = self.machine(alone=alone)
            used = machine.used > 0
            calls = _Calls(machine, program, time.monotonic() + seconds, cancel)
            try:
                report = self._run_tests(tests, calls, cancel)
            finally:
                if alone or calls.spent:
                    self.retire(machine)
        if used and calls.doubtful:  # earlier programs may be the reason
            return self.run_apart(program, tests, seconds, cancel)
        return report

    def run_together(self, classes: Classes, seconds: float, cancel: Event | None = None) -> TestsReport:
        """Run tests and program in one fresh JVM; see `run_apart`."""
        with self._careful():
            machine, seal = self._fresh(), os.urandom(_SEAL)
            try:
                frame = machine.run_together(classes, seal, time.monotonic() + seconds, cancel)
            except ServiceLateError:
                return TestsReport(False, fate=Fate.LATE)
            except ServiceEndedError:
                return TestsReport(False, fate=Fate.ENDED)
            finally:
                self.retire(machine)
            try:
                return _report(frame, seal)
            except ServiceEndedError:
                return TestsReport(False, fate=Fate.ENDED)

    @contextlib.contextmanager
    def held(
        self, program: Classes, cancel: Event | None = None, *, alone: bool = False
    ) -> Iterator[HeldProgram]:
        """A program that can be called, alone in a fresh JVM if `alone`; errors as in `run_apart`."""
        program_of_its_own = HeldProgram(self, program, cancel, alone=alone)
        with self._careful():
            try:
                yield program_of_its_own
            finally:
                program_of_its_own.done()

    def close(self) -> None:
        """End all JVMs; they start again on demand."""
        for machine in (self._compiler_machine, self._shared, self._spare):
            if machine is not None:
                machine.close()
        self._compiler_machine = self._shared = self._spare = None

    def _run_tests(self, tests: Classes, calls: _Calls, cancel: Event | None) -> TestsReport:
        machine = self._open_compiler_machine()
        try:
            frame = machine.run(tests, calls.deadline + _GRACE, calls.answer, cancel)
            report = _report(frame, b"")
        except ServiceLateError:
            self._close_compiler_machine()
            return TestsReport(False, fate=calls.fate or Fate.LATE)
        except ServiceEndedError:
            self._close_compiler_machine()
            return TestsReport(False, message="the tests ended their process", fate=calls.fate)
        if report.threads:
            self._close_compiler_machine()
        if calls.fate is not None:
            return TestsReport(False, report.tests, report.failed, calls.message, calls.fate, report.calls)
        return report

    def _open_compiler_machine(self) -> JavaMachine:
        if self._compiler_machine is None or not self._compiler_machine.alive:
            self._close_compiler_machine()
            self._compiler_machine = JavaMachine(self._sandbox, self._jdk, _COMPILER_HEAP, self._library)
        return self._compiler_machine

    def _close_compiler_machine(self) -> None:
        if self._compiler_machine is not None:
            self._compiler_machine.close()
        self._compiler_machine = None

    def machine(self, *, alone: bool) -> JavaMachine:
        """A JVM for a program: a fresh one, or the shared one."""
        return self._fresh() if alone else self._common()

    def _common(self) -> JavaMachine:
        """The JVM that programs share."""
        if self._shared is not None and (not self._shared.alive or self._shared.used >= _MOST_PROGRAMS):
            self.retire(self._shared)
        if self._shared is None:
            self._shared = self._fresh()
        return self._shared

    def _fresh(self) -> JavaMachine:
        """A JVM that ran no program yet; the next one starts in the background."""
        machine, self._spare = self._spare, None
        if machine is None or not machine.alive:
            if machine is not None:
                machine.close()
            machine = JavaMachine(self._sandbox, self._jdk, _HEAP, self._library)
        self._spare = JavaMachine(self._sandbox, self._jdk, _HEAP, self._library)
        return machine

    def retire(self, machine: JavaMachine) -> None:
        """End a JVM; another one replaces it on demand."""
        machine.close(wait=False)
        if machine is self._shared:
            self._shared = None

    @contextlib.contextmanager
    def _careful(self) -> Iterator[None]:
        """After an interruption, the state of the JVMs is unknown."""
        try:
            yield
        except (Cancelled, KeyboardInterrupt):
            self.close()
            raise


class HeldProgram:
    """A program in a JVM, which can be called repeatedly.

    Args:
        bench: The JVMs.
        program: Its classes.
        cancel: Set to cancel.
        alone: Whether it gets its own JVM even if it may share one.
    """

    def __init__(
        self, bench: JavaBench, program: Classes, cancel: Event | None, *, alone: bool = False
    ) -> None:
        self._bench, self._program, self._cancel = bench, program, cancel
        self._alone = alone or why_alone(program) is not None
        self._machine: JavaMachine | None = None
        self.doubtful = False
        """Whether results may depend on programs that its JVM ran before."""

    def ask(self, frame: bytes, seconds: float) -> bytes:
        """Send one request to it; errors as in `Conversation.ask`, after which `leave` must be called."""
        deadline = time.monotonic() + seconds
        if self._machine is None:
            self._machine = self._bench.machine(alone=self._alone)
            self.doubtful = self._machine.used > 0
            self._machine.load(self._program, deadline, self._cancel)
        return self._machine.ask(frame, deadline, self._cancel)

    def leave(self) -> None:
        """End its JVM; the next request starts the program again in a fresh one."""
        if self._machine is not None:
            self._bench.retire(self._machine)
        self._machine = None

    def done(self) -> None:
        """End its JVM, if it has its own."""
        if self._alone:
            self.leave()


class _Calls:
    """Answers the calls of tests with the results of a program.

    Attributes:
        fate: The fate of the program's process.
        message: A message on it.
        spent: Whether the JVM has to be replaced.
        doubtful: Whether the outcome may depend on programs that the JVM ran before.
    """

    def __init__(self, machine: JavaMachine, program: Classes, deadline: float, cancel: Event | None) -> None:
        self._machine, self._program, self._cancel = machine, program, cancel
        self._loaded = False
        self.deadline = deadline
        self.fate: Fate | None = None
        self.message, self.spent, self.doubtful = "", False, False

    def answer(self, frame: bytes) -> bytes:
        """The answer to one call, or the message that there is none."""
        if self.fate is None:
            try:
                if not self._loaded:
                    self._loaded = True
                    self._machine.load(self._program, self.deadline, self._cancel)
                answer = self._machine.ask(frame, self.deadline, self._cancel)
            except ServiceLateError:
                self._end(Fate.LATE)
            except ServiceEndedError:
                self._end(Fate.ENDED)
            else:
                self._note(answer[:1])
                if answer[:1] in {b"V", b"T", b"E"}:
                    return answer
                if answer[:1] == b"U":
                    self.message = AnswerParts(answer[1:]).text()
                    self._end(Fate.UNPASSABLE)
                else:
                    self._end(Fate.ENDED)
        return b"X"

    def _note(self, kind: bytes) -> None:
        """Record an error of the machine: an overflow, for example, can corrupt classes of the library."""
        self.spent |= kind == b"E"
        self.doubtful |= kind == b"E"

    def _end(self, fate: Fate) -> None:
        self.fate, self.spent = fate, True
        self.doubtful |= fate is Fate.ENDED


def _report(frame: bytes, seal: bytes) -> TestsReport:
    """Read a verdict.

    Raises:
        ServiceEndedError: the frame is not a verdict, or does not have the seal.
    """
    part = AnswerParts(frame)
    if part.take(1) != b"D" or part.take(len(seal)) != seal:
        raise ServiceEndedError("it returned no verdict")
    passed, tests, failed, message = part.flag(), part.size(), part.text(), part.text()
    threads = part.flag()
    calls, changing, nothing = part.size(), part.flag(), part.flag()
    strange, raised, unpassable = part.flag(), part.flag(), part.text()
    return TestsReport(
        passed, tests, failed, message, None, calls, changing, nothing, strange, raised, unpassable, threads
    )
