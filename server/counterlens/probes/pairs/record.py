"""The result of a pair probe (completion, repair, likelihood) on one function."""

from __future__ import annotations

from dataclasses import dataclass

from counterlens.judging.base import CheatTrial, HoleReach, OriginalComparison
from counterlens.metrics.effects import Effect, PairOutcome
from counterlens.metrics.pass_rates import PassCount
from counterlens.metrics.summary import Observation
from counterlens.probes.record import Record

NOISE = 0.05
"""Nats per token: maximum change of the mean by rounding alone. Smaller differences are not shown."""


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
    """One side of a pair: the cut, the completion, and the verdict on the whole program.

    Attributes:
        prompt_end: The last line of the prompt; the completion begins after it.
        completion: The model's text; None if no completion was requested.
        finish: `stop` or `length`, as in `Completion`.
        verdict: The judgement, such as `passed`.
        attribution: The judge, such as `doctest`.
        tests: Number of cases that ran to their end.
        comparison: What the original says about a program that passed; None if it was not asked.
        cheats: Whether the tests fail for cheats; None if that was not tried.
        contested: Whether it passed, but does otherwise than the original on an input.
        failed: The case that failed.
        prompt: The whole text that the model continues; an API may wrap it in a template.
        ways: Alternative completions that rounding may have chosen; None if none were decoded.
    """

    prompt_end: str
    completion: str | None
    finish: str
    verdict: str
    attribution: str
    tests: int
    comparison: OriginalComparison | None
    cheats: CheatTrial | None
    contested: bool
    failed: str | None
    message: str
    prompt: str = ""
    ways: tuple[Way, ...] | None = None

    def agrees(self, right: bool) -> bool | None:
        """Whether every alternative has this verdict; None if none were decoded."""
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
    """A token that is in both rests, with its log-probability in nats in each.

    Attributes:
        line: Its line in the original, 1-based.
        change: The second minus the first; below 0 if the mutation made it less likely.
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
        counterfactual: The same for the counterfactual's.
        change: The second minus the first.
        total_change: The change of the log-probability of the whole rest.
        original_tokens: Number of tokens of the first mean.
        counterfactual_tokens: Number of tokens of the second mean.
        matched_tokens: Number of tokens in both rests, in order.
        matched_change: The mean change of the matched tokens; None if there are none.
        most_changed: The most changed matched tokens whose change exceeds rounding.
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
    """Sampled completions of one side, in their order.

    Attributes:
        completions: The model's texts.
        passed: Whether each passed.
    """

    completions: tuple[str, ...] = ()
    passed: tuple[bool, ...] = ()

    @property
    def count(self) -> PassCount:
        """How many of all samples passed."""
        return self.count_of(len(self.passed))

    def count_of(self, first: int) -> PassCount:
        """How many of the first samples passed."""
        passed = self.passed[:first]
        return PassCount(sum(passed), len(passed))


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """The samples of both sides of a pair.

    Attributes:
        difference: The counterfactual's pass rate minus the original's.
        low: The lower end of its 95 % interval, which is valid for any number of checks.
        high: The upper end.
        finding: `moved`, `held` or `open`, as in `metrics.pass_rates.RateFinding`.
        first: Number of samples that every pair of the run has; figures over several pairs use these.
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
    """An original and a counterfactual, both completed and judged.

    Attributes:
        mutation: The id of the mutation.
        concept: The concept that it perturbs.
        start_line: First line of the site in the original, 1-based.
        end_line: Last line of the site.
        description: The change, in one sentence.
        assumptions: The assumptions under which the meaning is kept.
        diff: The difference of the two sources, unified, without file headers.
        edits: The difference from the original to the counterfactual.
        cut: The cut of both; None for repair, which has no cut.
        original_right: Whether the original was completed correctly; None if a side could not be judged.
        counterfactual_right: Whether the counterfactual was completed correctly.
        copied: Whether the model wrote the same on both sides although different code was expected.
        likelihood: The likelihood effect; None if it was not measured.
        cut_range: The part of the function that the cut had to lie in, such as (0.4, 0.6); None if each
            counterfactual is cut once.
        operators: The comparison in the condition of a flipped if-else, before and after; None if the
            condition is not a single comparison.
        discriminating: Whether copying is exposed: the true rest of the original, after the counterfactual's
            prompt, fails the tests. None if there is no cut, or nothing judged it.
        copier: The copied rest, if it was judged.
        drawn: The outcomes of sampled completions; None if none were sampled, or nothing judged them.
        reached: The tests' coverage of the code after the original's cut; None if unknown.
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
    def contested(self) -> bool:
        """Whether a side passed, but does otherwise than the original on an input."""
        return self.original.contested or self.counterfactual.contested

    @property
    def stable(self) -> bool | None:
        """Whether all alternatives of both sides agree; None if a side was not judged, or has none."""
        before, after = self.original_right, self.counterfactual_right
        if before is None or after is None:
            return None
        sides = self.original.agrees(before), self.counterfactual.agrees(after)
        return None if None in sides else all(sides)

    @property
    def changed_unstably(self) -> bool:
        """Whether the verdict changed, but not for every choice that rounding may make: no finding."""
        return self.effect is not None and self.effect.signed != 0 and self.stable is False

    def source(self, original: str) -> str:
        """The whole source of the counterfactual."""
        data, pieces, at = original.encode("utf-8", "surrogatepass"), [], 0
        for edit in self.edits:
            pieces += [data[at : edit.start], edit.text.encode("utf-8", "surrogatepass")]
            at = edit.end
        return b"".join([*pieces, data[at:]]).decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class RefusedSite:
    """A site where a mutation was refused, or its change is not before the cut."""

    mutation: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class DroppedCounterfactual:
    """A counterfactual whose own program does not have the original's verdict, so it is not informative."""

    mutation: str
    start_line: int
    description: str
    verdict: str
    failed: str | None
    message: str


