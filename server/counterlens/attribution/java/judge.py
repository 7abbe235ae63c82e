"""Judging a Java program by supplied tests: a `main` that throws if the program is wrong, or JUnit tests."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event

from counterlens.attribution.base import Evidence, Isolation, Judgement, Setting, Strength, Verdict
from counterlens.attribution.java.bench import CompilerStoppedError, Fate, JavaBench, TestsReport
from counterlens.attribution.java.benches import BENCHES
from counterlens.attribution.java.libraries import INSTALL, JUNIT, junit_for
from counterlens.attribution.java.reliance import reasons_for_weakness
from counterlens.attribution.java.stand_ins import (
    InseparableError,
    JavaTests,
    StandIns,
    UnusedError,
    read_tests,
    stand_ins,
)
from counterlens.attribution.java.surroundings import Surroundings, surroundings
from counterlens.attribution.reading import read_program
from counterlens.attribution.test_run import brief
from counterlens.errors import SourceError
from counterlens.syntax.java_escapes import as_java_reads_it

ID = "given"
_PROGRAM, _TESTS, _STAND_INS = "program.java", "tests-of-it.java", "stand-ins.java"


@dataclass(frozen=True, slots=True)
class _Plan:
    """How programs are judged: with the tests' classes if they run apart, or the reason why they do not.

    Attributes:
        classes: The tests, compiled with stand-ins; None if they share a process with the program.
        why_shared: Why they share a process.
        refused: Why nothing can be judged.
        ambiguous: Types of the program with the name of a library class; the tests used the latter.
    """

    classes: dict[str, bytes] | None
    why_shared: str = ""
    refused: str = ""
    ambiguous: tuple[str, ...] = ()


class JavaTestsJudge:
    """Judges programs by tests supplied as text; see the module.

    Programs run apart from the tests if stand-ins can be built: then the program's code is never in the
    tests' process. Otherwise both run in one fresh JVM, and "passed" is weak.

    Args:
        tests: A class with a `main`, or with JUnit tests. Without imports of their own, they get those of the
            program.
        original: The program with the reference solution; None if there is none. With it, the choice is made
            before any program is judged: if the original does not pass apart, programs share the JVM.
        setting: The sandbox and limits for programs; its interpreter is not used.
        around: The files and jars to compile and run both with; by default the JUnit that the tests import,
            if any.
        attribution: The id of the attribution function that found the tests.
    """

    def __init__(
        self,
        tests: str,
        original: str | None,
        setting: Setting,
        *,
        around: Surroundings | None = None,
        attribution: str = ID,
    ) -> None:
        self._text, self._setting = as_java_reads_it(tests), setting
        self._original = None if original is None else as_java_reads_it(original)
        self._around = around or Surroundings(library=junit_for(tests))
        self.attribution = attribution
        self._plan: _Plan | None = None

    @cached_property
    def tests(self) -> int:
        """The number of cases: a `main` is one."""
        return read_tests(self._text, "").cases

    def vetted(self, original: str, cancel: Event | None) -> JavaTestsJudge | str:
        """This judge, if the original passes; else the reason."""
        verdict = self.judge(original, cancel=cancel)
        return self if verdict.passed else verdict.evidence.message or str(verdict.judgement)

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program; see `Judge.judge`.

        Raises:
            SandboxError: there is no Java development kit, or it cannot be run in the sandbox.
        """
        started = time.monotonic()
        with BENCHES.bench(self._setting.sandbox, self._around.library) as bench:
            try:
                judgement, evidence = self._judged(as_java_reads_it(program), bench, cancel)
            except CompilerStoppedError as stopped:
                judgement, evidence = stopped.judgement, Evidence(self.attribution, 0, None, str(stopped))
        return Verdict(judgement, evidence, time.monotonic() - started)

    def _judged(self, program: str, bench: JavaBench, cancel: Event | None) -> tuple[Judgement, Evidence]:
        if not self.tests:
            why = "the tests have no method `main` and no JUnit test: nothing in them could fail"
            return Judgement.REFUSED, Evidence(self.attribution, 0, None, why)
        if why := self._missing(program):
            return Judgement.REFUSED, Evidence(self.attribution, 0, None, why)
        classes = bench.compile(self._program(program), tests=False, cancel=cancel)
        if isinstance(classes, str):
            return Judgement.INVALID, Evidence(
                self.attribution, 0, None, brief(f"it does not compile: {classes}")
            )
        plan = self._planned(program, bench, cancel)
        if plan.classes is not None:
            seconds = self._setting.limits.seconds
            report = bench.run_apart(classes, plan.classes, seconds, cancel)
            judgement, evidence = self._isolated_verdict(report, plan.ambiguous)
            if judgement is Judgement.FAILED and report.fate is None and self._original is None:
                return self._unless_it_would_pass(program, bench, evidence, cancel)
            return judgement, evidence
        if plan.refused:
            return Judgement.REFUSED, Evidence(self.attribution, 0, None, plan.refused)
        return self._shared_verdict(program, bench, plan.why_shared, cancel)

    def _missing(self, program: str) -> str:
        """Return an import of the tests that is not available here; empty if the compiler has to decide."""
        foreign = self._ready(program).foreign
        if not foreign or self._around.library or self._around.tests:
            return ""
        if foreign[0].startswith(JUNIT):
            return f"the tests import {foreign[0]}, and JUnit was not found. {INSTALL}"
        return f"the tests import {foreign[0]}, which is neither the library's nor the program's"

    def _unless_it_would_pass(
        self, program: str, bench: JavaBench, evidence: Evidence, cancel: Event | None
    ) -> tuple[Judgement, Evidence]:
        """Failed, or refused if the tests pass in one process with the program.

        They may compare by identity, for example, which values lose between processes.
        """
        if self._shared_verdict(program, bench, "", cancel)[0] is not Judgement.PASSED:
            return Judgement.FAILED, evidence
        message = "the tests fail with the program in another process, but pass with it in their own"
        return Judgement.REFUSED, Evidence(
            self.attribution, 0, evidence.failed, message, isolation=Isolation.APART
        )

    def _planned(self, program: str, bench: JavaBench, cancel: Event | None) -> _Plan:
        """The plan for a program; with an original, the same for all."""
        if self._original is None:
            return self._with(program, bench, cancel)
        if self._plan is None:
            try:
                self._plan = self._tried(self._original, bench, cancel)
            except CompilerStoppedError as stopped:
                return _Plan(None, refused=f"of the original, {stopped}")
        return self._plan

    def _tried(self, original: str, bench: JavaBench, cancel: Event | None) -> _Plan:
        """The plan for all programs, tried on the original."""
        plan = self._with(original, bench, cancel)
        if plan.why_shared and self._uncompiled(original, bench, cancel):
            return _Plan(None, refused="the tests do not compile with the original")
        if plan.classes is None:
            return plan
        classes = bench.compile(self._program(original), tests=False, cancel=cancel)
        if isinstance(classes, str):
            return plan
        report = bench.run_apart(classes, plan.classes, self._setting.limits.seconds, cancel)
        return plan if report.passed else self._unless_together(plan, bench, cancel)

    def _unless_together(self, plan: _Plan, bench: JavaBench, cancel: Event | None) -> _Plan:
        """The plan to judge in one JVM, if the original passes there but not apart."""
        assert self._original is not None
        judgement, _ = self._shared_verdict(self._original, bench, "", cancel)
        if judgement is Judgement.PASSED:
            return _Plan(None, "the original passes them only in their own process")
        return plan

    def _with(self, program: str, bench: JavaBench, cancel: Event | None) -> _Plan:
        """The plan from the headers of a program."""
        tests = self._ready(program)
        try:
            also = [text for _, text in self._around.tests]
            made = stand_ins(program, tests.text, also=also)
            taken = _taken(made, bench)
            if {*taken} == {*made.names}:
                return _Plan(None, f"the library also has a {taken[0]}")
            if taken:  # the tests get the library's classes
                made = stand_ins(program, tests.text, taken, also)
        except UnusedError:
            return _Plan(None, refused="the tests use no class of the program")
        except InseparableError as error:
            return _Plan(None, str(error))
        units = [(_STAND_INS, made.text), (_TESTS, tests.text), *self._around.tests]
        classes = bench.compile(units, tests=True, cancel=cancel)
        if isinstance(classes, str):
            return _Plan(None, "they use more than its methods")
        return _Plan(classes, ambiguous=tuple(taken))

    def _ready(self, program: str) -> JavaTests:
        return read_tests(self._text, program if self._original is None else self._original)

    def _program(self, program: str) -> list[tuple[str, str]]:
        return [(_PROGRAM, program), *self._around.program]

    def _program_and_tests(self, program: str) -> list[tuple[str, str]]:
        """The program with its tests."""
        further = dict((*self._around.program, *self._around.tests))
        return [(_PROGRAM, program), (_TESTS, self._ready(program).text), *further.items()]

    def _uncompiled(self, program: str, bench: JavaBench, cancel: Event | None) -> bool:
        return isinstance(bench.compile(self._program_and_tests(program), tests=False, cancel=cancel), str)

    def _shared_verdict(
        self, program: str, bench: JavaBench, why: str, cancel: Event | None
    ) -> tuple[Judgement, Evidence]:
        classes = bench.compile(self._program_and_tests(program), tests=False, cancel=cancel)
        if isinstance(classes, str):
            message = brief(f"the tests do not compile with it: {classes}")
            return Judgement.FAILED, Evidence(self.attribution, 0, None, message, isolation=Isolation.SHARED)
        report = bench.run_together(classes, self._setting.limits.seconds, cancel)
        note = f"judged in the same process as the tests: {why}" if why else ""
        return self._verdict(report, Isolation.SHARED, note)

    def _isolated_verdict(
        self, report: TestsReport, ambiguous: tuple[str, ...]
    ) -> tuple[Judgement, Evidence]:
        if report.fate is Fate.UNPASSABLE or report.unpassable:
            what = report.message if report.fate is Fate.UNPASSABLE else report.unpassable
            message = f"a value of type {what} cannot be passed between the processes of program and tests"
            return Judgement.REFUSED, Evidence(self.attribution, 0, None, message, isolation=Isolation.APART)
        if report.passed and not report.calls:
            return Judgement.REFUSED, Evidence(self.attribution, 0, None, "the tests do not call the program")
        weak = report.changing or ambiguous
        isolation = Isolation.OWN_OPERATORS if weak else Isolation.APART
        note = f"the library's {', '.join(ambiguous)} was used instead of the program's" if ambiguous else ""
        return self._verdict(report, isolation, note)

    def _verdict(self, report: TestsReport, isolation: Isolation, note: str) -> tuple[Judgement, Evidence]:
        if report.fate is Fate.LATE:
            message = f"stopped after {self._setting.limits.seconds:g} s"
            return Judgement.TIMED_OUT, Evidence(
                self.attribution, report.tests, None, message, isolation=isolation
            )
        if report.fate is not None:
            message = "it ended its process or ran out of memory"
            return Judgement.FAILED, Evidence(
                self.attribution, report.tests, None, message, isolation=isolation
            )
        if not report.passed:
            failed = report.failed or None
            message = brief(report.message)
            return Judgement.FAILED, Evidence(
                self.attribution, report.tests, failed, message, isolation=isolation
            )
        if not report.tests:
            message = "no test was run"
            return Judgement.REFUSED, Evidence(self.attribution, 0, None, message, isolation=isolation)
        strength = None
        if why := reasons_for_weakness(self._text, report):
            strength, note = Strength.WEAK, "; ".join(filter(None, [note, *why]))
        return Judgement.PASSED, Evidence(self.attribution, report.tests, None, note, strength, isolation)


