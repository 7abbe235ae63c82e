"""`ComparingJudge`: the common base of judges by differential execution, for any language."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from threading import Event
from typing import Protocol, TypeVar

from counterlens.counting import plural
from counterlens.judging.base import (
    Evidence,
    Judge,
    Judgement,
    OriginalComparison,
    OriginalSays,
    OtherDifference,
    Verdict,
)

ID = "differential"
NOT_IMPORTED = "its file cannot be imported"
"""Why nothing is known of a program's behaviour: the beginning of the reason."""
FEWEST = 3
"""Minimum number of inputs on which the original must return."""
UNSTEADY = 0.05
"""Maximum share of the inputs on which a second run of the original may give another result."""

_STEPS, _TRIES, _TURNS, _PATIENCE = 256, 80, 12, 6.0
# Simplification: steps looked at and inputs run in a round, rounds, seconds. A long value has thousands of
# steps, each as long as itself: the largest come first.

CallT = TypeVar("CallT", bound="SimplifiableCall")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Untestable:
    """The reason why a function cannot be judged by its behaviour on inputs."""

    reason: str


@dataclass(frozen=True, slots=True)
class Distinction:
    """The smallest input found on which a program behaves differently from the original.

    Attributes:
        call: The call, as text.
        original: The behaviour of the original.
        other: The behaviour of the program.
        apart: Number of inputs that distinguish them.
        tried: Number of inputs that were tried.
        refused: Whether the original refuses every input that distinguishes them: it raises.
        returned: Whether they return different values or raise different exceptions for this call; else it
            does other things besides, such as changing an argument or returning that very object.
    """

    call: str
    original: str
    other: str
    apart: int
    tried: int
    refused: bool = False
    returned: bool = True

    @property
    def comparison_text(self) -> str:
        """Both results, and the number of inputs that distinguish them."""
        how_many = f"{self.apart} of {plural(self.tried, 'input')} distinguish them"
        how_many += ", this is the smallest" if self.tried > 1 else ""
        return f"original: {brief(self.original)}\nthis one: {brief(self.other)}\n{how_many}"


@dataclass(frozen=True, slots=True)
class ComparedElsewhere:
    """What comparing a program with the original found on inputs that are not like those of the tests.

    Attributes:
        inputs: Number of such inputs.
        kinds: How they differ from those of the tests, such as `negative`.
        difference: The smallest one found on which the program differs; None if it does on none.
    """

    inputs: int
    kinds: tuple[str, ...]
    difference: OtherDifference | None = None


@dataclass(frozen=True, slots=True)
class DifferentialOutcome:
    """What comparing a program with the original found.

    Attributes:
        difference: The smallest input found on which they differ; None if there is none, or no result. If
            calls of the tests are known, it is like them.
        left_out: Number of inputs that were not compared, because the program is too slow for their size.
        elsewhere: What it does on other inputs, if calls of the tests are known and it agrees on these.
        traces: What it does that nobody else sees, and the original does not, such as a warning.
    """

    judgement: Judgement
    evidence: Evidence
    difference: Distinction | None = None
    left_out: int = 0
    elsewhere: ComparedElsewhere | None = None
    traces: tuple[str, ...] = ()


