"""The judge of Java programs by differential execution, with the smallest input that distinguishes them."""

from __future__ import annotations

import time
from threading import Event

from counterlens.attribution.base import Evidence, Judgement, Strength, Verdict
from counterlens.attribution.differential.comparing import ID, ComparingJudge, Distinction
from counterlens.attribution.java.bench import CompilerStoppedError, JavaBench
from counterlens.attribution.java.benches import BENCHES
from counterlens.attribution.java.differential.calling import (
    CallFate,
    JavaCall,
    make_call,
    same_answer,
    shown,
)
from counterlens.attribution.java.differential.original import SECONDS, JavaOriginal
from counterlens.attribution.test_run import brief
from counterlens.counting import plural
from counterlens.sandbox.java.values import JavaAnswer

_MISSING = "java.lang.NoSuchMethodException"
_COMPLAINTS = frozenset(
    [
        *("IndexOutOfBoundsException", "ArrayIndexOutOfBoundsException", "StringIndexOutOfBoundsException"),
        *("NumberFormatException", "NullPointerException", "ClassCastException", "ArithmeticException"),
        *("NegativeArraySizeException", "NoSuchElementException", "InputMismatchException"),
        *("EmptyStackException", "ArrayStoreException"),
    ]
)
_ENOUGH_APART = 20  # inputs that distinguish them, from which the smallest is chosen


class JavaDifferentialJudge(ComparingJudge):
    """Compares a program in Java with the original.

    Original and candidate run in separate JVMs, or one after the other in a JVM whose other programs they
    cannot reach, and their results are compared here.
    """

    def __init__(self, original: JavaOriginal) -> None:
        self.original = original

    @property
    def tests(self) -> int:
        """The number of inputs."""
        return len(self.original.calls)

    @property
    def share(self) -> float:
        """The share of the original's blocks that they reach; 0 if unknown."""
        return self.original.share

    @property
    def reached(self) -> str:
        """The blocks that they reach."""
        original = self.original
        if original.reached is None:
            return "an unknown part"
        return f"{original.reached} of {plural(original.blocks, 'block')}"

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Compare a program with the original; see `Judge.judge`."""
        started = time.monotonic()
        with BENCHES.bench(self.original.setting.sandbox, self.original.around.library) as bench:
            judgement, evidence = self._judged(program, bench, cancel)
        return Verdict(judgement, evidence, time.monotonic() - started)

    def _judged(self, program: str, bench: JavaBench, cancel: Event | None) -> tuple[Judgement, Evidence]:
        try:
            classes = bench.compile(self.original.units(program), tests=False, cancel=cancel)
        except CompilerStoppedError as stopped:
            return stopped.judgement, Evidence(ID, 0, None, str(stopped))
        if isinstance(classes, str):
            return Judgement.INVALID, Evidence(ID, 0, None, brief(f"it does not compile: {classes}"))
        target, tried = self.original.target, 0
        apart: list[tuple[JavaCall, JavaAnswer, JavaAnswer]] = []
        with bench.held(classes, cancel) as held:
            for call, before in zip(self.original.calls, self.original.answers, strict=True):
                tried += 1
                now = make_call(held, target, call, self._seconds)
                if isinstance(now, CallFate):
                    judgement = Judgement.TIMED_OUT if now is CallFate.LATE else Judgement.FAILED
                    return judgement, self._evidence(tried, call, now.value)
                if now.thrown == _MISSING and not call_throws(before):
                    message = f"the program has no method {target.name} that takes the same arguments"
                    return Judgement.FAILED, self._evidence(tried, None, message)
                if not same_answer(before, now) and not self._both_complain(before, now):
                    apart.append((call, before, now))
                if len(apart) >= _ENOUGH_APART or (apart and now.serious):
                    break
        if not apart:
            return Judgement.PASSED, Evidence(ID, tried, None, self.basis)
        call, before, now = min(apart, key=lambda each: (each[1].value is None, each[0].size))
        written = call.written(target.name)
        found = Distinction(written, shown(before, now), shown(now, before), len(apart), tried)
        return Judgement.FAILED, self._evidence(tried, call, found.comparison_text)

    def _both_complain(self, one: JavaAnswer, other: JavaAnswer) -> bool:
        """Whether both ended in an exception of the library that the method's text does not name.

        The choice among several errors in a bad input is not part of a method's meaning.
        """
        text = self.original.target.node.text or b""
        names = [answer.thrown.rpartition(".")[2] for answer in (one, other)]
        return all(name in _COMPLAINTS and name.encode() not in text for name in names)

    @property
    def _seconds(self) -> float:
        return min(SECONDS, self.original.setting.limits.seconds)

    def _evidence(self, tried: int, call: JavaCall | None, message: str) -> Evidence:
        failed = call.written(self.original.target.name) if call is not None else None
        return Evidence(ID, tried, failed, message, Strength.STRONG)


def call_throws(answer: JavaAnswer) -> bool:
    """Whether the original itself threw an error about a missing method."""
    return answer.thrown == _MISSING
