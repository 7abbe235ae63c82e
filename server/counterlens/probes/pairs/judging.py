"""The judge of one probe, and the sanity checks before its figures."""

from __future__ import annotations

import re

from counterlens.errors import SourceError
from counterlens.judging.base import LIMITS, Evidence, HoleReach, Judge, Judgement, Verdict
from counterlens.judging.pace import ANSWER, pace
from counterlens.models.base import Completion
from counterlens.mutations.base import Counterfactual
from counterlens.probes.prompts.function_text import hollow
from counterlens.probes.prompts.gap import Gap
from counterlens.progress import Steps
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
TRUNCATED = "no answer: the token limit ended it before it began, or it was only reasoning"


class Judging:
    """Judges programs of one function; each distinct program once.

    Args:
        judge: The judge; None if there is none.
        document: The unchanged source.
    """

    def __init__(
        self,
        judge: Judge | None,
        document: Document,
        function: Function,
        steps: Steps,
        limits: Limits = LIMITS,
    ) -> None:
        self._judge, self._document, self._function, self.steps = judge, document, function, steps
        self._limits = limits
        self._verdicts: dict[str, Verdict] = {}

    @property
    def judged_by(self) -> str | None:
        """A description of the judge."""
        return self._judge.described if self._judge else None

    def reach(self, gap: Gap) -> HoleReach | None:
        """The tests' coverage of a hole of the unchanged source."""
        return self._judge.reach(gap.lines) if self._judge else None

    def verdict(self, program: str) -> Verdict:
        """The judgement of a whole program; refused if nothing can judge."""
        if self._judge is None:
            return Verdict(Judgement.REFUSED, Evidence("none", 0, message="nothing can judge it"))
        if program not in self._verdicts:
            self._verdicts[program] = self._judge.judge(program, cancel=self.steps.cancel)
        return self._verdicts[program]

    def answer(self, gap: Gap, completion: Completion) -> Verdict:
        """The verdict on a model's text in a hole; refused if it has no answer.

        Its time limit depends on the original, if that passes.
        """
        if completion.unanswered:
            return Verdict(Judgement.REFUSED, Evidence("none", 0, message=TRUNCATED))
        with pace(self.verdict(self._document.text), ANSWER):
            return self.verdict(gap.fill(completion.text))

    def counterfactual(self, program: str) -> Verdict:
        """Like `verdict`, for a program that no model wrote; its time limit depends on the original."""
        with pace(self.verdict(self._document.text)):
            return self.verdict(program)

    def check_own_tests(self) -> None:
        """Before figures: check that the unchanged function passes, and that a forced failure fails.

        Raises:
            SourceError: it does not pass, or passes with an empty body.
        """
        if self._judge is None:
            return
        name = self._function.qualname
        verdict = self.verdict(self._document.text)
        if verdict.judgement is Judgement.TIMED_OUT:
            raise SourceError(
                f"the tests of {name} take longer than {self._limits.seconds:g} s (raise --timeout of probe "
                f"or bench, or counterlens.probe.timeout in the editor)",
                "Use fewer or faster tests, or a less busy machine",
            )
        if not verdict.passed:
            if name_error := _UNDEFINED.search(verdict.evidence.message or ""):
                raise SourceError(
                    f"{name} fails its own tests: {name_error[0]}",
                    f"Define or import {name_error[1]} in the file: names of other files, and of other "
                    f"cells of a notebook, are not known in it",
                )
            failed = f": {verdict.evidence.failed}" if verdict.evidence.failed else ""
            raise SourceError(
                f"{name} fails its own tests ({verdict.judgement}{failed})",
                (verdict.evidence.message or "Fix the function or its tests first").strip(),
            )
        if self.verdict(hollow(self._document, self._function).text).passed:
            raise SourceError(
                f"the tests of {name} pass even without its body, so they cannot judge anything",
                "Add a doctest or a test that checks its result",
            )

    def check_fails(self) -> None:
        """Before a repair: check that the unchanged program fails, so that a fix can be detected.

        Raises:
            SourceError: nothing judges it, or it passes.
        """
        name = self._function.qualname
        if self._judge is None:
            raise SourceError(
                f"{name} has no tests, so no repair can be judged",
                "Add a doctest, or a test file beside it",
            )
        if self.verdict(self._document.text).passed:
            raise SourceError(
                f"{name} passes its own tests, so there is nothing to repair",
                "The repair task needs a function that fails; use the completion task for this one",
            )

    def check_identity(self) -> None:
        """After judging: check that the identity mutation has no effect, as it would with flaky tests.

        Raises:
            SourceError: the same program got two different verdicts.
        """
        if self._judge is None:
            return
        for program, before in list(self._verdicts.items())[:1]:
            again = self._judge.judge(program, cancel=self.steps.cancel)
            if again.passed != before.passed:
                raise SourceError(
                    f"the tests of {self._function.qualname} are flaky ({before.judgement}, then "
                    f"{again.judgement} for the same program), so no effect can be measured",
                    "Look for randomness, time or files in the tests",
                )

    def sift(
        self, counterfactuals: list[Counterfactual], *, wanted: bool = True
    ) -> tuple[list[Counterfactual], list[tuple[Counterfactual, Verdict]]]:
        """Counterfactuals with the original's verdict, and the others (Hooda et al. 2024, section 3.2).

        Args:
            wanted: Whether the original passes.
        """
        sound, dropped = [], []
        for number, counterfactual in enumerate(counterfactuals):
            self.steps.next("running the counterfactuals' own programs", number, len(counterfactuals))
            verdict = self.counterfactual(counterfactual.source)
            if verdict.judgement is Judgement.REFUSED or verdict.passed == wanted:
                sound.append(counterfactual)
            else:
                dropped.append((counterfactual, verdict))
        return sound, dropped
