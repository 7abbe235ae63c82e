"""The likelihood probe: likelihood effects of a function's counterfactuals; the model writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.common_options import DEFAULT_PREFIX_RATIO, PrefixRatio, PreservingMutations, Without
from counterlens.probes.options import ProbeOptions
from counterlens.probes.pairs.attempts import Pair
from counterlens.probes.pairs.base import PairsProbe
from counterlens.probes.pairs.counterfactuals import gaps_of, not_asked, prompts_of, rewritings
from counterlens.probes.pairs.likelihood_effect import likelihood_effects
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.recording import pairs_record
from counterlens.probes.pairs.tables import likelihood_tables
from counterlens.probes.probe import Context, Need, Source, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodOptions(ProbeOptions):
    """Options of the likelihood probe."""

    mutations: PreservingMutations = ()
    without: Without = ()
    prefix_ratio: PrefixRatio = DEFAULT_PREFIX_RATIO


class LikelihoodProbe(PairsProbe[LikelihoodOptions]):
    """How likely the true rest of a function stays in every version of the code.

    Counterfactuals do not run, so only their mutation guarantees that they keep the meaning.
    """

    id = "likelihood"
    title = "does the true rest stay likely in every version?"
    source = Source("Hooda et al. 2024", "section 3.4, with a log-probability instead of a verdict")
    needs = frozenset({Need.SCORE})
    whole_programs = True
    options = LikelihoodOptions

    def run(self, context: Context, target: Target, options: LikelihoodOptions) -> PairsRecord:
        document = target.document
        function, surveyed = rewritings(
            document,
            target.qualname,
            options.mutations,
            seed=options.seed,
            prefix_ratio=options.prefix_ratio,
            without=options.without,
            lines=target.lines,
        )
        sound = [made for made in surveyed.counterfactuals if made.cut is not None]
        pairs = [Pair(made, *gaps_of(document, function, made)) for made in sound]
        gaps = [(pair.gap, pair.mutated_gap) for pair in pairs]
        effects = likelihood_effects(context.model, gaps, context.steps)
        return pairs_record(
            document,
            function,
            [replace(pair, likelihood=effect) for pair, effect in zip(pairs, effects, strict=True)],
            refusals=not_asked(surveyed),
        )

    def side_by_side(self, models: Mapping[str, Sequence[PairsRecord]], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        return likelihood_tables(models)

    def measures(self, record: PairsRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`: is the true rest as likely after the changes?"""
        changes = [pair.likelihood.change for pair in record.pairs if pair.likelihood]
        return {"the rest is as likely overall": sum(changes) >= 0} if changes else {}

    def estimate(self, target: Target, options: LikelihoodOptions, model: Model) -> int:  # noqa: ARG002
        _, surveyed = rewritings(
            target.document,
            target.qualname,
            options.mutations,
            seed=options.seed,
            prefix_ratio=options.prefix_ratio,
            without=options.without,
            lines=target.lines,
        )
        return prompts_of(surveyed.counterfactuals)