def _taken(made: StandIns, bench: JavaBench) -> list[str]:
    """The stand-ins whose simple name is also a library class that tests can use by that name."""
    asked = [(name, f"{package}.{name}") for name in made.names for package in made.packages]
    found = bench.library_has([full for _, full in asked])
    return list(dict.fromkeys(name for (name, _), there in zip(asked, found, strict=True) if there))


def judge_java_by_tests(
    program: str,
    path: Path,
    tests: Path,
    setting: Setting,
    *,
    function: str | None = None,
    cancel: Event | None = None,
) -> Verdict:
    """Run a file of tests against a program; arguments as for `judge_by_tests`.

    Raises:
        SourceError: the tests cannot be read, or a function is named.
        SandboxError: there is no development kit, or it cannot be run.
        Cancelled: `cancel` was set.
    """
    if function is not None:
        raise SourceError(
            "--function does not apply to Java, whose tests name the classes that they call",
            "Leave out --function",
        )
    text = read_program(tests)
    if isinstance(text, Verdict):
        raise SourceError(f"{tests}: {text.evidence.message}")
    text, program = as_java_reads_it(text), as_java_reads_it(program)
    around = surroundings(path, program, (tests, text))
    if isinstance(around, str):
        return Verdict(Judgement.REFUSED, Evidence(ID, 0, None, around))
    judge = JavaTestsJudge(text, None, setting, around=around)
    return judge.judge(program, cancel=cancel)
