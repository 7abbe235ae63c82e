"""Judging a whole Java program by the output of its `main`."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from threading import Event

from counterlens.java.judging.bench import CompilerStoppedError, HeldProgram
from counterlens.java.judging.benches import BENCHES
from counterlens.judging.base import Judgement
from counterlens.judging.output import TOO_MUCH, OutputJudge
from counterlens.sandbox.java.machine import AnswerParts
from counterlens.sandbox.serving import ServiceEndedError, ServiceLateError


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
            for case in self.cases:
                with bench.held(classes, cancel) as held:
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
