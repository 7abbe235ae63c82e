"""Judging a Java program: by a `main` that throws, by JUnit tests, or by what its own `main` prints."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Event

from counterlens.errors import SourceError
from counterlens.java.judging.bench import (
    BENCHES,
    CompilerStoppedError,
    Fate,
    HeldProgram,
    JavaBench,
    TestsReport,
)
from counterlens.java.judging.project import (
    INSTALL,
    JUNIT,
    JavaProject,
    JavaSource,
    Surroundings,
    junit_for,
    surroundings,
)
from counterlens.java.judging.test_source import JavaTests, read_tests
from counterlens.java.syntax import as_java_reads_it
from counterlens.judging.base import Evidence, Judge, Judgement, Setting, Verdict, brief
from counterlens.judging.comparison import TOO_MUCH, OutputJudge
from counterlens.judging.programs import read_program
from counterlens.judging.registry import JointJudge
from counterlens.sandbox.java.machine import AnswerParts
from counterlens.sandbox.serving import ServiceEndedError, ServiceLateError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

ID, _GIVEN = "tests", "given"
"""How verdicts by the tests that are there, and by a given file, are attributed."""
_PROGRAM, _TESTS = "program.java", "tests-of-it.java"
_NAME = re.compile(r"Test\w*|\w+Tests?|\w+TestCase|\w+IT")
_MOST_FILES = 20


class JavaTestsJudge(Judge):
    """Judges programs by tests supplied as text; see the module.

    Program and tests are compiled together and run in one JVM with assertions enabled, as by `javac` and
    `java -ea`. The verdict is what such a run says, except that an early end is a failure.

    Args:
        tests: A class with a `main`, or with JUnit tests. Without imports of their own, they get those of the
            program.
        original: The program with the reference solution; None if there is none. Tests that do not compile
            with it judge nothing.
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
        attribution: str = _GIVEN,
    ) -> None:
        self._text, self._setting = as_java_reads_it(tests), setting
        self._original = None if original is None else as_java_reads_it(original)
        self._around = around or Surroundings(library=junit_for(tests))
        self._attribution = attribution
        self._compiles_with_original: bool | None = None

    @property
    def attribution(self) -> str:
        """The id of the attribution function that found the tests."""
        return self._attribution

    @cached_property
    def tests(self) -> int:
        """The number of cases: a `main` is one."""
        return read_tests(self._text, "").cases

    def vetted(self, original: str, cancel: Event | None) -> JavaTestsJudge | str:
        """This judge, if the original passes; else the reason."""
        verdict = self.judge(original, cancel=cancel)
        return self if verdict.passed else verdict.evidence.message or str(verdict.judgement)

    def recorded_calls(self, _target: str, _cancel: Event | None) -> tuple[str, ...]:
        """The text of the tests, whose literals are tried as arguments; their calls are not recorded."""
        return (self._text,)

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
                judgement, evidence = stopped.judgement, self._evidence(str(stopped))
        return Verdict(judgement, evidence, time.monotonic() - started)

    def _judged(self, program: str, bench: JavaBench, cancel: Event | None) -> tuple[Judgement, Evidence]:
        if not self.tests:
            why = "the tests have no method `main` and no JUnit test: nothing in them could fail"
            return Judgement.REFUSED, self._evidence(why)
        tests = read_tests(self._text, program if self._original is None else self._original)
        classes = bench.compile(self._units(program, tests), cancel=cancel)
        if isinstance(classes, str):
            return self._uncompiled(program, tests, classes, bench, cancel)
        report = bench.run_tests(tests.names, classes, self._setting.limits.seconds, cancel)
        return self._verdict(report)

    def _units(self, program: str, tests: JavaTests) -> list[tuple[str, str]]:
        """The program with its tests."""
        further = dict((*self._around.program, *self._around.tests))
        return [(_PROGRAM, program), (_TESTS, tests.text), *further.items()]

    def _uncompiled(
        self, program: str, tests: JavaTests, errors: str, bench: JavaBench, cancel: Event | None
    ) -> tuple[Judgement, Evidence]:
        """The verdict if program and tests do not compile together: which of them is to blame?"""
        if why := self._missing(tests):
            return Judgement.REFUSED, self._evidence(why)
        alone = bench.compile([(_PROGRAM, program), *self._around.program], cancel=cancel)
        if isinstance(alone, str):
            return Judgement.INVALID, self._evidence(brief(f"it does not compile: {alone}"))
        if self._original is not None and self._compiles_with_original is None:
            with_original = bench.compile(self._units(self._original, tests), cancel=cancel)
            self._compiles_with_original = not isinstance(with_original, str)
        if self._compiles_with_original is False:
            return Judgement.REFUSED, self._evidence("the tests do not compile with the original")
        return Judgement.FAILED, self._evidence(brief(f"the tests do not compile with it: {errors}"))

    def _missing(self, tests: JavaTests) -> str:
        """An import of the tests that is not available here; empty if there is none."""
        if not tests.foreign or self._around.library or self._around.tests:
            return ""
        if tests.foreign[0].startswith(JUNIT):
            return f"the tests import {tests.foreign[0]}, and JUnit was not found. {INSTALL}"
        return f"the tests import {tests.foreign[0]}, which is neither the library's nor the program's"

    def _verdict(self, report: TestsReport) -> tuple[Judgement, Evidence]:
        if report.fate is Fate.LATE:
            message = f"stopped after {self._setting.limits.seconds:g} s"
            return Judgement.TIMED_OUT, self._evidence(message)
        if report.fate is not None:
            return Judgement.FAILED, self._evidence("it ended its process or ran out of memory")
        if not report.passed:
            evidence = Evidence(self.attribution, report.tests, report.failed or None, brief(report.message))
            return Judgement.FAILED, evidence
        if not report.tests:
            return Judgement.REFUSED, self._evidence("no test was run")
        return Judgement.PASSED, Evidence(self.attribution, report.tests)

    def _evidence(self, message: str) -> Evidence:
        return Evidence(self.attribution, 0, None, message)


