"""Build the record of a function from its pairs; it is the same in every run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from counterlens.judging.base import Judgement, OriginalComparison, OtherDifference, Verdict
from counterlens.metrics.effects import PairOutcome
from counterlens.mutations import Counterfactual, Refusal
from counterlens.mutations.line_differences import line_difference
from counterlens.probes.pairs.attempts import Attempt, Pair
from counterlens.probes.pairs.holes import CommitHole
from counterlens.probes.pairs.published import COMPLEMENTS, FLIP
from counterlens.probes.pairs.record import (
    CutPlace,
    DroppedCounterfactual,
    HoleRecord,
    Likelihood,
    PairRecord,
    PairsRecord,
    RefusedSite,
    Side,
    SourceEdit,
    TokenChange,
)
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.record import steady
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

if TYPE_CHECKING:
    from counterlens.probes.pairs.likelihood_effect import LikelihoodEffect

_TRUNCATED = "pair whose answer was truncated before it began, or was only reasoning"
_SWAPS = frozenset(COMPLEMENTS) | {(after, before) for before, after in COMPLEMENTS}


def pairs_record(
    document: Document,
    function: Function,
    pairs: Sequence[Pair],
    *,
    placebos: Sequence[Pair] = (),
    refusals: Iterable[Refusal],
    dropped: Iterable[tuple[Counterfactual, Verdict]] = (),
    judged_by: str | None = None,
    why_not_judged: str | None = None,
    note: str | None = None,
    holes: Sequence[HoleRecord] = (),
) -> PairsRecord:
    """The record of a function.

    Args:
        pairs: The pairs of the original and its counterfactuals.
        placebos: The pairs of the original and its placebos.
        refusals: The sites that were left out.
        dropped: Counterfactuals whose own program does not have the original's verdict, with its own verdict.
        judged_by: A description of the judge.
        why_not_judged: Why there was no judge.
        note: Further measurements that failed, with the reasons.
        holes: The holes that commits left in the function.
    """
    return PairsRecord(
        start_line=function.start_line,
        end_line=function.end_line,
        judged_by=steady(judged_by) if judged_by else None,
        why_not_judged=steady(why_not_judged) if why_not_judged else None,
        note=note,
        left_out={_TRUNCATED: sum(pair.original.truncated or pair.mutated.truncated for pair in pairs)},
        pairs=tuple(_pair(document, pair) for pair in pairs),
        placebos=tuple(_pair(document, pair) for pair in placebos),
        refused=tuple(RefusedSite(site.mutation, site.line, site.reason) for site in refusals),
        dropped=tuple(_drop(made, verdict) for made, verdict in dropped),
        holes=tuple(holes),
    )


def hole_record(
    document: Document, hole: CommitHole, gap: Gap, attempt: Attempt, cutoff: str | None
) -> HoleRecord:
    """The record of a hole of a commit.

    Args:
        cutoff: The last day of the training data; None if it is unknown.
    """
    judgement = attempt.verdict.judgement
    first, last = hole.lines(document)
    return HoleRecord(
        cut=hole.start,
        start_line=first,
        end_line=last,
        commit=hole.commit.id,
        written=hole.commit.written,
        after_training=None if cutoff is None else hole.commit.written > cutoff,
        completion=_side(gap, attempt),
        right=None if judgement is Judgement.REFUSED else attempt.verdict.passed,
    )


def _pair(document: Document, pair: Pair) -> PairRecord:
    made, effect = pair.counterfactual, pair.effect
    rendered = made.rendered
    data = rendered.data
    return PairRecord(
        mutation=made.mutation,
        concept=str(made.concept),
        start_line=made.start_line,
        end_line=made.end_line,
        description=made.description,
        assumptions=made.assumptions,
        diff=line_difference(made),
        edits=tuple(
            SourceEdit(*change.original, data[slice(*change.mutated)].decode()) for change in rendered.changes
        ),
        cut=CutPlace(made.cut.original, made.cut.mutated) if made.cut else None,
        original=_side(pair.gap, pair.original),
        counterfactual=_side(pair.mutated_gap, pair.mutated),
        original_right=effect.original if effect else None,
        counterfactual_right=effect.counterfactual if effect else None,
        outcome=effect.outcome if effect else PairOutcome.NOT_JUDGED,
        copied=pair.copied,
        likelihood=_likelihood(pair.likelihood) if pair.likelihood else None,
        cut_range=pair.cut_range,
        operators=_operators(document, pair),
        discriminating=pair.discriminating,
        copier=None if pair.discriminating is None else pair.gap.rest,
        drawn=pair.drawn,
        reached=pair.reached,
    )


def _operators(document: Document, pair: Pair) -> tuple[str, str] | None:
    """The operator of a flipped condition that is a single comparison, before and after."""
    made = pair.counterfactual
    if made.mutation != FLIP:
        return None
    before, rendered = document.data, made.rendered
    after = rendered.data
    edits = [
        (before[slice(*change.original)].decode().strip(), after[slice(*change.mutated)].decode().strip())
        for change in rendered.changes
    ]
    swapped = [edit for edit in edits if edit in _SWAPS]
    return swapped[0] if len(swapped) == 1 else None


def _side(gap: Gap, attempt: Attempt) -> Side:
    evidence = attempt.verdict.evidence
    return Side(
        prompt_end=(gap.shown.rstrip("\n").splitlines() or [""])[-1],
        completion=attempt.completion,
        finish=attempt.finish,
        verdict=str(attempt.verdict.judgement),
        attribution=evidence.attribution,
        tests=evidence.tests,
        comparison=_steady(evidence.comparison) if evidence.comparison else None,
        cheats=evidence.cheats,
        contested=attempt.verdict.contested,
        failed=steady(evidence.failed) if evidence.failed else None,
        message=steady(evidence.message),
        prompt=gap.shown,
        ways=attempt.ways,
    )


def _steady(comparison: OriginalComparison) -> OriginalComparison:
    """A comparison whose texts are the same in every run."""
    call = steady(comparison.call) if comparison.call else None
    original, other, reason = map(steady, (comparison.original, comparison.other, comparison.reason))
    elsewhere = comparison.elsewhere
    if elsewhere is not None:
        elsewhere = OtherDifference(*map(steady, (elsewhere.call, elsewhere.original, elsewhere.other)))
    return replace(comparison, call=call, original=original, other=other, reason=reason, elsewhere=elsewhere)


def _likelihood(effect: LikelihoodEffect) -> Likelihood:
    return Likelihood(
        original=effect.original,
        counterfactual=effect.mutated,
        change=effect.change,
        total_change=effect.total_change,
        original_tokens=effect.original_tokens,
        counterfactual_tokens=effect.mutated_tokens,
        matched_tokens=effect.matched,
        matched_change=effect.matched_change,
        most_changed=tuple(
            TokenChange(token.text, token.line, token.original, token.mutated, token.change)
            for token in effect.changes
        ),
    )


def _drop(made: Counterfactual, verdict: Verdict) -> DroppedCounterfactual:
    evidence = verdict.evidence
    return DroppedCounterfactual(
        mutation=made.mutation,
        start_line=made.start_line,
        description=made.description,
        verdict=str(verdict.judgement),
        failed=steady(evidence.failed) if evidence.failed else None,
        message=steady(evidence.message),
    )
