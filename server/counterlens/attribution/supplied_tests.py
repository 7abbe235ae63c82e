"""Tests supplied with a problem: text that calls the function and asserts, as in datasets.

HumanEval's `check(candidate)`, MBPP's lines of `assert` and CRUXEval's input and output have this form. The
tests never share a process with the candidate: they run with the original to record their calls, the
candidate makes those calls in a separate process, and the tests run again with its results.
"""

from __future__ import annotations

import ast
import contextlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Event
from typing import Any

from counterlens.attribution.base import Evidence, Judgement, Setting, Verdict
from counterlens.attribution.recording import CallRecord, Recorder, run
from counterlens.attribution.test_run import brief
from counterlens.sandbox.base import Ending
from counterlens.syntax.python_ast import parse_module

ID = "given"
_ROOM = 16 << 20  # maximum bytes of a report
_CUT = '["\\u2026"'  # replaces a value that is too large; see `sandboxed/recorder/structure.py`
_TOO_LARGE = "a value of type unknown cannot be passed between processes"
_JUDGEMENTS = {"invalid": Judgement.INVALID, "timed out": Judgement.TIMED_OUT}


class SuppliedTestsJudge:
    """Judges programs by tests supplied as text; see the module.

    Args:
        tests: Statements that run in the namespace of the program, and raise if it is wrong.
        target: The name of the function that they call.
        original: The program with the reference solution.
        setting: The sandbox and interpreter for programs.
    """

    attribution = ID

    def __init__(self, tests: str, target: str, original: str, setting: Setting) -> None:
        self._setting = replace(setting, limits=replace(setting.limits, output_bytes=_ROOM))
        self._text, self._target, self._original = tests, target, original

    @cached_property
    def tests(self) -> int:
        """The number of assertions in the tests."""
        try:
            return sum(isinstance(node, ast.Assert) for node in ast.walk(parse_module(self._text))) or 1
        except (SyntaxError, ValueError):
            return 0

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program; see `Judge.judge`."""
        started = time.monotonic()
        judgement, evidence = self._judged(program, cancel)
        return Verdict(judgement, evidence, time.monotonic() - started)

    def recorded_calls(self, _target: str, _cancel: Event | None) -> Sequence[Any]:
        """The calls of the function that the tests make while the original runs; see `TestRun`."""
        return () if isinstance(self._calls, tuple) else self._calls

    @cached_property
    def _calls(self) -> list[Mapping[str, Any]] | tuple[Judgement, str]:
        """The calls that the tests make to the original, or a judgement and the reason if unknown."""
        report = self._run(None, [], None)
        if "broken" in report:
            late = report.get("late")
            return Judgement.TIMED_OUT if late else Judgement.REFUSED, str(report["broken"])
        calls = report["calls"]
        if not calls:
            return Judgement.REFUSED, f"the tests do not call {self._target}"
        if any(mark in json.dumps(calls) for mark in ('["?"', _CUT)):
            return (
                Judgement.REFUSED,
                "the tests pass it functions, or other values that cannot cross between processes",
            )
        return list(calls)

    def _judged(self, program: str, cancel: Event | None) -> tuple[Judgement, Evidence]:
        calls = self._calls
        if isinstance(calls, tuple):
            judgement, why = calls  # on the original; it shows nothing about another program
            return judgement if program == self._original else Judgement.REFUSED, Evidence(ID, 0, None, why)
        recorder = Recorder(self._setting, None, self._target, readable=False)
        limit = self._setting.limits.seconds
        recording = recorder.record(program, calls, seconds=limit, stop=True, cancel=cancel)
        if recording.trouble is not None:
            kind = _JUDGEMENTS.get(recording.trouble.kind, Judgement.FAILED)
            return kind, Evidence(ID, 0, None, brief(str(recording.trouble)))
        seen = recording.observations
        if seen and seen[-1].limit:
            timed_out = seen[-1].limit == "time"
            message = f"stopped after {limit:g} s" if timed_out else f"it ended in a {seen[-1].limit}"
            kind = Judgement.TIMED_OUT if timed_out else Judgement.FAILED
            return kind, Evidence(ID, 0, f"call {len(seen)} of {self._target}", message)
        report = self._run([_plain(record) for record in seen], calls, cancel)
        if "broken" in report:
            return Judgement.FAILED, Evidence(ID, 0, None, brief(str(report["broken"])))
        if report["failed"] is not None:
            at = len(report["calls"]) - 1  # the last call that the tests made
            if _TOO_LARGE in report["message"] and at < len(seen) and _CUT in json.dumps(seen[at].result):
                message = "its result is too large to pass to the tests"
                return Judgement.REFUSED, Evidence(ID, 0, str(report["failed"]), message)
            return Judgement.FAILED, Evidence(ID, self.tests, str(report["failed"]), brief(report["message"]))
        if len(report["calls"]) != len(calls):
            return Judgement.FAILED, Evidence(ID, 0, None, "the tests ended before their last call")
        return Judgement.PASSED, Evidence(ID, self.tests)

    def _run(self, given: Any, calls: Any, cancel: Event | None) -> dict[str, Any]:
        task = {
            "source": self._original,
            "module": "program",
            "target": self._target,
            "tests": self._text,
            "given": given,
            "calls": calls,
        }
        outcome = run(self._setting, "replay", task, (), cancel)
        with contextlib.suppress(ValueError, RecursionError):
            report = json.loads(outcome.result)
            if isinstance(report, dict):
                return report
        return {"broken": "the tests did not finish", "late": outcome.ending is Ending.TIMED_OUT}


def _plain(seen: CallRecord) -> dict[str, Any]:
    return {"r": seen.result, "x": seen.exception, "a": seen.after}
