"""The judge of Java programs by differential execution, with the smallest input that distinguishes them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event

from counterlens.attribution.base import Agreement, Comparison, Evidence, Judgement, Verdict
from counterlens.attribution.differential.comparing import ID, ComparingJudge, Distinction
from counterlens.attribution.java.bench import CompilerStoppedError, HeldProgram
from counterlens.attribution.java.benches import BENCHES
from counterlens.attribution.java.differential.calling import (
    CallFate,
    JavaCall,
    observe_call,
    same_answer,
    shown,
    shown_result,
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


@dataclass
class _Differences:
    """The inputs on which a program differs.

    Attributes:
        apart: Those with both results.
        tried: Number of inputs that were tried.
        ended: The input after which nothing more could be tried, with both outcomes.
    """

    apart: list[tuple[JavaCall, JavaAnswer, JavaAnswer]] = field(default_factory=list)
    tried: int = 0
    ended: tuple[JavaCall, JavaAnswer, JavaAnswer | CallFate] | None = None


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
        judgement, evidence, _ = self._compared(program, cancel)
        return Verdict(judgement, evidence, time.monotonic() - started)

    def compare(self, program: str, *, cancel: Event | None = None) -> Comparison:
        """What the original says about a program: inputs on which it throws contest nothing."""
        judgement, evidence, found = self._compared(program, cancel)
        returning = sum(answer.value is not None for answer in self.original.answers)
        if judgement is Judgement.PASSED:
            return Comparison(Agreement.AGREES, returning)
        if judgement is Judgement.REFUSED:
            return Comparison(Agreement.NOT_COMPARABLE, reason=evidence.message)
        if found is None:
            return Comparison(Agreement.DIFFERS, returning, evidence.failed, other=evidence.message)
        if found.refused:
            where = f"differs only where the original refuses, such as {found.call}"
            return Comparison(Agreement.AGREES, returning, reason=where)
        return Comparison(Agreement.DIFFERS, returning, found.call, found.original, found.other)

    def _compared(self, program: str, cancel: Event | None) -> tuple[Judgement, Evidence, Distinction | None]:
        original = self.original
        with BENCHES.bench(original.setting.sandbox, original.around.library) as bench:
            try:
                classes = bench.compile(original.units(program), cancel=cancel)
            except CompilerStoppedError as stopped:
                return stopped.judgement, Evidence(ID, 0, None, str(stopped)), None
            if isinstance(classes, str):
                return (
                    Judgement.INVALID,
                    Evidence(ID, 0, None, brief(f"it does not compile: {classes}")),
                    None,
                )
            with bench.held(classes, cancel) as held:
                return self._verdict(self._differences(held))

    def _differences(self, held: HeldProgram) -> _Differences:
        """The inputs on which a program differs; each is tried again, in another order, until some differ."""
        pairs = list(zip(self.original.calls, self.original.answers, strict=True))
        found = _Differences()
        for turn in (pairs, list(reversed(pairs))):
            for call, before in turn:
                now = observe_call(held, self.original.target, call, self._seconds)
                found.tried += turn is pairs
                if isinstance(now, CallFate) or (now.thrown == _MISSING and not call_throws(before)):
                    found.ended = call, before, now
                    return found
                if not same_answer(before, now) and not self._both_complain(before, now):
                    found.apart.append((call, before, now))
                if len(found.apart) >= _ENOUGH_APART or (found.apart and now.serious):
                    return found
            if found.apart:
                return found
            held.renew(self._seconds)
        return found

    def _verdict(self, found: _Differences) -> tuple[Judgement, Evidence, Distinction | None]:
        target, tried = self.original.target, found.tried
        if found.apart:
            call, before, now = min(found.apart, key=lambda each: (each[1].value is None, each[0].size))
            texts = shown(before, now), shown(now, before)
            difference = Distinction(
                call.written(target), *texts, len(found.apart), tried, before.value is None
            )
            evidence = Evidence(ID, tried, difference.call, difference.comparison_text)
            return Judgement.FAILED, evidence, difference
        if found.ended is None:
            return Judgement.PASSED, Evidence(ID, tried, None, self.basis), None
        call, before, fate = found.ended
        if isinstance(fate, CallFate):
            judgement = Judgement.TIMED_OUT if fate is CallFate.LATE else Judgement.FAILED
            difference = Distinction(
                call.written(target),
                shown_result(before, before),
                fate.value,
                1,
                tried,
                before.value is None,
            )
            return judgement, Evidence(ID, tried, difference.call, fate.value), difference
        message = f"the program has no method {target.name} that takes the same arguments"
        return Judgement.FAILED, Evidence(ID, tried, None, message), None

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


def call_throws(answer: JavaAnswer) -> bool:
    """Whether the original itself threw an error about a missing method."""
    return answer.thrown == _MISSING
