"""The completion probe (CACP, Hooda et al. 2024, section 4): does the model hold when the code is rewritten?

Original and counterfactual are cut at the same place, both are completed at temperature 0, and both programs
are judged. With a model that follows the code instead of its usual form, both get the same verdict. The
original and all counterfactuals of a function are one batch, always composed in the same way, so that no
verdict depends on other prompts. Placebos show how verdicts vary if nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Model
from counterlens.models.speed import noted_speed
from counterlens.mutations import Counterfactual, Refusal
from counterlens.probes.pairs.attempts import Attempt, Pair, attempt_all, pairs_of
from counterlens.probes.pairs.base import PairsProbe
from counterlens.probes.pairs.counterfactuals import late, lines_to_cut, prompts_of
from counterlens.probes.pairs.discrimination import discriminating
from counterlens.probes.pairs.drawing import (
    draw_pairs,
)
from counterlens.probes.pairs.early import finding_sentence, plan_sentence
from counterlens.probes.pairs.holes import holes_of
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.methods import METHODS
from counterlens.probes.pairs.preparing import CompletionOptions, PreparedPairs, cut_of, prepare, surveys_of
from counterlens.probes.pairs.record import DrawnPair, PairsRecord
from counterlens.probes.pairs.recording import hole_record, pairs_record
from counterlens.probes.pairs.stability import (
    asked_again,
    controls_of,
    is_nondeterministic,
    with_ways,
)
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.sanity import require_repeatable
from counterlens.progress import Steps

__all__ = ["CompletionOptions", "CompletionProbe"]

_TOGETHER, _TOGETHER_IN_TIME = 6, 2
"""Prompts after which answers are judged while somebody waits for a finding, or if time is limited."""


class CompletionProbe(PairsProbe[CompletionOptions]):
    """Completions of a function and its counterfactuals, judged by the function's own tests."""

    id = "completion"
    title = "does the model still succeed when the code is rewritten?"
    source = Source("Hooda et al. 2024", "section 4")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    whole_programs = True
    options = CompletionOptions

    def run(self, context: Context, target: Target, options: CompletionOptions) -> PairsRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: there is no such function, the file does not parse, nothing can judge the function
                although a judge is required, or the unchanged function fails its own tests, so that a failed
                completion would be meaningless.
            CounterlensError: under a protocol, a remote model completes the same code in two ways.
        """
        prepared = prepare(context, target, options)
        document, function, judging, steps = (
            target.document,
            prepared.function,
            prepared.judging,
            context.steps,
        )
        asked, controls, gaps = prepared.asked, prepared.controls, prepared.gaps
        discriminates = discriminating(judging, gaps[: len(asked)], steps)
        bare = [(gap, gap) for _, gap in prepared.holes]
        attempts = _attempts(context, target, prepared, [*gaps, *bare], discriminates, options.max_tokens)
        asked, controls, gaps, discriminates, unasked = _asked_of(prepared, discriminates, attempts, steps)
        tried = pairs_of([*asked, *controls], gaps, attempts)
        pairs = [
            replace(pair, discriminating=verdict, reached=judging.reach(pair.gap))
            for pair, verdict in zip(tried, discriminates, strict=False)
        ]
        placebos = tried[len(asked) :]
        if prepared.wanted and is_nondeterministic(context.model.info) and steps.has_time():
            more = {"max_tokens": options.max_tokens, "seed": options.seed}
            placebos.append(asked_again(context, judging, function, pairs, **more))
        if METHODS[options.chosen_protocol].repeatable and pairs and not context.model.info.local:
            _require_repeatable(context, pairs[0], options.max_tokens)
        if options.cut_ranges:
            ranges = cycle(cut_range for cut_range in options.cut_ranges if isinstance(cut_range, tuple))
            pairs = [
                replace(pair, cut_range=cut_range) for pair, cut_range in zip(pairs, ranges, strict=False)
            ]
        note = None
        if prepared.why_not_judged is not None:
            pairs, note = _with_likelihoods(context.model, pairs, steps)
            if options.drawing:
                note = "; ".join(filter(None, (note, "nothing was sampled, because nothing can judge it")))
        made = partial(
            pairs_record,
            document,
            function,
            placebos=placebos,
            refusals=(*prepared.refusals, *unasked),
            dropped=prepared.dropped,
            judged_by=judging.judged_by,
            why_not_judged=prepared.why_not_judged,
            note=note,
            holes=[
                hole_record(document, hole, gap, attempts[gap], options.training_cutoff)
                for hole, gap in prepared.holes
                if gap in attempts
            ],
        )
        if prepared.why_not_judged is None:
            pairs = _beyond_greedy(context, judging, pairs, options, made)
        return made(pairs)

    def check_target(self, target: Target, options: CompletionOptions) -> None:
        """Like `Probe.check_target`: holes of commits need a history."""
        super().check_target(target, options)
        if options.from_commits:
            holes_of(target)

    def estimate(self, target: Target, options: CompletionOptions, model: Model) -> int:
        """Like `Probe.estimate`: before any counterfactual is dropped, and without alternatives at ties."""
        function, surveys = surveys_of(target, options)
        holes = holes_of(target) if options.from_commits else []
        cut, _ = cut_of(surveys, holes, options)
        asked = [made for variants in cut for made in variants]
        controls = controls_of(target.document, function, asked, options.placebos, options.seed)
        nondeterministic = model.offers(Capability.BATCH) and not model.offers(Capability.EXACT)
        once_more = bool(asked and options.placebos) and nondeterministic
        more = options.drawing.prompts_of(prompts_of(asked)) if options.drawing else 0
        alone = {hole.start for hole in holes} - {made.cut.original for made in asked if made.cut is not None}
        return prompts_of(asked) + len(alone) + len(controls.counterfactuals) + once_more + more


def _attempts(
    context: Context,
    target: Target,
    prepared: PreparedPairs,
    gaps: Sequence[tuple[Gap, Gap]],
    discriminates: Sequence[bool | None],
    max_tokens: int,
) -> dict[Gap, Attempt]:
    """All completions with their verdicts; a reader who waits hears what will be asked, and each finding.

    The pairs in which a copy of the original would fail come first: they show most.
    """
    judging, steps, asked = prepared.judging, context.steps, prepared.asked
    document = target.document
    if steps.facts is None and steps.budget is None:
        return attempt_all(context.model, judging, gaps, max_tokens, steps)
    steps.state(plan_sentence(prepared, gaps, max_tokens, noted_speed(context.model.info.identity)))
    # What is bounded is asked in parts, even by a model whose answers depend on those beside them.
    parts = steps.budget is not None or context.model.offers(Capability.EXACT, cancel=steps.cancel)
    shows_most = [index < len(asked) and discriminates[index] is True for index in range(len(gaps))]

    def precedence(index: int) -> tuple[bool, bool, int, int]:
        """What is asked first: pairs that show most, those with the least to write first, near the cut."""
        rest = sum(len(gap.removed) for gap in gaps[index])
        if index >= len(asked):
            return True, True, rest, 0
        return False, not shows_most[index], rest, lines_to_cut(document, asked[index])

    order = sorted(range(len(gaps)), key=precedence) if parts else list(range(len(gaps)))

    def judged(number: int, original: Attempt, mutated: Attempt) -> None:
        index = order[number]
        if index < len(asked):
            steps.state(finding_sentence(asked[index], original, mutated, discriminating=shows_most[index]))

    return attempt_all(
        context.model,
        judging,
        [gaps[index] for index in order],
        max_tokens,
        steps,
        judged,
        (_TOGETHER_IN_TIME if steps.budget else _TOGETHER) if parts else None,
    )


def _asked_of(
    prepared: PreparedPairs,
    discriminates: Sequence[bool | None],
    attempts: Mapping[Gap, Attempt],
    steps: Steps,
) -> tuple[
    tuple[Counterfactual, ...],
    tuple[Counterfactual, ...],
    tuple[tuple[Gap, Gap], ...],
    tuple[bool | None, ...],
    tuple[Refusal, ...],
]:
    """The pairs and placebos that were asked, with their holes and whether a copy fails; and the others."""
    made = [*prepared.asked, *prepared.controls]
    kept = [index for index, both in enumerate(prepared.gaps) if attempts.keys() >= {*both}]
    first = [index for index in kept if index < len(prepared.asked)]
    unasked = [prepared.asked[index] for index in range(len(prepared.asked)) if index not in {*first}]
    return (
        tuple(made[index] for index in first),
        tuple(made[index] for index in kept if index >= len(prepared.asked)),
        tuple(prepared.gaps[index] for index in kept),
        tuple(discriminates[index] for index in first),
        tuple(late(each, steps.budget) for each in unasked) if steps.budget else (),
    )


def _beyond_greedy(
    context: Context,
    judging: Judging,
    pairs: list[Pair],
    options: CompletionOptions,
    made: Callable[[list[Pair]], PairsRecord],
) -> list[Pair]:
    """Pairs with the stability of the greedy completions, and with sampled completions.

    `context.interim` gets the record of the greedy completions first, then updates as samples come in.
    """
    if not context.steps.has_time():
        return pairs
    tied = any(pair.informative and (pair.original.ties or pair.mutated.ties) for pair in pairs)
    if tied and options.ways and not options.drawing and context.interim is not None:
        context.interim(made(pairs))  # the following steps take longer than all before
    pairs = with_ways(context.model, judging, pairs, options.ways, options.max_tokens)
    if not options.drawing:
        return pairs

    def refined(rates: Sequence[DrawnPair | None]) -> list[Pair]:
        return [replace(pair, drawn=rate) for pair, rate in zip(pairs, rates, strict=True)]

    def show(rates: Sequence[DrawnPair | None]) -> None:
        if context.interim is not None:
            context.interim(made(refined(rates)))

    show([None] * len(pairs))
    gaps = [(pair.gap, pair.mutated_gap) for pair in pairs]
    return refined(draw_pairs(context.model, judging, gaps, options.drawing, options.max_tokens, show))


def _require_repeatable(context: Context, pair: Pair, max_tokens: int) -> None:
    """Have a remote model complete an original again (section 5.1: temperature 0).

    Raises:
        CounterlensError: the completion differs from the first.
    """
    require_repeatable(
        context.model,
        "complete the same code",
        pair.original.completion,
        lambda: context.uncached.complete(pair.gap.prompt(max_tokens)).text,
    )


def _with_likelihoods(model: Model, pairs: list[Pair], steps: Steps) -> tuple[list[Pair], str | None]:
    """Measure the likelihood effects if nothing can judge, or return the reason why they are unknown."""
    from counterlens.probes.pairs.likelihood_effect import likelihood_effects

    try:
        if not model.offers(Capability.SCORE, cancel=steps.cancel):
            return pairs, "the likelihood effect is unknown: this model returns no token probabilities"
        effects = likelihood_effects(model, [(pair.gap, pair.mutated_gap) for pair in pairs], steps)
    except ModelError as error:  # the completions are worth showing without them
        return pairs, f"the likelihood effect is unknown: {error.message}"
    return [replace(pair, likelihood=effect) for pair, effect in zip(pairs, effects, strict=True)], None
