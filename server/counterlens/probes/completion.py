"""The completion probe (CACP, paper 000 section 4): does the model hold when the code changes shape?

Original and counterfactual are cut at the same place, both are completed at temperature 0, both programs
are judged by the function's own tests. A model that follows the code rather than its usual shape gives the
same verdict twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event

from counterlens.attribution.base import Evidence, Judge, Judgement, Verdict
from counterlens.attribution.registry import find_judge
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.metrics.effects import Effect, Proportion, average_mutation_effect
from counterlens.models.base import Completion, Model, ModelInfo
from counterlens.mutations import MUTATIONS, survey
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.mutations.cuts import PREFIX_RATIO
from counterlens.probes.prompting import Gap
from counterlens.sandbox.base import Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

MAX_TOKENS = 256
Report = Callable[[str, int, int], None]
"""Called with (what is being done, steps done, steps in all)."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the model wrote on one side of a pair, and what the judge found.

    Attributes:
        completion: What it wrote; None when it was not asked.
        finish: `stop` or `length`, as in `Completion`.
        verdict: The judgement of the whole program.
    """

    completion: str | None
    finish: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and a counterfactual, both completed and judged."""

    counterfactual: Counterfactual
    gap: Gap
    mutated_gap: Gap
    original: Attempt
    mutated: Attempt

    @property
    def effect(self) -> Effect | None:
        """The mutation effect; None where one side could not be judged."""
        if Judgement.REFUSED in (self.original.verdict.judgement, self.mutated.verdict.judgement):
            return None
        return Effect(self.original.verdict.passed, self.mutated.verdict.passed)

    @property
    def copied(self) -> bool:
        """Whether the model wrote the same text on both sides although different texts were due."""
        same = _normal(self.original.completion) == _normal(self.mutated.completion)
        return same and _normal(self.gap.removed) != _normal(self.mutated_gap.removed)


@dataclass(frozen=True)
class CompletionProbe:
    """Everything that the completion probe found out about one function.

    Attributes:
        document: The source.
        function: The function.
        model: Who was asked.
        judged_by: What judged, such as `3 doctests`; None when there was nothing to judge by.
        pairs: The pairs, in the order of the counterfactuals.
        refusals: Sites where a mutation was refused.
        dropped: Counterfactuals whose own program failed the tests: they keep no meaning, so they tell
            nothing about the model.
        seed: What the counterfactuals depended on.
    """

    document: Document
    function: Function
    model: ModelInfo
    judged_by: str | None
    pairs: tuple[Pair, ...]
    refusals: tuple[Refusal, ...]
    dropped: tuple[tuple[Counterfactual, Verdict], ...]
    seed: int

    @cached_property
    def average(self) -> Proportion:
        """The average mutation effect over the informative pairs."""
        return average_mutation_effect(pair.effect for pair in self.pairs if pair.effect)


def probe_completion(
    model: Model,
    document: Document,
    qualname: str,
    sandbox: Sandbox,
    *,
    mutations: Sequence[str] | None = None,
    seed: int = 0,
    prefix_ratio: float = PREFIX_RATIO,
    without: Sequence[str] = (),
    max_tokens: int = MAX_TOKENS,
    cancel: Event | None = None,
    report: Report | None = None,
) -> CompletionProbe:
    """Probe one function.

    Args:
        model: Who is asked.
        document: The source.
        qualname: The function.
        sandbox: Where programs are run.
        mutations: Ids of mutations that keep the meaning; all of them by default.
        seed: Decides random names.
        prefix_ratio: Which part of the function stays before the cut, for mutations that do not say where
            to cut themselves (paper 000, section 4.2 and Table 4).
        without: Assumptions that no counterfactual may rest on.
        max_tokens: At most so many new tokens a completion.
        cancel: Set it to give up.
        report: Called with what is being done.

    Raises:
        SourceError: there is no such function, the file does not parse, or the function fails its own
            tests as it stands, so that nothing can be learned from a completion that fails them.
        ModelError, SandboxError: the model or the sandbox failed.
        Cancelled: `cancel` was set.
    """
    chosen = _preserving(mutations)
    function = find_function(document, qualname)
    surveyed = survey(
        document.text,
        mutations=chosen,
        function=function.qualname,
        seed=seed,
        prefix_ratio=prefix_ratio,
        without=without,
    )
    found = [counterfactual for counterfactual in surveyed.counterfactuals if counterfactual.cut is not None]
    steps = _Steps(2 * len(found) + 2, cancel, report)
    steps.next("finding the tests")
    judge = find_judge(document, function, sandbox)
    if judge:
        _check_own_tests(judge, document, function, cancel)
    runner = _Runner(model, document, function, judge, max_tokens, cancel, steps)
    steps.next("trying the counterfactuals' own programs")
    sound, dropped = runner.sift(found)
    return CompletionProbe(
        document=document,
        function=function,
        model=model.info,
        judged_by=_judged_by(judge),
        pairs=tuple(runner.pair(counterfactual) for counterfactual in sound),
        refusals=surveyed.refusals,
        dropped=tuple(dropped),
        seed=seed,
    )


