"""One trial: a program and its tests go into the sandbox, and a verdict comes out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from signal import Signals
from threading import Event
from typing import Any

from counterlens.attribution.base import Evidence, Judgement, Setting, Verdict
from counterlens.attribution.layout import Layout
from counterlens.sandbox.base import Ending, Job, Outcome

_RUNNER = {
    f"runner/{path.name}": path.read_bytes()
    for path in sorted((Path(__file__).parent / "runner").glob("*.py"))
}
_ENTRY = b"""\
import runner, sys
del sys.path[0]  # nothing else is to be imported from the private folder
import runner.session
runner.session.main()
"""
_LINES, _WIDTH = 8, 200  # how much of a message is kept


@dataclass(frozen=True, slots=True)
class Trial:
    """How to try programs that take the place of one file.

    Attributes:
        attribution: The id of the attribution function, for the evidence.
        setting: Where and how they run.
        place: The file that they replace; None for a text that is kept nowhere.
        task: What the runner is told beside the program and its place.
        folder: The working directory; None for a private one.
    """

    attribution: str
    setting: Setting
    place: Layout | None
    task: Mapping[str, Any]
    folder: Path | None = None

    def run(
        self,
        program: str,
        read: Callable[[dict[str, Any]], tuple[Judgement, Evidence]],
        cancel: Event | None,
    ) -> Verdict:
        """Run a program.

        Args:
            program: The whole source of the file.
            read: Makes the judgement from the runner's report, if there is one that can be trusted.
            cancel: Set it to give up.

        Raises:
            Cancelled: `cancel` was set.
            SandboxError: the sandbox could not be set up.
        """
        nonce = secrets.token_hex(16)
        place = self.place
        task = {
            "nonce": nonce,
            "source": program,
            "path": str(place.path) if place else "program.py",
            "module": place.module if place else "program",
            "roots": [str(root) for root in place.roots] if place else [],
            "folder": str(self.folder) if self.folder else None,
            **self.task,
        }
        job = Job(
            files={**_RUNNER, "start.py": _ENTRY, "task.json": json.dumps(task).encode()},
            entry="start.py",
            python=self.setting.python,
            readable=place.readable if place else (),
            limits=self.setting.limits,
        )
        outcome = self.setting.sandbox.run(job, cancel=cancel)
        report, running = _report(outcome, nonce)
        if report is None:
            judgement, message = self._ending(outcome)
            evidence = Evidence(self.attribution, 0, running, message)
        elif report.get("kind") == "invalid":
            line = report.get("line")
            where = f"line {line}: " if line else ""
            judgement = Judgement.INVALID
            evidence = Evidence(self.attribution, 0, None, brief(f"{where}{report.get('message')}"))
        elif report.get("kind") in {"import", "broken", "tampered"}:
            judgement = Judgement.FAILED
            evidence = Evidence(self.attribution, 0, None, _accident(report))
        else:
            judgement, evidence = read(report)
        if judgement is Judgement.FAILED and evidence.message.rstrip().endswith("MemoryError"):
            limit = f" (it may use {self.setting.limits.memory_bytes >> 20} MiB)"
            evidence = replace(evidence, message=evidence.message.rstrip() + limit)
        return Verdict(judgement, evidence, outcome.seconds)

    def _ending(self, outcome: Outcome) -> tuple[Judgement, str]:
        """What to say about a program that ended without a report."""
        limits = self.setting.limits
        if outcome.ending is Ending.TIMED_OUT:
            if outcome.code == Signals.SIGXCPU:
                return Judgement.TIMED_OUT, f"stopped after {limits.cpu_seconds} s of processor time"
            flood = ", writing without end" if outcome.truncated else ""
            return Judgement.TIMED_OUT, f"stopped after {limits.seconds:g} s{flood}"
        errors = outcome.errors.decode("utf-8", "replace").strip()
        last = errors.splitlines()[-1] if errors else ""
        if "MemoryError" in last:
            return Judgement.FAILED, f"it ran out of memory ({limits.memory_bytes >> 20} MiB)"
        if outcome.ending is Ending.SIGNALLED:
            name = Signals(outcome.code).name if outcome.code in set(Signals) else str(outcome.code)
            return Judgement.FAILED, f"the interpreter crashed ({name})" + (f": {last}" if last else "")
        reason = f": {last}" if last and outcome.code != 0 else ""
        return Judgement.FAILED, brief(
            f"the program ended before its tests did (exit code {outcome.code}){reason}"
        )


def brief(message: str) -> str:
    """A few lines of a message, none of them very long."""
    lines = [
        line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in message.strip().splitlines()
    ]
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"])


def _accident(report: dict[str, Any]) -> str:
    message = str(report.get("message"))
    if report["kind"] == "import":
        return brief(f"it cannot be imported: {message}")
    if report["kind"] == "tampered":
        return f"the program replaces {message}, which its tests rest on"
    return brief(f"the tests could not be run to their end: {message}")


def _report(outcome: Outcome, nonce: str) -> tuple[dict[str, Any] | None, str | None]:
    """The runner's report, if it is whole and its own; and the case that was running last."""
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
