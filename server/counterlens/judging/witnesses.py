"""The witnesses beside the tests: the original, and whether the tests see the function at all.

A verdict is what the tests say. If a program passes them, the original says whether it does the same on
inputs (`Evidence.comparison`), and cheats in place of the function's body show whether the tests could fail
(`Evidence.cheats`). Neither changes the verdict: a pass that differs from the original is contested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event, RLock
from typing import Any

from counterlens.judging.base import (
    CheatTrial,
    HoleReach,
    Judge,
    OriginalComparison,
    OriginalSays,
    Setting,
    Verdict,
)
from counterlens.judging.comparing import ComparingJudge
from counterlens.judging.languages import behaviour_of, judging_of
from counterlens.judging.pace import MUTANT, at_most, pace
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

NOT_RUN = "no test runs {names}: the tests pass without it, too"


class WitnessedJudge(Judge):
    """A judge by tests, with both other witnesses; see the module.

    Args:
        tests_judge: Judges programs by tests.
        function: The function that the tests are about.
        setting: Its sandbox and interpreter.
        texts: Texts of the tests, for the values that they visibly expect.
        has_original: Whether the document is a trusted original; if it is the judged program itself, only
            cheats are tried.
    """

    def __init__(
        self,
        tests_judge: Judge,
        document: Document,
        function: Function,
        setting: Setting,
        texts: Sequence[str] = (),
        *,
        has_original: bool = True,
    ) -> None:
        self.tests_judge, self._document, self._function = tests_judge, document, function
        self._setting, self._texts, self._has_original = setting, texts, has_original
        self._comparisons: dict[str, OriginalComparison] = {}
        self._behaviour: ComparingJudge | str | None = None
        self._trial: CheatTrial | None = None
        self._own: Verdict | None = None
        self._lock = RLock()

    @property
    def attribution(self) -> str:
        """The id of the attribution function of the tests."""
        return self.tests_judge.attribution

    @property
    def tests(self) -> int:
        """The number of their cases."""
        return self.tests_judge.tests

    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Run the tests against a program, and hear the witnesses if it passes; see `Judge.judge`."""
        verdict = self.tests_judge.judge(program, cancel=cancel)
        if self._has_original and program == self._document.text:
            self._own = self._own or verdict
            return verdict
        if not verdict.passed:
            return verdict
        evidence = replace(
            verdict.evidence,
            comparison=self.compare(program, cancel) if self._has_original else None,
            cheats=self.try_cheats(cancel),
        )
        return replace(verdict, evidence=evidence)

    def reach(self, lines: range) -> HoleReach | None:
        """The coverage of some lines by the tests; see `Judge.reach`."""
        return self.tests_judge.reach(lines)

    @property
    def described(self) -> str:
        """The description of the judge by tests."""
        return self.tests_judge.described

    def compare(self, program: str, cancel: Event | None = None) -> OriginalComparison:
        """What the original says about a program; each program is compared once.

        Raises:
            Cancelled: `cancel` was set.
        """
        with self._lock, at_most(None):
            if program in self._comparisons:
                return self._comparisons[program]
            if self._behaviour is None:
                setting = replace(self._setting, cancel=cancel)
                recorded = self.tests_judge.recorded_calls(self._function.qualname, cancel)
                self._behaviour = behaviour_of(self._document, self._function, setting, recorded)
            self._comparisons[program] = (
                OriginalComparison(OriginalSays.NOT_COMPARABLE, reason=self._behaviour)
                if isinstance(self._behaviour, str)
                else self._behaviour.compare(program, cancel=cancel)
            )
            return self._comparisons[program]

    @property
    def covered(self) -> frozenset[str]:
        """The methods of a class that have been compared one after another; see `ComparingJudge`."""
        return self._behaviour.covered if isinstance(self._behaviour, ComparingJudge) else frozenset()

    def try_cheats(self, cancel: Event | None = None) -> CheatTrial | None:
        """The verdicts of the tests on cheats, found once; None if there are no cheats.

        Raises:
            Cancelled: `cancel` was set.
        """
        with self._lock:
            if self._trial is None:
                cheats = judging_of(self._document.language).cheats(
                    self._document, self._function, self._texts
                )
                cheats = {name: program for name, program in cheats.items() if program != self._document.text}
                self._trial = CheatTrial(len(cheats), self._passing(cheats, cancel))
            return self._trial if self._trial.tried else None

    def _passing(self, cheats: Any, cancel: Event | None) -> tuple[str, ...]:
        with pace(self._own, MUTANT) if self._own is not None else at_most(None):
            verdicts = self.tests_judge.judge_all(list(cheats.values()), cancel=cancel)
            return tuple(name for name, verdict in zip(cheats, verdicts, strict=True) if verdict.passed)


def is_run(judge: Judge, document: Document, function: Function | None, cancel: Event | None = None) -> bool:
    """Whether the tests of a judge run a function: if it only raises, they fail; or a program without any.

    Args:
        judge: Judges programs in place of the document by tests.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    program = judging_of(document.language).raising(document, function)
    return program is None or not judge.judge(program, cancel=cancel).passed


def tests_of(judge: Judge) -> Judge:
    """The judge by tests inside a judge with witnesses; any other as it is."""
    return judge.tests_judge if isinstance(judge, WitnessedJudge) else judge
