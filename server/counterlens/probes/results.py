"""What a completion probe finds out: attempts, pairs, and their effects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from counterlens.attribution.base import Judgement, Verdict
from counterlens.metrics.effects import Effect, Proportion
from counterlens.metrics.summary import EffectSummary, Observation, summarize
from counterlens.models.base import ModelInfo
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.probes.likelihood import LikelihoodEffect
from counterlens.probes.prompting import Gap
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


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
    """An original and a counterfactual, both completed and judged.

    Attributes:
        counterfactual: What was changed.
        gap: The original with its hole.
        mutated_gap: The counterfactual with its hole.
        original: What the model wrote into the first.
        mutated: What it wrote into the second.
        likelihood: How much less likely what truly stands in the hole became; None where not measured.
    """

    counterfactual: Counterfactual
    gap: Gap
    mutated_gap: Gap
    original: Attempt
    mutated: Attempt
    likelihood: LikelihoodEffect | None = None

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
        refusals: Sites where a mutation was refused, or its change would not be seen before the cut.
        dropped: Counterfactuals whose own program failed the tests: they keep no meaning, so they tell
            nothing about the model.
        seed: What the counterfactuals depended on.
        task: `completion`, `repair`, or `likelihood` where the model was not asked to write anything.
        note: What could not be measured besides, and why.
        why_not_judged: Why there was nothing to judge by, where that is so.
    """

    document: Document
    function: Function
    model: ModelInfo
    judged_by: str | None
    pairs: tuple[Pair, ...]
    refusals: tuple[Refusal, ...]
    dropped: tuple[tuple[Counterfactual, Verdict], ...]
    seed: int
    task: str = "completion"
    note: str | None = None
    why_not_judged: str | None = None

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """The pairs as far as their effects go."""
        file = str(self.document.path) if self.document.path else "<text>"
        return tuple(
            Observation(
                pair.effect,
                pair.counterfactual.mutation,
                pair.counterfactual.concept,
                self.function.qualname,
                file,
            )
            for pair in self.pairs
        )

    @cached_property
    def summary(self) -> EffectSummary:
        """What the pairs say together."""
        return summarize(self.observations)

    @property
    def average(self) -> Proportion:
        """The average mutation effect over the informative pairs."""
        return self.summary.average


def _normal(text: str | None) -> str:
    lines = (line.rstrip() for line in (text or "").replace("\r\n", "\n").splitlines())
    return "\n".join(line for line in lines if line)
