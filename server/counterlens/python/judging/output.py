"""Judging whole Python programs by their output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Event

from counterlens.judging.base import Judgement
from counterlens.judging.output import ROOM, TOO_MUCH, OutputJudge, PrintingCase
from counterlens.python.syntax.parsing import parse_module
from counterlens.sandbox.base import Ending, Job

# A file, not a pipe: some programs query the length of their input.
_START = b"""\
import os, runpy, sys
os.dup2(os.open("input.txt", os.O_RDONLY), 0)
sys.argv[:] = ["main.py"]
runpy.run_path("main.py", run_name="__main__")
"""


class PythonOutputJudge(OutputJudge):
    """Runs each case in a separate process."""

    def _printed(self, program: str, cancel: Event | None) -> Iterator[str | tuple[Judgement, str]]:
        try:
            parse_module(program)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield Judgement.INVALID, f"it does not parse: {error}"
            return
        for case in self.cases:
            yield self._run(program, case, cancel)

    def _run(self, program: str, case: PrintingCase, cancel: Event | None) -> str | tuple[Judgement, str]:
        files = {
            "main.py": program.encode("utf-8", "replace"),
            "input.txt": case.input.encode("utf-8", "replace"),
            "start.py": _START,
        }
        limits = self.setting.limits
        limits = replace(limits, output_bytes=max(ROOM, limits.output_bytes))
        job = Job(files, "start.py", self.setting.python, limits=limits)
        outcome = self.setting.sandbox.run(job, cancel=cancel)
        if outcome.ending is Ending.TIMED_OUT:
            return self._late()
        if outcome.ending is not Ending.EXITED or outcome.code != 0:
            last_line = outcome.errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
            return Judgement.FAILED, f"it ends with an error: {last_line or f'exit code {outcome.code}'}"
        if outcome.truncated:
            return Judgement.FAILED, TOO_MUCH
        return outcome.output.decode("utf-8", "replace")