def _preserving(mutations: Sequence[str] | None) -> list[str]:
    """The mutations to probe with: those asked for, or all that keep the meaning.

    Raises:
        CounterlensError: one is unknown, or breaks the meaning, so that the tests could not judge it.
    """
    if not mutations:
        return [
            name
            for name, mutation in MUTATIONS.items()
            if mutation.preserving and not mutation.needs_observation
        ]
    for name in mutations:
        if name not in MUTATIONS:
            raise CounterlensError(f"there is no mutation {name!r}", f"There are: {', '.join(MUTATIONS)}")
        if not MUTATIONS[name].preserving:
            raise CounterlensError(
                f"{name} breaks the meaning, so the function's own tests cannot judge what comes after it",
                "The completion probe needs mutations that keep the meaning",
            )
    return list(mutations)


class _Steps:
    """Progress and cancellation, once a step."""

    def __init__(self, total: int, cancel: Event | None, report: Report | None) -> None:
        self._done, self._total, self._cancel, self._report = 0, total, cancel, report

    def next(self, what: str) -> None:
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled
        if self._report:
            self._report(what, self._done, self._total)
        self._done = min(self._done + 1, self._total)


class _Runner:
    """Asks and judges, each distinct original prompt once."""

    def __init__(
        self,
        model: Model,
        document: Document,
        function: Function,
        judge: Judge | None,
        max_tokens: int,
        cancel: Event | None,
        steps: _Steps,
    ) -> None:
        self._model, self._document, self._function = model, document, function
        self._judge, self._max_tokens, self._cancel, self._steps = judge, max_tokens, cancel, steps
        self._attempts: dict[str, Attempt] = {}

    def sift(
        self, found: list[Counterfactual]
    ) -> tuple[list[Counterfactual], list[tuple[Counterfactual, Verdict]]]:
        """Those whose own program is right, and the others with the reason (paper 000, section 3.2)."""
        sound, dropped = [], []
        for counterfactual in found:
            verdict = self._judge.judge(counterfactual.source, cancel=self._cancel) if self._judge else None
            if verdict is None or verdict.passed:
                sound.append(counterfactual)
            else:
                dropped.append((counterfactual, verdict))
        return sound, dropped

    def pair(self, counterfactual: Counterfactual) -> Pair:
        """Complete and judge both sides."""
        cut = counterfactual.cut
        if cut is None:
            raise ValueError("a counterfactual without a cut cannot be completed")
        mutated = replace(self._document, text=counterfactual.source)
        gap = Gap.of(self._document, self._function, cut.original)
        mutated_gap = Gap.of(mutated, find_function(mutated, self._function.qualname), cut.mutated)
        self._steps.next(f"{counterfactual.mutation}, line {counterfactual.start_line}: the original")
        original = self._attempt(gap)
        self._steps.next(f"{counterfactual.mutation}, line {counterfactual.start_line}: the counterfactual")
        return Pair(counterfactual, gap, mutated_gap, original, self._attempt(mutated_gap))

    def _attempt(self, gap: Gap) -> Attempt:
        if gap.shown not in self._attempts:
            (completion,) = self._model.complete([gap.prompt(self._max_tokens)], cancel=self._cancel)
            self._attempts[gap.shown] = Attempt(
                completion.text, completion.finish, self._verdict(gap, completion)
            )
        return self._attempts[gap.shown]

    def _verdict(self, gap: Gap, completion: Completion) -> Verdict:
        if self._judge is None:
            return Verdict(
                Judgement.REFUSED, Evidence("none", 0, message="there are no tests to judge it by")
            )
        return self._judge.judge(gap.fill(completion.text), cancel=self._cancel)


def _check_own_tests(judge: Judge, document: Document, function: Function, cancel: Event | None) -> None:
    """Sanity before figures: the function as it stands passes, and with nothing in it fails."""
    verdict = judge.judge(document.text, cancel=cancel)
    if not verdict.passed:
        failed = f": {verdict.evidence.failed}" if verdict.evidence.failed else ""
        raise SourceError(
            f"{function.qualname} does not pass its own tests as it stands ({verdict.judgement}{failed})",
            (verdict.evidence.message or "Mend the function or its tests first").strip(),
        )
    hollow = _hollow(document, function)
    if judge.judge(hollow, cancel=cancel).passed:
        raise SourceError(
            f"the tests of {function.qualname} pass even when its body is removed, so they can judge nothing",
            "Add a doctest or a test that checks what it returns",
        )


def _hollow(document: Document, function: Function) -> str:
    """The document with a function that does nothing but fail."""
    header = document.data[: function.body].decode()
    return f"{header}raise NotImplementedError{document.data[function.end :].decode()}"


def _judged_by(judge: Judge | None) -> str | None:
    if judge is None:
        return None
    return f"{judge.tests} {judge.attribution}{'' if judge.tests == 1 else 's'}"


def _normal(text: str | None) -> str:
    lines = (line.rstrip() for line in (text or "").replace("\r\n", "\n").splitlines())
    return "\n".join(line for line in lines if line)