@dataclass(frozen=True, slots=True)
class HoleRecord:
    """Statements that a commit added, cut out of the unchanged function and completed.

    Attributes:
        cut: The byte offset of the hole, as `CutPlace.original` of its pairs.
        start_line: Its first line, 1-based.
        end_line: Its last line.
        commit: The hash of the commit.
        written: The day on which the author wrote the commit, in UTC.
        after_training: Whether that is after the last day of the training data; None if this is unknown.
        right: Whether it was completed correctly; None if it could not be judged.
    """

    cut: int
    start_line: int
    end_line: int
    commit: str
    written: str
    after_training: bool | None
    completion: Side
    right: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsRecord(Record):
    """The pairs of one function.

    Attributes:
        start_line: First line of the function, 1-based.
        end_line: Its last line.
        judged_by: The judge, such as `3 doctests`; None if there was none.
        why_not_judged: Why there was no judge.
        note: Further measurements that failed, with the reasons.
        pairs: The pairs, in the order of the counterfactuals.
        placebos: Pairs of an original and a placebo; empty in records of versions without placebos.
        refused: Sites that were left out.
        dropped: Counterfactuals whose own program does not have the original's verdict.
        holes: The holes that commits left, with `--holes commits`.
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
    holes: tuple[HoleRecord, ...] = ()

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.function.rpartition(".")[2]

    @property
    def asked(self) -> bool:
        """Return `Record.asked`: nothing is asked without pairs or holes."""
        return bool(self.pairs or self.holes)

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The observations of the pairs, for effects."""
        return self._observed(self.pairs)

    @property
    def placebo_observations(self) -> tuple[Observation, ...]:
        """The observations of the placebos, for the noise floor."""
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
                pair.contested,
            )
            for pair in pairs
        )


def judged_pairs(record: Record) -> tuple[PairRecord, ...]:
    """The pairs with completions or repairs; the records of other probes have none."""
    pairs = record.pairs if isinstance(record, PairsRecord) else ()
    return tuple(pair for pair in pairs if pair.original.completion is not None)
