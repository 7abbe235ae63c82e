"""One run of a program with its tests in the sandbox, and the verdict on it.

The runner of the tests decides. What pytest calls an *error*, in the collection or the set-up of a test, is
refused, unless the program raises it; what it calls *failed* is failed. Only what the sandbox itself changes
may excuse a failure: a variable of the environment, or a module of the library. An original that passes the
same tests, or another program, shows that it does not.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from signal import Signals
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from counterlens.judging.base import Evidence, Judge, Judgement, Setting, Verdict, brief
from counterlens.judging.pace import bound_limits
from counterlens.python.judging.layout import Layout
from counterlens.python.judging.outside import refused_files
from counterlens.python.syntax.versions import newer_syntax
from counterlens.sandbox.base import Ending, Job, JobOutcome
from counterlens.sandbox.interpreter import describe as describe_interpreter
from counterlens.sandbox.shipping import quick_files

if TYPE_CHECKING:
    from counterlens.python.judging.compiled import CompiledProject

_PACKAGE = Path(__file__).with_name("sandboxed")
_UNUSED = ("recorder", "pytest_warm", "runner_warm", "shipped_loader", "warm_up_cases")
_ENTRY = b"""\
import sandboxed, sys
del sys.path[0]  # nothing else is to be imported from the private folder
import sandboxed.runner.session
sandboxed.runner.session.main()
"""
_PRELOAD = (
    "json",
    "unittest",
    "traceback",
    "asyncio",
    "ctypes",
    "decimal",
    "fractions",
    "uuid",
    "typing",
)
_WARM = "counterlens.python.judging.sandboxed."
_WITHOUT_CASES = (*_PRELOAD, f"{_WARM}runner_warm")
WITH_CASES = (*_PRELOAD, "pytest", "hypothesis", f"{_WARM}pytest_warm", f"{_WARM}runner_warm")
Reader = Callable[[dict[str, Any]], tuple[Judgement, Evidence]]
_HIDDEN = (
    "the tests or the program read {names} from the environment, which the sandbox does not pass on; let the "
    "tests set what they need"
)
_LIBRARY = (
    "{name} of the project has the name of a module of the standard library, which had been loaded before or "
    "which pytest itself needs; rename it"
)
_NAMED_MODULE = re.compile(r"(?:from|module) '(\w+)'")


@dataclass(slots=True, eq=False)
class RunHistory:
    """What the runs of one judge have shown.

    Attributes:
        programs: Number of programs that its tests have judged.
        any_passed: Whether a program has passed them, so that a failure of another one is its own.
        original_passes: Whether the original passes them; None until it has run.
    """

    lock: Lock = field(default_factory=Lock)
    programs: int = 0
    any_passed: bool = False
    original_passes: bool | None = None


@dataclass(frozen=True, slots=True)
class TestRun:
    """Tests programs in place of one file; a program and its tests are in one process, inside the sandbox.

    Attributes:
        attribution: The id of the attribution function, for the evidence.
        setting: Their sandbox and interpreter.
        place: The file that they replace; None for a text without a file.
        task: The runner's task, except the program and its place.
        folder: The working directory; None for a private one.
        original: The trusted program, if there is one.
        readable: Further paths that programs may read.
        history: What its runs have shown.
        compiles: Whether the project's files are compiled ahead, if there is an original.
    """

    attribution: str
    setting: Setting
    place: Layout | None
    task: Mapping[str, Any]
    folder: Path | None = None
    original: str | None = None
    readable: tuple[Path, ...] = ()
    history: RunHistory = field(default_factory=RunHistory)
    compiles: bool = True

    def with_task(self, **more: object) -> TestRun:
        """The same test run with additions to the runner's task; it shares the history."""
        return replace(self, task={**self.task, **more})

    def passes_original(self, read: Reader, cancel: Event | None) -> bool:
        """Whether there is an original that passes the tests; it runs at most once for that."""
        if self.original is None:
            return False
        with self.history.lock:
            if self.history.original_passes is None:
                self.history.original_passes = self.run(self.original, read, cancel).passed
            return self.history.original_passes

    def run(self, program: str, read: Reader, cancel: Event | None) -> Verdict:
        """Run a program.

        Args:
            program: The whole source of the file.
            read: Derives the judgement from the runner's report, if there is a trustworthy one.

        Raises:
            Cancelled: `cancel` was set.
            SandboxError: the sandbox could not be set up.
        """
        nonce = secrets.token_hex(16)
        outcome = self.setting.sandbox.run(self.job(program, nonce, cancel), cancel=cancel)
        report, running = _report(outcome, nonce)
        kind = report.get("kind") if report is not None else None
        if report is None:
            judgement, message = self._ending(outcome)
            evidence = Evidence(self.attribution, 0, running, message)
        elif kind == "invalid":
            line = report.get("line")
            where = f"line {line}: " if line else ""
            judgement = Judgement.INVALID
            newer = newer_syntax(program, describe_interpreter(self.setting.python).version)
            message = f"{where}{report.get('message')}" + (f"; {newer}" if newer else "")
            evidence = Evidence(self.attribution, 0, None, brief(message))
        elif kind in {"import", "broken", "tampered"}:
            judgement = Judgement.FAILED
            evidence = Evidence(self.attribution, 0, None, _accident(report))
        else:
            if report.get("unstarted"):
                report["unstarted"] = in_lines(str(report["unstarted"]), _last_words(outcome))
            judgement, evidence = read(report)
        unset = report.get("unset", ()) if report else ()
        why = _why_unclear(self, evidence.message, unset) if judgement is Judgement.FAILED else None
        if why is not None and not self._passes_otherwise(program, read, cancel):
            judgement, evidence = Judgement.REFUSED, Evidence(self.attribution, 0, None, brief(why))
        self.history.any_passed |= judgement is Judgement.PASSED and "every" not in self.task
        refusals = (*outcome.refusals, *refused_files(outcome))
        if refusals and judgement in {Judgement.FAILED, Judgement.TIMED_OUT}:
            judgement = Judgement.REFUSED
            message = in_lines(f"the sandbox refuses it: {refusals[0]}", evidence.message)
            evidence = replace(evidence, message=brief(message))
        return Verdict(judgement, evidence, outcome.seconds, outcome.cpu_seconds or None)

    def _passes_otherwise(self, program: str, read: Reader, cancel: Event | None) -> bool:
        """Whether another program passes the tests, so that a failure of this one is its own."""
        return self.history.any_passed or (program != self.original and self.passes_original(read, cancel))

    def recorded_calls(self, target: str, cancel: Event | None) -> list[Any]:
        """The distinct calls of a function that the tests make while its original runs.

        Args:
            target: The dotted path of the function in its module.

        Returns:
            Calls in the form of `sandboxed/recorder/calls.py`; empty if there is no original.
        """
        heard: dict[str, Any] = {}

        def read(report: dict[str, Any]) -> tuple[Judgement, Evidence]:
            heard.update(report)
            return Judgement.PASSED, Evidence(self.attribution, 0)

        if self.original is not None:
            self.with_task(record=target, every=True).run(self.original, read, cancel)
        try:
            calls = json.loads(heard.get("calls") or "[]")
        except (ValueError, TypeError, RecursionError):
            return []
        return calls if isinstance(calls, list) else []

    def job(self, program: str, nonce: str, cancel: Event | None) -> Job:
        """The job that runs a program; its report carries the nonce."""
        place, kept = self.place, self._compiled(cancel)
        own = (*(place.readable if place else ()), *self.readable)
        task = {
            "nonce": nonce,
            "source": program,
            "path": str(place.path) if place else "program.py",
            "module": place.module if place else "program",
            "roots": [str(root) for root in place.roots] if place else [],
            "folder": str(self.folder) if self.folder else None,
            "kept": str(kept.folder) if kept else "",
            **self.task,
        }
        bytecode = describe_interpreter(self.setting.python).bytecode
        return Job(
            files={"start.py": _ENTRY, "task.json": json.dumps(task).encode()},
            cold_files=quick_files(_PACKAGE, bytecode, () if "record" in self.task else _UNUSED),
            entry="start.py",
            python=self.setting.python,
            readable=(*(kept.readable if kept else ()), *own),
            writable=tuple(path for path in own if path.is_dir()),
            limits=bound_limits(self.setting.limits),
            preload=WITH_CASES if "files" in self.task else _WITHOUT_CASES,
            covers=place.covered_by(program) if place else {},
        )

    def _compiled(self, cancel: Event | None) -> CompiledProject | None:
        """The project's compiled files, compiled before the second program; None if there are none.

        Needs an original: without one, the file on disk may be the judged program itself.
        """
        if not self.compiles or self.place is None or self.original is None or "files" not in self.task:
            return None
        from counterlens.python.judging.compiled import CompiledProject  # examples need none

        project = CompiledProject(self.place, self.setting)
        if not project.usable:
            return None
        self.history.programs += 1
        if self.history.programs == 2:  # one program alone would only be slower
            project.add([Path(file["path"]) for file in self.task["files"]], WITH_CASES, cancel)
        return project

    def _ending(self, outcome: JobOutcome) -> tuple[Judgement, str]:
        """The judgement and message for a program that ended without a report."""
        limits = bound_limits(self.setting.limits)
        ending, code = outcome.ending, outcome.code
        if ending is Ending.TIMED_OUT:
            if code == Signals.SIGXCPU:
                return Judgement.TIMED_OUT, f"stopped after {limits.cpu_seconds:.3g} s of processor time"
            flood = ", writing without end" if outcome.truncated else ""
            return Judgement.TIMED_OUT, f"stopped after {limits.seconds:g} s{flood}"
        errors = outcome.errors.decode("utf-8", "replace").strip()
        last = errors.splitlines()[-1] if errors else ""
        if "MemoryError" in last:
            return Judgement.FAILED, f"it ran out of memory ({limits.memory_bytes >> 20} MiB)"
        if ending is Ending.SIGNALLED:
            name = Signals(code).name if code in set(Signals) else str(code)
            return Judgement.FAILED, f"the interpreter crashed ({name})" + (f": {last}" if last else "")
        reason = f": {last}" if last and code != 0 else ""
        return Judgement.FAILED, brief(f"the program ended before its tests did (exit code {code}){reason}")


