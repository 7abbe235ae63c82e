"""One run of a program with its tests in the sandbox, and the verdict on it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from signal import Signals
from threading import Event, Lock
from typing import Any

from counterlens.attribution.base import Evidence, Isolation, Judgement, Setting, Strength, Verdict
from counterlens.attribution.compiled import CompiledProject
from counterlens.attribution.layout import Layout
from counterlens.attribution.pace import COUNTERFACTUAL, FIRST_APART, at_most, bounded, paced
from counterlens.sandbox.base import Ending, Job, JobOutcome
from counterlens.sandbox.interpreter import describe as describe_interpreter
from counterlens.sandbox.shipping import quick_files
from counterlens.syntax.python_versions import newer_syntax

_PACKAGE = Path(__file__).with_name("sandboxed")
_UNUSED = ("recorder/", "pytest_warm", "runner_warm", "warm_up_cases")
_ENTRY = b"""\
import sandboxed, sys
del sys.path[0]  # nothing else is to be imported from the private folder
import sandboxed.runner.session
sandboxed.runner.session.main()
"""
_CANDIDATE = b"""\
import sandboxed, sys
del sys.path[0]
import sandboxed.runner.isolated.candidate_process
sandboxed.runner.isolated.candidate_process.main()
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
_WARM = "counterlens.attribution.sandboxed."
_WITHOUT_CASES = (*_PRELOAD, f"{_WARM}runner_warm")
WITH_CASES = (*_PRELOAD, "pytest", "hypothesis", f"{_WARM}pytest_warm", f"{_WARM}runner_warm")
Reader = Callable[[dict[str, Any]], tuple[Judgement, Evidence]]
_MOST_PLACES = 200_000  # maximum characters that are passed to each program's tests
_LINES, _WIDTH = 8, 200  # maximum lines of a message, and characters of each
_SHARED = "in the same process as its tests, where it could have forged this: "
OWN_OPERATORS = (
    "an operator of its own objects, or an object of the tests that it can change, had a part in the result"
)
"""Why "passed" is weak if operators of the program had a part in it."""
_DOUBTS = {
    "nothing": "it returned nothing where the tests loop over its result, so nothing was compared there",
    "few": "it returned too few items for a loop of the tests, which compared only these",
    "nan": "it returned NaN or infinity, which a difference does not distinguish from other numbers",
    "unasserted": "a test case ended before its first assertion",
    "unused": "it did not call a function that the tests passed to it to check its behaviour",
    "own": "the tests compare only values of the program with each other",
    "skipped": "tests were skipped because of a value of the program",
    "swallowed": "it caught the error with which a function of the tests rejected it",
    "guarded": "an assertion that depends on its result was never reached",
    "caught": "it raised an error that the tests catch before their assertion",
    "by name": "the tests call a comparison by its name, such as __eq__, which need not return a Boolean",
    "code": "the tests run or unpickle its result",
    "prefix": "the tests compare only as many items as it returned, and never check their number",
    "missing": "it lacks a name that the tests import, and they use a substitute",
}
"""Why "passed" is weak, by `CandidateConnection.doubts`."""
_NOT_APART = (
    "the tests and this program cannot be in two processes: {why}; with --isolation shared they are in one, "
    "as weak evidence"
)


class Apartness(StrEnum):
    """Whether a program runs in a separate process from its tests."""

    CALIBRATED = "calibrated"  # if the original passes that way, else never
    AUTO = "auto"  # unless the tests rule it out; a program that passes only in their process is refused
    NEVER = "never"


