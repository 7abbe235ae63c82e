"""The judge of Java programs by differential execution, with the smallest input that distinguishes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event

from counterlens.counting import plural
from counterlens.java.judging.bench import BENCHES, Classes, CompilerStoppedError, HeldProgram, JavaBench
from counterlens.java.judging.differential.calling import (
    CallFate,
    JavaCall,
    describe,
    ends_like,
    observe_call,
    same_answer,
    shown_result,
)
from counterlens.java.judging.differential.original import ILL_TYPED, SECONDS, JavaOriginal, observe
from counterlens.judging.base import Evidence, Judgement, brief
from counterlens.judging.comparing import (
    ID,
    ComparingJudge,
    DifferentialOutcome,
    Distinction,
    smallest,
)
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


_Pair = tuple[JavaCall, JavaAnswer, JavaAnswer]
"""A call, and the results of original and program."""


@dataclass
class _Differences:
    """The inputs on which a program differs.

    Attributes:
        apart: Those with both results.
        tried: Number of inputs that were tried.
        ended: The input after which nothing more could be tried, with both outcomes.
    """

    apart: list[_Pair] = field(default_factory=list)
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

    @property
    def returning(self) -> int:
        """The number of inputs on which the original returns."""
        return sum(answer.value is not None for answer in self.original.answers)

    def outcome(self, program: str, cancel: Event | None) -> DifferentialOutcome:
        """Observe a program on the inputs; see `ComparingJudge`."""
        original = self.original
        with BENCHES.bench(original.setting.sandbox, original.around.library) as bench:
            try:
                classes = bench.compile(original.units(program), cancel=cancel)
                reference = bench.compile(original.units(original.text), cancel=cancel)
            except CompilerStoppedError as stopped:
                return DifferentialOutcome(stopped.judgement, Evidence(ID, 0, None, str(stopped)))
            if isinstance(classes, str):
                message = brief(f"it does not compile: {classes}")
                return DifferentialOutcome(Judgement.INVALID, Evidence(ID, 0, None, message))
            with bench.held(classes, cancel) as held:
                differences = self._differences(held)
            if not differences.apart:
                return self._without_difference(differences)
            best = min(differences.apart, key=lambda each: (each[1].value is None, each[0].size))
            if not isinstance(reference, str):
                returned = best[1].value is not None
                best = smallest(
                    best,
                    lambda calls: self._distinguishing(bench, reference, classes, calls, returned, cancel),
                )
            return self._differing(best, differences)

    def _distinguishing(
        self,
        bench: JavaBench,
        reference: Classes,
        classes: Classes,
        calls: Sequence[JavaCall],
        returning: bool,
        cancel: Event | None,
    ) -> list[_Pair]:
        """Those of some calls on which original and program differ, too."""
        pairs: list[_Pair] = []
        target = self.original.target
        with bench.held(reference, cancel) as held:
            ours = observe(held, target, calls, self._seconds)
        with bench.held(classes, cancel) as held:
            for call, before in ours.items():
                if isinstance(before, CallFate) or before.serious or before.thrown in ILL_TYPED:
                    continue
                if (before.value is None and not before.thrown) or (before.value is None and returning):
                    continue
                now = observe_call(held, target, call, self._seconds)
                if isinstance(now, CallFate) or now.serious:
                    break  # it takes too long to try more
                if not same_answer(before, now) and not self._both_complain(before, now):
                    pairs.append((call, before, now))
        return pairs

    def _differences(self, held: HeldProgram) -> _Differences:
        """The inputs on which a program differs; each is tried again, in another order, until some differ."""
        pairs = list(zip(self.original.calls, self.original.answers, strict=True))
        differences = _Differences()
        for turn in (pairs, list(reversed(pairs))):
            for call, before in turn:
                now = observe_call(held, self.original.target, call, self._seconds)
                differences.tried += turn is pairs
                if isinstance(now, CallFate) or (now.thrown == _MISSING and not call_throws(before)):
                    differences.ended = call, before, now
                    return differences
                if not same_answer(before, now) and not self._both_complain(before, now):
                    differences.apart.append((call, before, now))
                if len(differences.apart) >= _ENOUGH_APART or (differences.apart and now.serious):
                    return differences
            if differences.apart:
                return differences
            held.renew(self._seconds)
        return differences

    def _differing(self, smallest: _Pair, differences: _Differences) -> DifferentialOutcome:
        call, before, now = smallest
        texts = describe(before, now), describe(now, before)
        refused = before.value is None
        written = call.written(self.original.target)
        returned = not ends_like(before, now)
        apart, tried = len(differences.apart), differences.tried
        difference = Distinction(written, *texts, apart, tried, refused, returned)
        evidence = Evidence(ID, differences.tried, written, difference.comparison_text)
        return DifferentialOutcome(Judgement.FAILED, evidence, difference)

    def _without_difference(self, differences: _Differences) -> DifferentialOutcome:
        target, tried = self.original.target, differences.tried
        if differences.ended is None:
            return DifferentialOutcome(Judgement.PASSED, Evidence(ID, tried, None, self.basis))
        call, before, fate = differences.ended
        if not isinstance(fate, CallFate):
            message = f"the program has no method {target.name} that takes the same arguments"
            return DifferentialOutcome(Judgement.FAILED, Evidence(ID, tried, None, message))
        judgement = Judgement.TIMED_OUT if fate is CallFate.LATE else Judgement.FAILED
        texts = shown_result(before, before), fate.value
        difference = Distinction(call.written(target), *texts, 1, tried, before.value is None)
        return DifferentialOutcome(judgement, Evidence(ID, tried, difference.call, fate.value), difference)

    def _both_complain(self, first: JavaAnswer, other: JavaAnswer) -> bool:
        """Whether both ended in an exception of the library that the method's text does not name.

        The choice among several errors in a bad input is not part of a method's meaning.
        """
        text = self.original.target.node.text or b""
        names = [answer.thrown.rpartition(".")[2] for answer in (first, other)]
        return all(name in _COMPLAINTS and name.encode() not in text for name in names)

    @property
    def _seconds(self) -> float:
        return min(SECONDS, self.original.setting.limits.seconds)


def call_throws(answer: JavaAnswer) -> bool:
    """Whether the original itself threw an error about a missing method."""
    return answer.thrown == _MISSING