class RunningJudge(Judge):
    """A judge by tests that run as a `TestRun`."""

    def __init__(self, test_run: TestRun) -> None:
        self._test_run = test_run

    def recorded_calls(self, target: str, cancel: Event | None) -> Sequence[Any]:
        """The calls of a function that the tests make while the original runs; see `TestRun`."""
        return self._test_run.recorded_calls(target, cancel)


def in_lines(*parts: str) -> str:
    """The parts that are not empty, a line each."""
    return "\n".join(filter(None, parts))


def _accident(report: dict[str, Any]) -> str:
    message = str(report.get("message"))
    if report["kind"] == "import":
        return brief(f"it cannot be imported: {message}")
    if report["kind"] == "tampered":
        return f"the program replaces {message}, which its tests use"
    return brief(f"the tests could not finish: {message}")


def _last_words(outcome: JobOutcome) -> str:
    """The last line that a run has written, which says why pytest did not start."""
    said = outcome.errors.strip() or outcome.output.strip()
    return said.decode("utf-8", "replace").rpartition("\n")[2]


def _report(outcome: JobOutcome, nonce: str) -> tuple[dict[str, Any] | None, str | None]:
    """The runner's report, if it is complete and authentic; and the case that was running last."""
    lines = outcome.result.decode("utf-8", "replace").split("\n")
    running = failed = None
    for line in lines:
        word, _, name = line.partition(" ")
        if word in {"case", "failed"}:
            try:
                running = str(json.loads(name))
            except ValueError:
                continue
            failed = running if word == "failed" else failed
    reports = [line for line in lines if line.startswith("report ")]
    whole = len(lines) >= 2 and lines[-1] == "" and lines[-2:-1] == reports
    if not whole or outcome.ending is not Ending.EXITED or outcome.code != 0:
        return None, running
    _, given, text = (*reports[0].split(" ", 2), "")[:3]
    if not secrets.compare_digest(given.encode(), nonce.encode()):
        return None, running
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        return None, running
    if not isinstance(report, dict):
        return None, running
    kept = report.get("kind") != "cases" or any(each[1] == "failed" for each in report["results"])
    if failed is not None and not kept:
        return {"kind": "tampered", "message": "the report of its tests"}, failed
    return report, running


