"""Judge many variants of a program at once: the tests are loaded once, and a fork runs them on each variant.

A variant is the original with another body of a function. This is many times faster than a run of each, and
gives the same verdicts, with one exception: what the original did when it was imported is not done again. So
a variant may pass here that fails by itself; a caller to whom that matters judges those that pass again.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from signal import Signals
from threading import Event
from typing import Any

from counterlens.judging.base import Evidence, Judge, Judgement, Verdict
from counterlens.judging.pace import COUNTERFACTUAL, pace
from counterlens.python.judging.test_run import Reader, TestRun
from counterlens.python.syntax.parsing import first_line, parse_module
from counterlens.sandbox.base import JobOutcome

AT_ONCE = 250
"""Variants of one run; a cancellation ends it."""
LEAST = 0.5
"""Minimum bound on the processor time of a variant, in seconds."""
_ROOM = 16 << 20  # maximum bytes of the reports
_LATE = {Signals.SIGPROF, Signals.SIGALRM, Signals.SIGXCPU, Signals.SIGKILL}

Block = tuple[int, str, str]
"""The first line of a top-level statement of the original, the statement, and its text in a variant."""


def run_variants(
    test_run: TestRun, programs: Sequence[str], read: Reader, cancel: Event | None
) -> list[Verdict]:
    """Run the tests on variants of their original, several at a time.

    A variant that differs from the original outside of functions runs by itself, and so do all if there is no
    original, or if it does not pass and was not seen to fail by itself.

    Args:
        test_run: The tests; `original` is the program of which these are variants.
        programs: The whole sources.
        read: As for `TestRun.run`.

    Raises:
        SandboxError, Cancelled: as `TestRun.run`.
    """
    original = test_run.original
    blocks = dict(_changed_blocks(original, programs)) if original is not None else {}
    verdicts: dict[int, Verdict] = {}
    first: Verdict | None = None
    waiting = list(blocks)
    while original is not None and len(waiting) > 1:
        chosen, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
        batch = _Batch(test_run, original, [blocks[number] for number in chosen], read, cancel)
        first = batch.verdict(-1)
        if first is None or not (first.passed or test_run.history.original_passes is False):
            break
        verdicts.update({n: verdict for at, n in enumerate(chosen) if (verdict := batch.verdict(at))})
    if first is None and len(verdicts) < len(programs) > 1 and original is not None:
        first = test_run.run(original, read, cancel)
    for number, program in enumerate(programs):
        if number not in verdicts:
            with pace(first or Verdict(Judgement.REFUSED, Evidence("", 0))):
                verdicts[number] = test_run.run(program, read, cancel)
    return [verdicts[number] for number in range(len(programs))]


class RunningJudge(Judge):
    """A judge by tests that run as a `TestRun`."""

    at_once = True

    def __init__(self, test_run: TestRun) -> None:
        self._test_run = test_run

    @abstractmethod
    def _read(self, report: dict[str, Any]) -> tuple[Judgement, Evidence]:
        """Return the judgement from the runner's report."""

    def recorded_calls(self, target: str, cancel: Event | None) -> Sequence[Any]:
        """The calls of a function that the tests make while the original runs; see `TestRun`."""
        return self._test_run.recorded_calls(target, cancel)

    def judge_variants(self, programs: Sequence[str], *, cancel: Event | None = None) -> list[Verdict]:
        """Run the tests against many variants of the original at once; see `run_variants`."""
        return run_variants(self._test_run, programs, self._read, cancel)


def _changed_blocks(original: str, programs: Sequence[str]) -> Iterator[tuple[int, Block]]:
    """For each program that differs within one top-level statement, its number and the statement."""
    try:
        module = parse_module(original)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = original.split("\n")
    for number, program in enumerate(programs):
        changed = program.split("\n")
        fewest = min(len(lines), len(changed))
        start = next((at for at in range(fewest) if lines[at] != changed[at]), fewest)
        behind = next(
            (at for at in range(fewest - start) if lines[-1 - at] != changed[-1 - at]), fewest - start
        )
        for node in module.body:
            first, last = first_line(node), node.end_lineno or node.lineno
            if first <= start + 1 and len(lines) - behind <= last:
                until = last + len(changed) - len(lines)
                yield (
                    number,
                    (first, "\n".join(lines[first - 1 : last]), "\n".join(changed[first - 1 : until])),
                )


class _Batch:
    """One run of the original's tests on some variants, by their index; -1 is the original."""

    def __init__(
        self, test_run: TestRun, original: str, blocks: Sequence[Block], read: Reader, cancel: Event | None
    ) -> None:
        self._test_run, self._read = test_run, read
        nonce, jobs, limits = secrets.token_hex(16), os.cpu_count() or 1, test_run.setting.limits
        least = max(
            LEAST, 2 * test_run.history.whole_seconds
        )  # a failing original has not run all of its tests
        task = {"blocks": blocks, "jobs": jobs, "times": COUNTERFACTUAL.times, "least": least}
        job = test_run.with_task(variants=task).job(original, nonce, cancel)
        limits = replace(
            limits,
            seconds=limits.seconds * (1 + len(blocks) / 5),
            cpu_seconds=limits.cpu_seconds + math.ceil(len(blocks) / 20),  # of the process that forks
            processes=limits.processes + jobs,
            output_bytes=max(limits.output_bytes, _ROOM),
        )
        outcome = test_run.setting.sandbox.run(replace(job, limits=limits), cancel=cancel)
        self._reports = {report.pop("variant", None): report for report in _reports(outcome, nonce)}
        self._ended = {
            int(number): int(status) for number, status in self._reports.get(None, {}).get("ended", ())
        }

    def verdict(self, number: int) -> Verdict | None:
        """The verdict on a variant; None if it must run by itself."""
        report, status = self._reports.get(number), self._ended.get(number)
        name = self._test_run.attribution
        if report is None and status is not None:
            late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in _LATE
            reason = "stopped, far slower than the original" if late else "it ended before its tests did"
            return Verdict(Judgement.TIMED_OUT if late else Judgement.FAILED, Evidence(name, 0, None, reason))
        if report is None or report["kind"] not in {"cases", "examples"}:
            return None
        judgement, evidence = self._read(report)
        spent = report["microseconds"] / 1e6
        return Verdict(judgement, evidence, spent, spent)


def _reports(outcome: JobOutcome, nonce: str) -> Iterator[dict[str, Any]]:
    """The authentic reports of all processes of a run."""
    for line in outcome.result.decode("utf-8", "replace").split("\n"):
        word, _, rest = line.partition(" ")
        given, _, text = rest.partition(" ")
        if word == "report" and secrets.compare_digest(given.encode(), nonce.encode()):
            try:
                report = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(report, dict):
                yield report
