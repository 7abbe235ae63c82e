"""The completion probe (CACP, Hooda et al. 2024, section 4): does the model hold when the code changes shape?

Original and counterfactual are cut at the same place, both are completed at temperature 0, both programs
are judged. A model that follows the code rather than its usual shape gives the same verdict twice. The
original and all counterfactuals of a function are asked as one batch, always made up in the same way, so
that no verdict depends on what else was asked. Beside the counterfactuals stand placebos: what a verdict
does when nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, cycle
from typing import Annotated, Any, ClassVar

from counterlens.attribution.base import Verdict, lasting
from counterlens.attribution.registry import find_judge, why_no_judge
from counterlens.errors import ModelError, OptionError, SourceError
from counterlens.models.base import Capability, Model
from counterlens.mutations import Counterfactual, Refusal, Survey
from counterlens.probes.options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_PREFIX_RATIO,
    DEFAULT_TIMEOUT,
    MAX_TOKENS,
    CutRanges,
    MapTimeout,
    MaxTokens,
    PrefixRatio,
    PreservingMutations,
    ProbeOptions,
    Timeout,
    Without,
    protocols,
)
from counterlens.probes.pairs.attempts import Pair, attempted, measured_likelihoods, paired
from counterlens.probes.pairs.base import PairsProbe
from counterlens.probes.pairs.counterfactuals import cut_in_all, gaps_of, prompts_of, rewritings
from counterlens.probes.pairs.discrimination import cut_to_discriminate, discriminating
from counterlens.probes.pairs.drawing import (
    DEFAULT_SAMPLES,
    DEFAULT_TEMPERATURE,
    Drawing,
    PassAt,
    Samples,
    Temperature,
    drawn,
)
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.placebo import (
    DEFAULT_PLACEBOS,
    Placebos,
    asked_again,
    controls_of,
    wavers,
)
from counterlens.probes.pairs.published import (
    CACP,
    FIXED,
    CutChoice,
    Cuts,
    Description,
    Preceding,
    Reach,
    check_mutations,
)
from counterlens.probes.pairs.record import DrawnPair, PairsRecord
from counterlens.probes.pairs.recording import pairs_record
from counterlens.probes.pairs.seeing import seen
from counterlens.probes.pairs.stability import DEFAULT_WAYS, Ways, with_ways
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.gap import View
from counterlens.probes.sanity import require_repeatable
from counterlens.progress import Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionOptions(ProbeOptions):
    """Options of the completion probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        CACP: {**FIXED, "cuts": Cuts.USUAL, "placebos": 0, "samples": 0, "pass_at": 0, "ways": 0}
    }

    protocol: Annotated[str | None, protocols(CACP)] = None
    mutations: PreservingMutations = ()
    without: Without = ()
    prefix_ratio: PrefixRatio = DEFAULT_PREFIX_RATIO
    cut_ranges: CutRanges = ()
    cuts: CutChoice = Cuts.USUAL
    reach: Reach = 1
    description: Description = False
    preceding: Preceding = False
    placebos: Placebos = DEFAULT_PLACEBOS
    ways: Ways = DEFAULT_WAYS
    samples: Samples = 0
    temperature: Temperature = None
    pass_at: PassAt = 0
    max_tokens: MaxTokens = MAX_TOKENS
    timeout: Timeout = DEFAULT_TIMEOUT
    map_timeout: MapTimeout = DEFAULT_MAP_TIMEOUT

    def __post_init__(self) -> None:
        check_mutations(self.chosen_protocol, self.mutations)
        if self.searches and self.cut_ranges:
            raise OptionError(
                "--cuts discriminating looks for one cut, and --cut-range wants several",
                "Leave out one of the two options",
            )
        if self.drawing and self.pass_at > self.drawing.most:
            raise OptionError(
                f"--pass-at {self.pass_at} needs as many completions, and {self.drawing.most} are drawn",
                f"Add --samples {self.pass_at}, or more",
            )

    @property
    def drawing(self) -> Drawing | None:
        """How completions are drawn; None where none are."""
        most = self.samples or (DEFAULT_SAMPLES if self.temperature is not None or self.pass_at else 0)
        return (
            Drawing(most, self.temperature or DEFAULT_TEMPERATURE, self.seed, self.pass_at) if most else None
        )

    @property
    def searches(self) -> bool:
        """Whether cuts are looked for that tell a copier apart."""
        return self.cuts is Cuts.DISCRIMINATING


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
            CounterlensError: by a protocol, a model that others serve completes the same code in two ways.
        """
        document, steps, limits = target.document, context.steps, lasting(options.timeout)
        function, surveys = _surveys(target, options)
        steps.next("finding the tests")
        sandbox, cancel = context.sandbox(), context.cancel
        judge = target.judge or find_judge(
            document,
            function,
            sandbox,
            limits=limits,
            vetted=context.vetted,
            surveyed=context.surveyed,
            map_timeout=options.map_timeout,
            cancel=cancel,
            report=steps.next,
        )
        why_not = None
        if judge is None:
            why_not = why_no_judge(
                document,
                function,
                sandbox,
                limits=limits,
                map_timeout=options.map_timeout,
                cancel=cancel,
            )
            if options.searches or not context.unjudged:
                raise SourceError(
                    f"nothing can judge {function.qualname}: {why_not}",
                    "Add a doctest or a test_*.py beside it; or name it to see what the model writes",
                )
        judging = Judging(judge, document, function, steps, limits)
        judging.check_own_tests()
        view = View(target.description if options.description else "", options.preceding)
        asked, refusals, dropped = _asked(judging, document, function, surveys, view, options)
        wanted = options.placebos if judge and asked else 0  # where nothing judges, nothing can change
        offered = controls_of(document, function, asked, wanted, options.seed)
        controls, failing = judging.sift(list(offered.counterfactuals))
        gaps = [gaps_of(document, function, made, view) for made in (*asked, *controls)]
        telling = discriminating(judging, gaps[: len(asked)], steps)
        attempts = attempted(context.model, judging, gaps, options.max_tokens, steps)
        tried = paired([*asked, *controls], gaps, attempts)
        pairs = [
            replace(pair, discriminating=one, reached=judging.reach(pair.gap))
            for pair, one in zip(tried, telling, strict=False)
        ]
        placebos = tried[len(asked) :]
        if wanted and wavers(context.model.info):
            more = {"max_tokens": options.max_tokens, "seed": options.seed}
            placebos.append(asked_again(context, judging, function, pairs, **more))
        if options.chosen_protocol and pairs and not context.model.info.local:
            _require_repeatable(context, pairs[0], options.max_tokens)
        if options.cut_ranges:
            ranges = cycle(one for one in options.cut_ranges if isinstance(one, tuple))
            pairs = [replace(pair, cut_range=one) for pair, one in zip(pairs, ranges, strict=False)]
        note = None
        if judge is None:
            pairs, note = _with_likelihoods(context.model, pairs, steps)
            if options.drawing:
                note = "; ".join(filter(None, (note, "nothing was drawn, as nothing can judge it")))
        made = partial(
            pairs_record,
            document,
            function,
            placebos=placebos,
            refusals=refusals if offered.counterfactuals else (*refusals, *offered.refusals),
            dropped=(*dropped, *failing),
            judged_by=judging.judged_by,
            why_not_judged=why_not,
            note=note,
        )
        if judge is not None:
            pairs = _beyond_greedy(context, judging, pairs, options, made)
        return made(pairs)

    def estimate(self, target: Target, options: CompletionOptions, model: Model) -> int:
        """As `Probe.estimate`: before any counterfactual is dropped, and without ways: they show later."""
        function, surveys = _surveys(target, options)
        cut, _ = _cut(surveys, options)
        asked = [made for variants in cut for made in variants]
        controls = controls_of(target.document, function, asked, options.placebos, options.seed)
        wavering = model.offers(Capability.BATCH) and not model.offers(Capability.EXACT)
        once_more = bool(asked and options.placebos) and wavering
        more = options.drawing.prompts_of(prompts_of(asked)) if options.drawing else 0
        return prompts_of(asked) + len(controls.counterfactuals) + once_more + more


def _asked(
    judging: Judging,
    document: Document,
    function: Function,
    surveys: Sequence[Survey],
    view: View,
    options: CompletionOptions,
) -> tuple[list[Counterfactual], tuple[Refusal, ...], list[tuple[Counterfactual, Verdict]]]:
    """The counterfactuals that are asked about, each with its cut; what is not, and what was dropped."""
    cut, refusals = _cut(surveys, options)
    sound, dropped = judging.sift([variants[0] for variants in cut])
    passing = set(sound)
    kept, steps = [variants for variants in cut if variants[0] in passing], judging.steps
    if options.searches:
        found, never = cut_to_discriminate(judging, document, function, chain(*kept), view, steps)
        kept, refusals = [(one,) for one in found], (*refusals, *never)
    if not options.chosen_protocol:
        kept, blind = seen(judging, document, function, kept, steps)
        refusals = (*refusals, *blind)
    return list(chain(*kept)), refusals, dropped


def _beyond_greedy(
    context: Context,
    judging: Judging,
    pairs: list[Pair],
    options: CompletionOptions,
    made: Callable[[list[Pair]], PairsRecord],
) -> list[Pair]:
    """Pairs with what the greedy completions do not say: whether they are stable, and what is drawn.

    Whoever watches is shown the record of the greedy completions first, then what more draws say of it.
    """
    pairs = with_ways(context.model, judging, pairs, options.ways, options.max_tokens)
    if not options.drawing:
        return pairs

    def refined(rates: Sequence[DrawnPair | None]) -> list[Pair]:
        return [replace(pair, drawn=one) for pair, one in zip(pairs, rates, strict=True)]

    def show(rates: Sequence[DrawnPair | None]) -> None:
        if context.interim is not None:
            context.interim(made(refined(rates)))

    show([None] * len(pairs))
    gaps = [(pair.gap, pair.mutated_gap) for pair in pairs]
    return refined(drawn(context.model, judging, gaps, options.drawing, options.max_tokens, show))


def _require_repeatable(context: Context, pair: Pair, max_tokens: int) -> None:
    """Ask a model that others serve to complete an original once more (section 5.1: temperature 0).

    Raises:
        CounterlensError: it writes something else than before.
    """
    require_repeatable(
        context.model.info.name,
        "complete the same code",
        pair.original.completion,
        lambda: context.anew.complete(pair.gap.prompt(max_tokens)).text,
    )


def _surveys(target: Target, options: CompletionOptions) -> tuple[Function, list[Survey]]:
    """The function, and its counterfactuals, once for each range that they are to be cut in."""
    surveys = []
    for ratio in options.cut_ranges or (options.prefix_ratio,):
        function, surveyed = rewritings(
            target.document,
            target.qualname,
            options.mutations,
            seed=options.seed,
            prefix_ratio=ratio,
            without=options.without,
            reach=options.reach,
            protocol=options.chosen_protocol,
            every_cut=options.searches,
            lines=target.lines,
        )
        surveys.append(surveyed)
    return function, surveys


def _cut(
    surveys: Sequence[Survey], options: CompletionOptions
) -> tuple[list[tuple[Counterfactual, ...]], tuple[Refusal, ...]]:
    """As `cut_in_all`; where cuts are looked for, those are kept, too, that the usual one does not show."""
    if options.searches:
        anyhow = [
            replace(made, cut=made.cut or next(iter(made.other_cuts), None))
            for made in surveys[0].counterfactuals
        ]
        surveys = [replace(surveys[0], counterfactuals=tuple(anyhow))]
    return cut_in_all(surveys)


def _with_likelihoods(model: Model, pairs: list[Pair], steps: Steps) -> tuple[list[Pair], str | None]:
    """Measure the likelihood effects where nothing can judge, or say why they are unknown."""
    try:
        if not model.offers(Capability.SCORE, cancel=steps.cancel):
            return pairs, "the likelihood effect is unknown: this model gives no token probabilities"
        effects = measured_likelihoods(model, pairs, steps)
    except ModelError as error:  # the completions are worth showing without it
        return pairs, f"the likelihood effect is unknown: {error.message}"
    return [replace(pair, likelihood=effect) for pair, effect in zip(pairs, effects, strict=True)], None