class IsolationCalibration:
    """Whether the tests of one judge work from another process: determined once, with the original.

    Attributes:
        apart: Whether they do; None until that is known.
        why_shared: A test that does not pass from another process, with the reason; empty if unknown.
        programs: Number of programs that they have judged.
        relied_on: The reliance of the tests on the program, by file and case, found by a run of the original.
        places: The places in the tests' files that decide how strong evidence is, also by files and cases.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.apart: bool | None = None
        self.why_shared = ""
        self.programs = 0
        self.relied_on: dict[str, list[Any]] = {}
        self.places: dict[str, dict[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class _Tried:
    verdict: Verdict
    inseparable: str | None = None


@dataclass(frozen=True, slots=True)
class TestRun:
    """Tests programs in place of one file.

    Attributes:
        attribution: The id of the attribution function, for the evidence.
        setting: Their sandbox and interpreter.
        place: The file that they replace; None for a text without a file.
        task: The runner's task, except the program and its place.
        folder: The working directory; None for a private one.
        original: The trusted program; it shows whether its tests work from another process.
        apartness: Whether programs run in separate processes.
        inseparable: With `AUTO`, an operation of the tests that only works in the process of the program, if
            any; derived from the tests alone, before there is any program.
        readable: Further paths that programs may read.
    """

    attribution: str
    setting: Setting
    place: Layout | None
    task: Mapping[str, Any]
    folder: Path | None = None
    original: str | None = None
    apartness: Apartness = Apartness.CALIBRATED
    inseparable: str | None = None
    readable: tuple[Path, ...] = ()
    calibration: IsolationCalibration = field(default_factory=IsolationCalibration)

    def run(self, program: str, read: Reader, cancel: Event | None) -> Verdict:
        """Run a program.

        Args:
            program: The whole source of the file.
            read: Derives the judgement from the runner's report, if there is a trustworthy one.
            cancel: Set to cancel.

        Raises:
            Cancelled: `cancel` was set.
            SandboxError: the sandbox could not be set up.
        """
        if self.apartness is Apartness.AUTO:
            return self._run_warily(program, read, cancel)
        apart = False
        if self.apartness is Apartness.CALIBRATED and self.original is not None:
            with self.calibration.lock:
                if self.calibration.apart is None:
                    first = self._try_apart(self.original, read, cancel)
                    self.calibration.apart = first.passed
                    self.calibration.why_shared = "" if first.passed else first.evidence.message
                    if first.passed and program == self.original:
                        return first
                apart = self.calibration.apart
        verdict = self._try(program, read, cancel, apart=apart).verdict
        return verdict if apart else _with_reason(verdict, self.calibration.why_shared)

    def _try_apart(self, original: str, read: Reader, cancel: Event | None) -> Verdict:
        """Run the original apart; if that takes long, for a multiple of its time in the tests' process."""
        with at_most(FIRST_APART):
            first = self._try(original, read, cancel, apart=True).verdict
        if first.judgement is not Judgement.TIMED_OUT:
            return first
        shared = self._try(original, read, cancel, apart=False).verdict
        if COUNTERFACTUAL.seconds(shared) <= FIRST_APART:
            return first
        with paced(shared):
            return self._try(original, read, cancel, apart=True).verdict

    def with_task(self, **more: object) -> TestRun:
        """The same test run with additions to the runner's task; it shares the calibration."""
        return replace(self, task={**self.task, **more})

    def once(self, program: str, read: Reader, cancel: Event | None, *, apart: bool) -> Verdict:
        """Run a program apart or not, as given, whatever the calibration says; otherwise as `run`."""
        return self._try(program, read, cancel, apart=apart).verdict

    def recorded_calls(self, target: str, cancel: Event | None) -> list[Any]:
        """The distinct calls of a function that the tests make while its original runs.

        Args:
            target: The dotted path of the function in its module.
            cancel: Set to cancel.

        Returns:
            Calls in the form of `sandboxed/recorder/calls.py`; empty if there is no original.
        """
        heard: dict[str, Any] = {}

        def read(report: dict[str, Any]) -> tuple[Judgement, Evidence]:
            heard.update(report)
            return Judgement.PASSED, Evidence(self.attribution, 0)

        if self.original is not None:
            self.with_task(record=target, every=True).once(self.original, read, cancel, apart=False)
        try:
            calls = json.loads(heard.get("calls") or "[]")
        except (ValueError, TypeError, RecursionError):
            return []
        return calls if isinstance(calls, list) else []

    @staticmethod
    def isolation_of(*, apart: bool) -> Isolation:
        """The isolation of a program from its tests if it runs apart, or not."""
        return Isolation.APART if apart else Isolation.SHARED

    def _run_warily(self, program: str, read: Reader, cancel: Event | None) -> Verdict:
        """Run a program without a trusted original: it may not fail apart and then pass shared."""
        if self.inseparable is not None:
            verdict = self._try(program, read, cancel, apart=False).verdict
            return _with_reason(verdict, self.inseparable)
        first = self._try(program, read, cancel, apart=True)
        if first.inseparable is not None:
            reason = brief(_NOT_APART.format(why=first.inseparable))
            evidence = Evidence(self.attribution, 0, None, reason, isolation=Isolation.APART)
            return Verdict(Judgement.REFUSED, evidence, first.verdict.seconds)
        if first.verdict.judgement is not Judgement.FAILED:
            return first.verdict
        second = self._try(program, read, cancel, apart=False).verdict
        seconds = first.verdict.seconds + second.seconds
        if not second.passed:
            return replace(first.verdict, seconds=seconds)
        evidence = first.verdict.evidence
        message = (
            "it passes in the process of its tests, but not in its own, where it could not forge the "
            f"result: {evidence.message}"
        )
        return Verdict(Judgement.REFUSED, replace(evidence, message=brief(message)), seconds)

    def _try(self, program: str, read: Reader, cancel: Event | None, *, apart: bool) -> _Tried:
        nonce = secrets.token_hex(16)
        place, kept = self.place, self._compiled(cancel)
        task = {
            "nonce": nonce,
            "source": program,
            "path": str(place.path) if place else "program.py",
            "module": place.module if place else "program",
            "roots": [str(root) for root in place.roots] if place else [],
            "folder": str(self.folder) if self.folder else None,
            "apart": apart,
            "kept": str(kept.folder) if kept else "",
            **self.task,
        }
        tests = json.dumps(self.task.get("files"), sort_keys=True)
        task["relied_on"] = self.calibration.relied_on.get(tests, [])
        task["places"] = self.calibration.places.get(tests, {})
        bytecode = describe_interpreter(self.setting.python).bytecode
        job = Job(
            files={
                "start.py": _ENTRY,
                "candidate.py": _CANDIDATE,
                "task.json": json.dumps(task).encode(),
            },
            cold_files=quick_files(_PACKAGE, bytecode, () if "record" in self.task else _UNUSED),
            entry="start.py",
            python=self.setting.python,
            readable=(*(kept.readable if kept else place.readable if place else ()), *self.readable),
            limits=bounded(self.setting.limits),
            second_program="candidate.py" if apart else None,
            preload=WITH_CASES if "files" in self.task else _WITHOUT_CASES,
            covers=place.covered_by(program) if place else {},
        )
        outcome = self.setting.sandbox.run(job, cancel=cancel)
        report, running = _report(outcome, nonce)
        isolation = Isolation.APART if apart else Isolation.SHARED
        kind = report.get("kind") if report is not None else None
        if report is None or kind == "gone":
            judgement, message = self._ending(outcome)
            evidence = Evidence(self.attribution, 0, running, message)
        elif kind == "invalid":
            line = report.get("line")
            where = f"line {line}: " if line else ""
            judgement = Judgement.INVALID
            newer = newer_syntax(program, describe_interpreter(self.setting.python).version)
            message = f"{where}{report.get('message')}" + (f"; {newer}" if newer else "")
            evidence = Evidence(self.attribution, 0, None, brief(message))
        elif kind in {"import", "broken", "tampered", "inseparable"}:
            judgement = Judgement.FAILED
            evidence = Evidence(self.attribution, 0, None, _accident(report))
        else:
            if report.get("unstarted"):
                report["unstarted"] = in_lines(str(report["unstarted"]), _last_words(outcome))
            judgement, evidence = read(report)
            if apart and program == self.original and "relied_on" in report:
                self.calibration.relied_on[tests] = report["relied_on"]
                if report.get("places") and len(json.dumps(report["places"])) <= _MOST_PLACES:
                    self.calibration.places[tests] = report["places"]
            isolation = Isolation.OWN_OPERATORS if report.get("own_operators") else isolation
            if isolation is Isolation.OWN_OPERATORS and judgement is Judgement.PASSED:
                evidence = replace(evidence, message=in_lines(evidence.message, OWN_OPERATORS))
            doubts = [text for doubt, text in _DOUBTS.items() if doubt in report.get("doubts", ())]
            if judgement is Judgement.PASSED and doubts:
                message = "; ".join(part for part in (evidence.message, *doubts) if part)
                evidence = replace(evidence, strength=Strength.WEAK, message=message)
        if judgement is Judgement.FAILED and evidence.message.rstrip().endswith("MemoryError"):
            limit = f" (it may use {self.setting.limits.memory_bytes >> 20} MiB)"
            evidence = replace(evidence, message=evidence.message.rstrip() + limit)
        verdict = Verdict(
            judgement,
            replace(evidence, isolation=isolation),
            outcome.seconds,
            _processor_time(outcome, apart),
        )
        return _Tried(verdict, str(report["message"]) if report and kind == "inseparable" else None)

    def _compiled(self, cancel: Event | None) -> CompiledProject | None:
        """The project's compiled files, compiled before the second program; None if there are none.

        Needs an original: without one, the file on disk may be the judged program itself.
        """
        if self.place is None or self.original is None or "files" not in self.task:
            return None
        project = CompiledProject(self.place, self.setting)
        if not project.usable:
            return None
        self.calibration.programs += 1
        if self.calibration.programs == 2:  # one program alone would only be slower
            project.add([Path(file["path"]) for file in self.task["files"]], WITH_CASES, cancel)
        return project

    def _ending(self, outcome: JobOutcome) -> tuple[Judgement, str]:
        """The judgement and message for a program that ended without a report."""
        limits = bounded(self.setting.limits)
        ending, code = outcome.ending, outcome.code
        if outcome.second_ending is not None and ending is Ending.EXITED:  # it ran apart, and ended first
            ending, code = outcome.second_ending
        if ending is Ending.TIMED_OUT:
            if code == Signals.SIGXCPU:
                return Judgement.TIMED_OUT, f"stopped after {limits.cpu_seconds} s of processor time"
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