class ComparingJudge(Judge):
    """Compares a program with the original, call by call; a language says how its programs are observed."""

    attribution = ID
    covered: frozenset[str] = frozenset()
    """Of a class: the methods that the inputs call on its objects, one after another."""

    @property
    @abstractmethod
    def tests(self) -> int:
        """The number of inputs."""

    @property
    @abstractmethod
    def share(self) -> float:
        """The share of the original that they reach; 0 if unknown."""

    @property
    @abstractmethod
    def reached(self) -> str:
        """The part of the original that they reach, such as `3 of 4 branches`."""

    @property
    @abstractmethod
    def returning(self) -> int:
        """The number of inputs on which the original returns."""

    @abstractmethod
    def outcome(self, program: str, cancel: Event | None) -> DifferentialOutcome:
        """Observe a program on the inputs, twice in another order, and compare.

        Raises:
            Cancelled: `cancel` was set.
        """

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Compare a program with the original; see `Judge.judge`."""
        started = time.monotonic()
        outcome = self.outcome(program, cancel)
        return Verdict(outcome.judgement, outcome.evidence, time.monotonic() - started)

    def difference(self, program: str, *, cancel: Event | None = None) -> Distinction | None:
        """The smallest input found that distinguishes a program from the original; None if none does.

        Raises:
            Cancelled: `cancel` was set.
        """
        return self.outcome(program, cancel).difference

    def compare(self, program: str, *, cancel: Event | None = None) -> OriginalComparison:
        """What the original says about a program: inputs on which it raises contest nothing.

        Raises:
            Cancelled: `cancel` was set.
        """
        outcome, returning = self.outcome(program, cancel), self.returning
        evidence, difference = outcome.evidence, outcome.difference
        agreeing = OriginalComparison(
            OriginalSays.AGREES, returning - outcome.left_out, traces=outcome.traces
        )
        if outcome.elsewhere is not None:
            others, kinds = outcome.elsewhere.inputs, outcome.elsewhere.kinds
            agreeing = replace(agreeing, others=others, kinds=kinds, elsewhere=outcome.elsewhere.difference)
        if outcome.judgement is Judgement.PASSED:
            slow = f"too slow for {plural(outcome.left_out, 'input')} larger than those of the tests"
            return replace(agreeing, reason=slow if outcome.left_out else "")
        if outcome.judgement is Judgement.REFUSED:
            return OriginalComparison(OriginalSays.NOT_COMPARABLE, reason=evidence.message)
        if difference is None:
            return OriginalComparison(
                OriginalSays.DIFFERS, returning, evidence.failed, other=evidence.message
            )
        if difference.refused:
            where = f"differs only where the original refuses, such as {difference.call}"
            return replace(agreeing, reason=where)
        return OriginalComparison(
            OriginalSays.DIFFERS, returning, difference.call, difference.original, difference.other
        )

    @property
    def basis(self) -> str:
        """The number of inputs, and the part of the original that they reach."""
        return f"{plural(self.tests, 'input')} reach {self.reached} of the original"

    @property
    def described(self) -> str:
        """A description of the judge, with its number of inputs and what they reach."""
        return f"{plural(self.tests, 'input')} (differential execution, {self.reached} reached)"


class SimplifiableCall(Protocol):
    """A call whose arguments can be simplified."""

    @property
    def size(self) -> tuple[int, int, str]:
        """A sort key: a smaller call is simpler, and equal calls have equal keys."""
        ...

    def simpler(self: CallT) -> Iterator[CallT]:
        """Calls that are one step simpler."""
        ...


def smallest(
    first: tuple[CallT, ResultT, ResultT],
    distinguishing: Callable[[list[CallT]], list[tuple[CallT, ResultT, ResultT]]],
) -> tuple[CallT, ResultT, ResultT]:
    """The smallest call found that distinguishes a program from the original, by simplifying one.

    Args:
        distinguishing: Those of some calls that distinguish them, too.
    """
    until, best = time.monotonic() + _PATIENCE, first
    for _ in range(_TURNS):
        steps = islice(best[0].simpler(), _STEPS)
        simpler = {each.size: each for each in steps if each.size < best[0].size}
        calls = [simpler[size] for size in sorted(simpler)[:_TRIES]]
        smaller = distinguishing(calls) if calls else []
        if not smaller:
            break
        best = min(smaller, key=lambda each: each[0].size)
        if time.monotonic() > until:
            break
    return best


def brief(text: str) -> str:
    """A result, truncated if it is long."""
    return text if len(text) <= 160 else f"{text[:157]}..."
