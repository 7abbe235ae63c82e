"""The result of a pair probe (completion, repair, likelihood) on one function."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.attribution.reaching import HoleReach
from counterlens.metrics.effects import Effect, PairOutcome
from counterlens.metrics.pass_rates import PassCount
from counterlens.metrics.summary import Observation
from counterlens.probes.record import Record


@dataclass(frozen=True, slots=True)
class Way:
    """Another completion of the same prompt, which rounding may have chosen as well.

    Attributes:
        completion: The model's text.
        passed: Whether it passed.
    """

    completion: str
    passed: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair: where the model began, what it wrote, and the verdict on the whole program.

    Attributes:
        prompt_end: The last line of the prompt; the completion begins behind it.
        completion: The model's text; None if it was not asked to write.
        finish: `stop` or `length`, as in `Completion`.
        verdict: The judgement, such as `passed`.
        attribution: The judge, such as `doctest`.
        tests: How many cases were run to their end.
        strength: How much the judgement is worth; None if nothing was run.
        isolation: How far the program was from its tests; None if that is no question.
        failed: The case that failed.
        message: The outcome.
        prompt: The whole text that the model continues; an API may wrap it in a template.
        ways: Other ways that rounding may have taken; None if none were followed.
    """

    prompt_end: str
    completion: str | None
    finish: str
    verdict: str
    attribution: str
    tests: int
    strength: str | None
    isolation: str | None
    failed: str | None
    message: str
    prompt: str = ""
    ways: tuple[Way, ...] | None = None

    def agrees(self, right: bool) -> bool | None:
        """Whether every way gives this verdict; None if none were followed."""
        return None if self.ways is None else all(way.passed is right for way in self.ways)


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """New text for a range of the original's UTF-8 bytes."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CutPlace:
    """The cut of both sources: byte offsets."""

    original: int
    counterfactual: int


@dataclass(frozen=True, slots=True)
class TokenChange:
    """A token that stands in both rests, with its log-probability in nats in each.

    Attributes:
        text: The token.
        line: Its line in the original, 1-based.
        original: Its log-probability in the original.
        counterfactual: Its log-probability in the counterfactual.
        change: The second less the first; below 0 the mutation made it less likely.
    """

    text: str
    line: int
    original: float
    counterfactual: float
    change: float


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The likelihood effect of a pair, in nats per token.

    Attributes:
        original: Mean log-probability of the tokens of the original's true rest.
        counterfactual: The same of the counterfactual's.
        change: The second less the first.
        total_change: The change of the log-probability of the whole rest.
        original_tokens: How many tokens the first mean is over.
        counterfactual_tokens: How many the second is over.
        matched_tokens: How many stand in both rests, in order.
        matched_change: The mean change of those; None if there are none.
        most_changed: The most changed of those, where the change is more than rounding can do.
    """

    original: float
    counterfactual: float
    change: float
    total_change: float
    original_tokens: int
    counterfactual_tokens: int
    matched_tokens: int
    matched_change: float | None
    most_changed: tuple[TokenChange, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Completions of one side that were drawn, in the order of their draws.

    Attributes:
        completions: The model's text.
        passed: Whether each passed.
    """

    completions: tuple[str, ...] = ()
    passed: tuple[bool, ...] = ()

    @property
    def count(self) -> PassCount:
        """How many passed."""
        return self.count_of(len(self.passed))

    def count_of(self, first: int) -> PassCount:
        """How many passed of the first draws."""
        passed = self.passed[:first]
        return PassCount(sum(passed), len(passed))


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """The draws of both sides of a pair.

    Attributes:
        temperature: At which tokens were drawn.
        original: The draws of the original.
        counterfactual: The draws of the counterfactual.
        difference: The counterfactual's pass rate less the original's.
        low: The low end of its 95 % interval, which holds however many checks were made.
        high: Its end.
        finding: `moved`, `held` or `open`, as in `metrics.pass_rates.RateFinding`.
        first: How many draws every pair of the run has; figures over several pairs are of these.
        pass_at: The k of pass@k; 0 if it was not asked for.
    """

    temperature: float
    original: Drawn
    counterfactual: Drawn
    difference: float | None
    low: float | None
    high: float | None
    finding: str
    first: int
    pass_at: int = 0


@dataclass(frozen=True, slots=True)
class PairRecord:
    """An original and a counterfactual, both asked and judged.

    Attributes:
        mutation: The id of the mutation.
        concept: The concept that it perturbs.
        start_line: First line of the site in the original, 1-based.
        end_line: Last line of the site.
        description: The change, in one sentence.
        assumptions: The assumptions under which the meaning is kept.
        diff: The difference of the two sources, unified, without file headers.
        edits: The difference from the original to the counterfactual.
        cut: The cut of both; None for repair, if nothing is cut.
        original: The side of the original.
        counterfactual: The side of the counterfactual.
        original_right: Whether the original was completed right; None if a side could not be judged.
        counterfactual_right: Whether the counterfactual was.
        outcome: The outcome of the pair.
        copied: Whether the model wrote the same on both sides although different code was due.
        likelihood: The likelihood effect; None if it was not measured.
        cut_range: The part of the function that the cut had to lie in, such as (0.4, 0.6); None if each
            counterfactual is cut once.
        operators: The comparison in the condition of an if-else that was flipped, and what it became; None if
            that is not one comparison.
        discriminating: Whether a model that copies is exposed: the true rest of the original, put behind the
            counterfactual's prompt, fails the tests. None if nothing is cut, or nothing judged it.
        copier: The rest, if it was judged.
        drawn: The outcomes of sampled completions; None if none were, or nothing judged them.
        reached: How far the tests reach into what follows the original's cut; None if that is not known.
    """

    mutation: str
    concept: str
    start_line: int
    end_line: int
    description: str
    assumptions: tuple[str, ...]
    diff: tuple[str, ...]
    edits: tuple[SourceEdit, ...]
    cut: CutPlace | None
    original: Side
    counterfactual: Side
    original_right: bool | None
    counterfactual_right: bool | None
    outcome: PairOutcome
    copied: bool
    likelihood: Likelihood | None
    cut_range: tuple[float, float] | None = None
    operators: tuple[str, str] | None = None
    discriminating: bool | None = None
    copier: str | None = None
    drawn: DrawnPair | None = None
    reached: HoleReach | None = None

    @property
    def effect(self) -> Effect | None:
        """The mutation effect; None if a side could not be judged."""
        if self.original_right is None or self.counterfactual_right is None:
            return None
        return Effect(self.original_right, self.counterfactual_right)

    @property
    def stable(self) -> bool | None:
        """Whether all ways of both sides agree; None if a side was not judged, or none were followed."""
        before, after = self.original_right, self.counterfactual_right
        if before is None or after is None:
            return None
        sides = self.original.agrees(before), self.counterfactual.agrees(after)
        return None if None in sides else all(sides)

    def source(self, original: str) -> str:
        """The whole source of the counterfactual.

        Args:
            original: The source of the original.
        """
        data, pieces, at = original.encode("utf-8", "surrogatepass"), [], 0
        for edit in self.edits:
            pieces += [data[at : edit.start], edit.text.encode("utf-8", "surrogatepass")]
            at = edit.end
        return b"".join([*pieces, data[at:]]).decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class RefusedSite:
    """A site where a mutation was refused, or its change would not be seen before the cut."""

    mutation: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class DroppedCounterfactual:
    """A counterfactual whose own program is not judged like the original's, so it is not informative."""

    mutation: str
    start_line: int
    description: str
    verdict: str
    failed: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsRecord(Record):
    """The pairs of one function.

    Attributes:
        start_line: First line of the function, 1-based.
        end_line: Its last line.
        judged_by: The judge, such as `3 doctests`; None if there was nothing to judge by.
        why_not_judged: Why there was nothing to judge by.
        note: Further measurements that failed, with the reasons.
        pairs: The pairs, in the order of the counterfactuals.
        placebos: Pairs in which nothing was changed that anyone would call a change; none in records that
            were made before there were any.
        refused: Sites that were not asked about.
        dropped: Counterfactuals that were left out.
    """

    start_line: int
    end_line: int
    judged_by: str | None
    why_not_judged: str | None
    note: str | None
    pairs: tuple[PairRecord, ...]
    refused: tuple[RefusedSite, ...]
    dropped: tuple[DroppedCounterfactual, ...]
    placebos: tuple[PairRecord, ...] = ()

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.function.rpartition(".")[2]

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The pairs as far as their effects go."""
        return self._observed(self.pairs)

    @property
    def placebo_observations(self) -> tuple[Observation, ...]:
        """The same of the placebos, which give the noise floor."""
        return self._observed(self.placebos)

    def _observed(self, pairs: tuple[PairRecord, ...]) -> tuple[Observation, ...]:
        return tuple(
            Observation(
                pair.effect,
                pair.mutation,
                pair.concept,
                self.function,
                self.target,
                pair.cut.original if pair.cut else 0,
                pair.discriminating,
                pair.copied,
                pair.stable,
            )
            for pair in pairs
        )