def in_lines(*parts: str) -> str:
    """The parts that are not empty, a line each."""
    return "\n".join(filter(None, parts))


def shared_since(why: str) -> str:
    """A sentence on a program that ran in the process of its tests; empty without a reason."""
    return _SHARED + why if why else ""


def _with_reason(verdict: Verdict, why: str) -> Verdict:
    """A verdict with the reason that the program ran in the process of its tests, if it passed."""
    if not verdict.passed or not why:
        return verdict
    message = brief(in_lines(verdict.evidence.message, shared_since(why)))
    return replace(verdict, evidence=replace(verdict.evidence, message=message))


def _processor_time(outcome: JobOutcome, apart: bool) -> float | None:
    """The processor time of the longer of a program's two processes, or of its only one; None if unknown."""
    if outcome.ending is Ending.TIMED_OUT or (apart and outcome.second_cpu_seconds is None):
        return None
    return max(outcome.cpu_seconds, outcome.second_cpu_seconds or 0.0) or None


def brief(message: str) -> str:
    """A message cut to a few lines of limited length."""
    lines = [
        line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in message.strip().splitlines()
    ]
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"])


def _accident(report: dict[str, Any]) -> str:
    message = str(report.get("message"))
    if report["kind"] == "import":
        return brief(f"it cannot be imported: {message}")
    if report["kind"] == "tampered":
        return f"the program replaces {message}, which its tests use"
    if report["kind"] == "inseparable":
        return brief(f"the program cannot be separated from its tests: {message}")
    return brief(f"the tests could not finish: {message}")


def _last_words(outcome: JobOutcome) -> str:
    """The last line that a run has written, which says why pytest did not start."""
    said = outcome.errors.strip() or outcome.output.strip()
    return said.decode("utf-8", "replace").rpartition("\n")[2]


def _report(outcome: JobOutcome, nonce: str) -> tuple[dict[str, Any] | None, str | None]:
    """The runner's report, if it is complete and authentic; and the case that was running last."""
    lines = outcome.result.decode("utf-8", "replace").split("\n")
    running = None
    for line in lines:
        if line.startswith("case "):
            try:
                running = str(json.loads(line[len("case ") :]))
            except ValueError:
                continue
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
    return (report if isinstance(report, dict) else None), running
