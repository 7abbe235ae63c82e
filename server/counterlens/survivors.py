"""Find surviving mutants of a function: its tests pass, and an input shows another result.

The tests run first: they take a fraction of the time of a call on all inputs, and most mutants fail them. The
proposed test of every survivor that is shown has passed on the original and failed on the mutant. A mutant
that no input distinguishes may be equivalent and is only counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from counterlens.doubt.mutants import Mutant, mutants_of
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.scoring import try_all
from counterlens.judging.base import Judge, Setting
from counterlens.judging.languages import TestProposer, judging_of
from counterlens.judging.pace import MUTANT, pace
from counterlens.judging.registry import find_judge
from counterlens.models.base import Model
from counterlens.progress import Steps

SHOWN = 3
"""Survivors per function by default."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that passes the tests of its function, and a test that it fails.

    Attributes:
        call: The smallest input found that distinguishes it, as a call.
        original: The original's result, in words.
        changed: The mutant's.
        test: The text of a file with a test that passes on the original and fails on the mutant.
        gain: Log-probability of the mutant's code minus that of the original's, in nats; None if unknown.
    """

    scope: DoubtScope
    mutant: Mutant
    call: str
    original: str
    changed: str
    test: str
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class Survival:
    """What the tests of one function let through.

    Attributes:
        survivors: The survivors to show, likeliest first.
        mutants: Number of mutants that were tried; 0 if none could be.
        tests: Number of tests.
        different: Number of mutants that pass, although an input distinguishes them.
        alike: Number of mutants that pass and behave alike on all inputs.
        reason: Why mutants, or those that pass, could not be judged; empty if they could.
    """

    scope: DoubtScope
    survivors: tuple[Survivor, ...] = ()
    mutants: int = 0
    tests: int = 0
    different: int = 0
    alike: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """How survivors are searched for.

    Attributes:
        setting: The sandbox, the interpreter, the limits and the excluded tests.
        model: Returns the model that ranks survivors, once there are several; None ranks them by position.
        shown: Maximum survivors per function.
        names: The names of proposed tests; a search adds its own.
    """

    setting: Setting
    model: Callable[[], Model | None] | None = None
    shown: int = SHOWN
    steps: Steps = Steps()  # noqa: RUF009 - it has no state
    names: set[str] = field(default_factory=set)

    def survival(self, scope: DoubtScope) -> Survival:
        """What the tests of a function let through.

        Raises:
            SandboxError, Cancelled: as `Judge.judge`.
            ModelError: as `Model.score_continuations`.
        """
        document, name, cancel = scope.document, scope.function.qualname, self.steps.cancel
        where = f"{document.path}::{name}"
        mutants = mutants_of(scope)
        if not mutants:
            return Survival(scope, reason="nothing in it can be mutated")
        self.steps.next(f"looking for the tests of {where}")
        judge = self._tests(scope)
        if judge is None:
            return Survival(scope, reason="no test reaches it")
        original = judge.judge(document.text, cancel=cancel)
        if not original.passed:
            return Survival(scope, reason=f"it fails its tests: {original.evidence.message}")
        self.steps.next(f"running the tests of {where} on {len(mutants)} mutants")
        with pace(original, MUTANT):
            verdicts = judge.judge_all([mutant.source for mutant in mutants], cancel=cancel)
        passing = [mutant for mutant, verdict in zip(mutants, verdicts, strict=True) if verdict.passed]
        survival = Survival(scope, (), len(mutants), judge.tests)
        if not passing:
            return survival
        self.steps.next(f"looking for inputs that distinguish {len(passing)} mutants of {where}")
        proposer = judging_of(document.language).proposer(document, scope.function, self.setting)
        if isinstance(proposer, str):
            return replace(survival, reason=f"its behaviour cannot be compared: {proposer}")
        distinguished = [
            (mutant, example)
            for mutant in passing
            if (example := proposer.first_counterexample(mutant.source, cancel=cancel)) is not None
        ]
        survivors = self._shown(scope, proposer, distinguished)
        alike = len(passing) - len(distinguished)
        return replace(survival, survivors=tuple(survivors), different=len(distinguished), alike=alike)

    def _tests(self, scope: DoubtScope) -> Judge | None:
        """The judge by the usable tests of a function; None if there are none."""
        setting = self.setting
        judge = find_judge(
            scope.document,
            scope.function,
            replace(setting, vetted=True),
            fallback=False,
            witnessed=False,
        )
        by_running = judging_of(scope.document.language).by_running
        if judge is not None or by_running is None:
            return judge
        other = by_running(scope.document, scope.function, setting)
        usable = other.vetted(scope.document.text, setting.cancel) if other is not None else None
        return None if isinstance(usable, str) else usable

    def _shown(
        self,
        scope: DoubtScope,
        proposer: TestProposer,
        distinguished: Sequence[tuple[Mutant, Any]],
    ) -> Iterator[Survivor]:
        """The likeliest mutants with a proposed test."""
        cancel, calls = self.steps.cancel, set[str]()
        model = self.model() if self.model is not None and len(distinguished) > 1 else None
        ranks = gains(model, scope, [mutant for mutant, _ in distinguished], cancel) if model else []
        for number in _order([mutant.start_line for mutant, _ in distinguished], ranks):
            if len(calls) == self.shown:
                return
            (mutant, first), program = distinguished[number], distinguished[number][0].source
            self.steps.next(f"proposing a test for line {mutant.start_line} of {scope.document.path}")
            smallest = proposer.smallest_counterexample(program, first, cancel=cancel)
            for example in (smallest, first):
                call = proposer.written(example)
                if call in calls:
                    break  # the test of another mutant fails on this one, too
                line = mutant.start_line
                test = proposer.proposed_test(example, program, line, self.names, cancel=cancel)
                if test is not None:
                    calls.add(call)
                    was, now = example.original.differences(example.mutant)
                    gain = ranks[number] if ranks else None
                    yield Survivor(scope, mutant, call, was, now, test, gain)
                    break


def _order(lines: Sequence[int], ranks: Sequence[float]) -> list[int]:
    """The numbers of mutants in the order in which they are shown.

    Without ranks the first mutant of each line comes first, so that a few of them show many lines.
    """
    if ranks:
        return sorted(range(len(ranks)), key=lambda number: -ranks[number])
    before = [lines[:number].count(line) for number, line in enumerate(lines)]
    return sorted(range(len(lines)), key=lambda number: (before[number], number))


def gains(
    model: Model, scope: DoubtScope, mutants: Sequence[Mutant], cancel: Event | None = None
) -> list[float]:
    """The gain in log-probability by each mutation, of its place and what follows; in nats.

    It is minus infinity for a mutation of more text than is scored at once.

    Raises:
        ModelError, Cancelled: as `Model.score_continuations`.
    """
    alternatives = [replace(mutant.alternative, kind=str(at)) for at, mutant in enumerate(mutants)]
    by_kind = {
        trial.alternative.kind: trial.gain for trial in try_all(model, scope, alternatives, cancel=cancel)
    }
    return [by_kind.get(each.kind, -math.inf) for each in alternatives]
