"""The completion probe (CACP, Hooda et al. 2024, section 4): does the model hold when the code changes shape?

Original and counterfactual are cut at the same place, both are completed at temperature 0, both programs
are judged. A model that follows the code rather than its usual shape gives the same verdict twice. The
original and all counterfactuals of a function are asked as one batch, always made up in the same way, so
that no verdict depends on what else was asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from counterlens.attribution.base import lasting
from counterlens.attribution.registry import find_judge, why_no_judge
from counterlens.errors import ModelError, SourceError
from counterlens.models.base import Capability, Model
from counterlens.probes.options import (
    DEFAULT_PREFIX_RATIO,
    DEFAULT_TIMEOUT,
    MAX_TOKENS,
    MaxTokens,
    PrefixRatio,
    PreservingMutations,
    ProbeOptions,
    Timeout,
    Without,
)
from counterlens.probes.pairs.attempts import Pair, attempted, measured_likelihoods, paired
from counterlens.probes.pairs.base import PairsProbe
from counterlens.probes.pairs.counterfactuals import gaps_of, not_asked, prompts_of, rewritings
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.recording import pairs_record
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.progress import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionOptions(ProbeOptions):
    """Options of the completion probe."""

    mutations: PreservingMutations = ()
    without: Without = ()
    prefix_ratio: PrefixRatio = DEFAULT_PREFIX_RATIO
    max_tokens: MaxTokens = MAX_TOKENS
    timeout: Timeout = DEFAULT_TIMEOUT


class CompletionProbe(PairsProbe[CompletionOptions]):
    """Completions of a function and its counterfactuals, judged by the function's own tests."""

    id = "completion"
    title = "does the model hold when the code changes shape?"
    source = Source("Hooda et al. 2024", "section 4")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = CompletionOptions

    def run(self, context: Context, target: Target, options: CompletionOptions) -> PairsRecord:
        """As `Probe.run`.

        Raises:
            SourceError: there is no such function, the file does not parse, nothing can judge the function
                and that was not wanted, or it fails its own tests as it stands, so that nothing can be
                learned from a completion that fails them.
        """
        document, steps, limits = target.document, context.steps, lasting(options.timeout)
        function, surveyed = rewritings(
            document,
            target.qualname,
            options.mutations,
            seed=options.seed,
            prefix_ratio=options.prefix_ratio,
            without=options.without,
        )
        steps.next("finding the tests")
        sandbox, cancel = context.sandbox(), context.cancel
        judge = target.judge or find_judge(
            document, function, sandbox, limits=limits, cancel=cancel, report=steps.next
        )
        why_not = None
        if judge is None:
            why_not = why_no_judge(document, function, sandbox, limits=limits, cancel=cancel)
            if not context.unjudged:
                raise SourceError(
                    f"nothing can judge {function.qualname}: {why_not}",
                    "Add a doctest or a test_*.py beside it; or name it to see what the model writes",
                )
        judging = Judging(judge, document, function, steps, limits)
        judging.check_own_tests()
        sound, dropped = judging.sift([made for made in surveyed.counterfactuals if made.cut is not None])
        gaps = [gaps_of(document, function, made) for made in sound]
        pairs = paired(sound, gaps, attempted(context.model, judging, gaps, options.max_tokens, steps))
        note = None
        if judge is None:
            pairs, note = _with_likelihoods(context.model, pairs, steps)
        return pairs_record(
            document,
            function,
            pairs,
            refusals=not_asked(surveyed),
            dropped=dropped,
            judged_by=judging.judged_by,
            why_not_judged=why_not,
            note=note,
        )

    def estimate(self, target: Target, options: CompletionOptions, model: Model) -> int:  # noqa: ARG002
        """As `Probe.estimate`: before any counterfactual is dropped."""
        _, surveyed = rewritings(
            target.document,
            target.qualname,
            options.mutations,
            seed=options.seed,
            prefix_ratio=options.prefix_ratio,
            without=options.without,
        )
        return prompts_of(surveyed)


def _with_likelihoods(model: Model, pairs: list[Pair], steps: Steps) -> tuple[list[Pair], str | None]:
    """Measure the likelihood effects where nothing can judge, or say why they are unknown."""
    try:
        if not model.offers(Capability.SCORE, cancel=steps.cancel):
            return pairs, "the likelihood effect is unknown: this model gives no token probabilities"
        effects = measured_likelihoods(model, pairs, steps)
    except ModelError as error:  # the completions are worth showing without it
        return pairs, f"the likelihood effect is unknown: {error.message}"
    return [replace(pair, likelihood=effect) for pair, effect in zip(pairs, effects, strict=True)], None