def _why_unclear(test_run: TestRun, message: str, unset: Iterable[str]) -> str | None:
    """Why a failure may not be the program's; None if nothing suggests it.

    Args:
        test_run: The tests that it failed.
        message: The message of the failure.
        unset: The variables that the program and its tests read, and that the sandbox does not have.
    """
    hidden = sorted(name for name in unset if name in os.environ)
    library = _library_module(test_run, message)
    if not hidden and library is None:
        return None
    reason = _HIDDEN.format(names=", ".join(hidden)) if hidden else _LIBRARY.format(name=library)
    return in_lines(reason, message)


def _library_module(test_run: TestRun, message: str) -> str | None:
    """A module of the project that may have been mixed up with one of the standard library; None if none has.

    It is the program itself, if the error is outside of the tests, or one that the message names.
    """
    place = test_run.place
    if place is None or "files" not in test_run.task:
        return None
    own = place.module.partition(".")[0]
    names = [
        name
        for name in _NAMED_MODULE.findall(message)
        for root in place.roots
        if name != own
        if (root / f"{name}.py").is_file() or (root / name / "__init__.py").is_file()
    ]
    files = test_run.task["files"]
    if not any(file.get("examples") or message.startswith(Path(file["path"]).name) for file in files):
        names.append(own)
    return next((name for name in names if name in sys.stdlib_module_names), None)