class JavaFileOfTestsJudge(Judge):
    """Judges programs by a file of tests, which is compiled with what the program's project has around it.

    Args:
        path: The file in whose place a program is.
        tests: The file of tests.
        setting: The sandbox and limits for programs.
        function: None: tests of Java name the classes that they call.

    Raises:
        SourceError: the tests cannot be read, or a function is named.
    """

    attribution, tests = "tests", 0

    def __init__(
        self,
        path: Path,
        tests: Path,
        setting: Setting,
        function: str | None = None,
        _right: str = "",
        _original: Path | None = None,
    ) -> None:
        if function is not None:
            raise SourceError(
                "--function does not apply to Java, whose tests name the classes that they call",
                "Leave out --function",
            )
        text = read_program(tests)
        if isinstance(text, Verdict):
            raise SourceError(f"{tests}: {text.evidence.message}")
        self._path, self._file, self._text, self._setting = path, tests, text, setting

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program; see `JavaTestsJudge.judge`."""
        text, program = as_java_reads_it(self._text), as_java_reads_it(program)
        around = surroundings(self._path, program, (self._file, text))
        if isinstance(around, str):
            return Verdict(Judgement.REFUSED, Evidence(_GIVEN, 0, None, around))
        return JavaTestsJudge(text, None, self._setting, around=around).judge(program, cancel=cancel)

    def recorded_calls(self, _target: str, _cancel: Event | None) -> tuple[str, ...]:
        """The text of the tests; see `JavaTestsJudge.recorded_calls`."""
        return (self._text,)


class JavaOutputJudge(OutputJudge):
    """Runs the cases in one JVM, each with the program's classes loaded again.

    A program that calls `System.exit` ends its JVM, and fails.
    """

    def _printed(self, program: str, cancel: Event | None) -> Iterator[str | tuple[Judgement, str]]:
        with BENCHES.bench(self.setting.sandbox) as bench:
            try:
                classes = bench.compile([("Main.java", program)], cancel=cancel)
            except CompilerStoppedError as stopped:
                yield stopped.judgement, str(stopped)
                return
            if isinstance(classes, str):
                yield Judgement.INVALID, f"it does not compile: {classes}"
                return
            with bench.held(classes, cancel) as held:
                for case in self.cases:
                    yield self._run(held, case.input)

    def _run(self, held: HeldProgram, given: str) -> str | tuple[Judgement, str]:
        data = given.encode("utf-8", "replace")
        try:
            answer = held.ask(b"P" + struct.pack(">i", len(data)) + data, self.setting.limits.seconds)
            part = AnswerParts(answer)
            if part.take(1) != b"P":
                raise ServiceEndedError("no output")
            well, full, message = part.flag(), part.flag(), part.text()
            printed = part.take(part.size()).decode("utf-8", "replace")
        except ServiceLateError:
            held.leave()
            return self._late()
        except ServiceEndedError:
            held.leave()
            return Judgement.FAILED, "it ended its process or ran out of memory"
        if not well:
            return Judgement.FAILED, f"it ends with an error: {message}"
        return (Judgement.FAILED, TOO_MUCH) if full else printed


class JavaSuiteJudge(JointJudge):
    """The judges by several files of tests as one."""

    def __init__(self, judges: Sequence[JavaTestsJudge]) -> None:
        super().__init__(judges)
        self._files = tuple(judges)

    def vetted(self, original: str, cancel: Event | None) -> JavaSuiteJudge | str:
        """The judge by the files whose tests the original passes; the reason if there are none."""
        outcomes = [judge.vetted(original, cancel) for judge in self._files]
        kept = [judge for judge in outcomes if not isinstance(judge, str)]
        return JavaSuiteJudge(kept) if kept else next(why for why in outcomes if isinstance(why, str))


def find(document: Document, function: Function, setting: Setting) -> JavaSuiteJudge | None:
    """The judge by all test files that name a method; those named after its class come first."""
    if document.path is None:
        return None
    project = JavaProject(document.path)
    files = [
        source
        for source in files_with_tests(document, function, project)
        if not setting.excludes(_shown_path(source.path, project))
    ]
    judges = []
    for source in files[:_MOST_FILES]:
        around = surroundings(project.path, document.text, (source.path, source.text), project)
        if isinstance(around, Surroundings):
            judges.append(JavaTestsJudge(source.text, document.text, setting, around=around, attribution=ID))
    return JavaSuiteJudge(judges) if judges else None


def files_with_tests(
    document: Document, function: Function, project: JavaProject | None = None
) -> list[JavaSource]:
    """The test files that name a method and its class; those named after the class come first.

    Args:
        document: The file of the method; without a path, there are no test files.
        project: The project, if known.
    """
    if document.path is None:
        return []
    project = project or JavaProject(document.path)
    owners = re.sub(r"\(.*", "", function.qualname).split(".")[:-1]
    name = function.name if function.name not in owners else owners[-1]
    files = [
        source
        for source in project.sources
        if _NAME.fullmatch(source.path.stem)
        and {name, *owners[:1]} <= source.words
        and read_tests(source.text, document.text).cases
    ]
    stem = document.path.stem
    files.sort(key=lambda source: (stem not in source.path.stem, len(source.path.stem), str(source.path)))
    return files


def _shown_path(path: Path, project: JavaProject) -> str:
    return path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else path.name
