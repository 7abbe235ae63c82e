"""A function prepared for the completion probe: its options, its judge, and the prompts.

Nothing in this module sends a request to a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any, ClassVar

from counterlens.counting import plural
from counterlens.errors import OptionError, SourceError
from counterlens.judging.base import Setting, Verdict, lasting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge, why_no_judge
from counterlens.mutations import Counterfactual, Refusal, Survey
from counterlens.probes.common_options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_PREFIX_RATIO,
    DEFAULT_TIMEOUT,
    MAX_TOKENS,
    AddedMutations,
    CutRanges,
    ExcludedTests,
    MapTimeout,
    MaxTokens,
    PrefixRatio,
    PreservingMutations,
    Timeout,
    Without,
)
from counterlens.probes.options import ProbeOptions, protocols
from counterlens.probes.pairs.counterfactuals import (
    UNSEEN,
    cut_in_all,
    gaps_of,
    late,
    lines_to_cut,
    rewritings,
)
from counterlens.probes.pairs.discrimination import cut_to_discriminate
from counterlens.probes.pairs.drawing import (
    DEFAULT_SAMPLES,
    DEFAULT_TEMPERATURE,
    Drawing,
    PassAt,
    Samples,
    Temperature,
)
from counterlens.probes.pairs.holes import (
    CommitHole,
    HoleChoice,
    Holes,
    TrainingCutoff,
    at_hole,
    holes_of,
    unchanged_function,
)
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.methods import METHODS
from counterlens.probes.pairs.published import (
    CACP,
    FIXED,
    ContextChoice,
    CutChoice,
    Cuts,
    Description,
    Preceding,
    PromptContext,
    Reach,
)
from counterlens.probes.pairs.sensitivity import sensitively_tested
from counterlens.probes.pairs.stability import (
    DEFAULT_PLACEBOS,
    DEFAULT_WAYS,
    Placebos,
    Ways,
    controls_of,
)
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap, View
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_RUNS = (
    3  # of the tests about a counterfactual before the model is asked: itself, its cut, a copied completion
)
_LEAST_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionOptions(ProbeOptions):
    """Options of the completion probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        CACP: {
            **FIXED,
            "cuts": Cuts.USUAL,
            "context": PromptContext.FILE,
            "holes": Holes.USUAL,
            "placebos": 0,
            "samples": 0,
            "pass_at": 0,
            "ways": 0,
        }
    }

    protocol: Annotated[str | None, protocols(CACP)] = None
    mutations: PreservingMutations = ()
    added_mutations: AddedMutations = ()
    without: Without = ()
    prefix_ratio: PrefixRatio = DEFAULT_PREFIX_RATIO
    cut_ranges: CutRanges = ()
    cuts: CutChoice = Cuts.USUAL
    holes: HoleChoice = Holes.USUAL
    training_cutoff: TrainingCutoff = None
    reach: Reach = 1
    description: Description = False
    preceding: Preceding = False
    context: ContextChoice = PromptContext.FILE
    placebos: Placebos = DEFAULT_PLACEBOS
    ways: Ways = DEFAULT_WAYS
    samples: Samples = 0
    temperature: Temperature = None
    pass_at: PassAt = 0
    max_tokens: MaxTokens = MAX_TOKENS
    timeout: Timeout = DEFAULT_TIMEOUT
    map_timeout: MapTimeout = DEFAULT_MAP_TIMEOUT
    excluded_tests: ExcludedTests = ()

    def __post_init__(self) -> None:
        METHODS[self.chosen_protocol].check_mutations(self.mutations)
        if self.searches and self.cut_ranges:
            raise OptionError(
                "--cuts discriminating looks for one cut, and --cut-range needs several",
                "Omit one of the two options",
            )
        if self.from_commits and (
            self.searches or self.cut_ranges or self.prefix_ratio != DEFAULT_PREFIX_RATIO
        ):
            raise OptionError(
                "--holes commits cuts where commits added statements, not where --cuts, --cut-range or "
                "--prefix-ratio says",
                "Omit --holes, or the other option",
            )
        if self.training_cutoff and not self.from_commits:
            raise OptionError(
                "--training-cutoff needs code with a date", "Add --holes commits, with --data repo:PATH"
            )
        if self.drawing and self.pass_at > self.drawing.most:
            raise OptionError(
                f"--pass-at {self.pass_at} needs as many completions, but {self.drawing.most} are sampled",
                f"Add --samples {self.pass_at}, or more",
            )

    @property
    def drawing(self) -> Drawing | None:
        """How completions are sampled; None if they are not."""
        most = self.samples or (DEFAULT_SAMPLES if self.temperature is not None or self.pass_at else 0)
        return (
            Drawing(most, self.temperature or DEFAULT_TEMPERATURE, self.seed, self.pass_at) if most else None
        )

    @property
    def imports(self) -> bool:
        """Whether prompts show the definitions that the function uses from other files."""
        return self.context is PromptContext.IMPORTS

    @property
    def from_commits(self) -> bool:
        """Whether holes are statements that commits added."""
        return self.holes is Holes.COMMITS

    @property
    def searches(self) -> bool:
        """Whether to search for discriminating cuts."""
        return self.cuts is Cuts.DISCRIMINATING


@dataclass(frozen=True, slots=True)
class PreparedPairs:
    """A function with everything that needs no model: the prompts, and the judge of the answers.

    Attributes:
        judging: Judges programs of it.
        asked: Its counterfactuals, each with its cut.
        gaps: The holes of the original and of each of `asked` and `controls`.
        holes: The holes that commits left in the original, with or without a counterfactual.
        refusals: The excluded items.
        dropped: Counterfactuals whose own program does not have the original's verdict, with its own verdict.
        wanted: Requested number of placebos.
        why_not_judged: Why nothing can judge it; None if there is a judge.
    """

    function: Function
    judging: Judging
    asked: tuple[Counterfactual, ...]
    controls: tuple[Counterfactual, ...]
    gaps: tuple[tuple[Gap, Gap], ...]
    holes: tuple[tuple[CommitHole, Gap], ...]
    refusals: tuple[Refusal, ...]
    dropped: tuple[tuple[Counterfactual, Verdict], ...]
    wanted: int
    why_not_judged: str | None


def prepare(context: Context, target: Target, options: CompletionOptions) -> PreparedPairs:
    """Find a function's judge, check it, and find the usable counterfactuals and placebos.

    Args:
        context: Its model is not used.

    Raises:
        SourceError: as `CompletionProbe.run`.
    """
    document, steps, limits = target.document, context.steps, lasting(options.timeout)
    function, surveys = surveys_of(target, options)
    made = surveys[0].counterfactuals
    kinds = plural(len({each.mutation for each in made}), "mutation")
    steps.state(
        f"{plural(len(made), 'place')} to rewrite, by {kinds}" if made else "no mutation applies here"
    )
    steps.next("finding the tests")
    sandbox, cancel = context.sandbox(), context.cancel
    suite_seconds = options.map_timeout  # for the suite, which runs if no test mentions the function
    if steps.budget is not None:
        suite_seconds = min(suite_seconds, steps.budget.left / 2)
    setting = Setting(
        sandbox,
        interpreter_for(document.path),
        limits,
        cancel,
        steps.next,
        vetted=context.vetted,
        surveyed=context.surveyed,
        map_timeout=suite_seconds,
        excluded=tuple(options.excluded_tests),
    )
    judge = target.judge or find_judge(document, function, setting)
    why_not = None
    if judge is None:
        why_not = why_no_judge(document, function, setting)
        if options.searches or not context.unjudged:
            raise SourceError(
                f"nothing can judge {function.qualname}: {why_not}",
                "Add a doctest, or a test_*.py next to it; or name the function to see what the model writes",
            )
    judging = Judging(judge, document, function, steps, limits)
    judging.check_own_tests()
    steps.state(f"judged by {judge.described}" if judge else f"nothing can judge it: {why_not}")
    view = View(target.description if options.description else "", options.preceding, options.imports)
    holes = holes_of(target) if options.from_commits else []
    bare = [(unchanged_function(document, function, hole),) for hole in holes]
    # A hole that no test reaches can be filled with anything.
    sensitive, insensitive = sensitively_tested(judging, document, function, bare, steps)
    holes = [hole for hole, made in zip(holes, bare, strict=True) if made in sensitive]
    asked, refusals, dropped = _usable_counterfactuals(
        judging, document, function, surveys, holes, view, options
    )
    wanted = options.placebos if judge and asked else 0  # without a judge, no verdict can change
    offered = controls_of(document, function, asked, wanted, options.seed)
    placebos = _at_holes(offered, holes) if options.from_commits else [*offered.counterfactuals]
    controls, failing = judging.sift(placebos)
    gaps = [gaps_of(document, function, made, view) for made in (*asked, *controls)]
    return PreparedPairs(
        function,
        judging,
        tuple(asked),
        tuple(controls),
        tuple(gaps),
        tuple((hole, Gap.of(document, function, hole.start, view, hole.end)) for hole in holes),
        (*insensitive, *refusals)
        if offered.counterfactuals
        else (*insensitive, *refusals, *offered.refusals),
        (*dropped, *failing),
        wanted,
        why_not,
    )


def _usable_counterfactuals(
    judging: Judging,
    document: Document,
    function: Function,
    surveys: Sequence[Survey],
    holes: Sequence[CommitHole],
    view: View,
    options: CompletionOptions,
) -> tuple[list[Counterfactual], tuple[Refusal, ...], list[tuple[Counterfactual, Verdict]]]:
    """The usable counterfactuals, each with its cut; the refusals; and the dropped ones."""
    cut, refusals = cut_of(surveys, holes, options)
    cut, unprepared = _in_time(judging, document, cut)
    refusals = (*refusals, *unprepared)
    sound, dropped = judging.sift([variants[0] for variants in cut])
    passing = set(sound)
    kept, steps = [variants for variants in cut if variants[0] in passing], judging.steps
    if options.searches:
        counterfactuals, never = cut_to_discriminate(judging, document, function, chain(*kept), view, steps)
        kept, refusals = [(counterfactual,) for counterfactual in counterfactuals], (*refusals, *never)
    if METHODS[options.chosen_protocol].sensitive_only:
        kept, insensitive = sensitively_tested(judging, document, function, kept, steps)
        refusals = (*refusals, *insensitive)
    return list(chain(*kept)), refusals, dropped


def _in_time(
    judging: Judging, document: Document, cut: list[tuple[Counterfactual, ...]]
) -> tuple[list[tuple[Counterfactual, ...]], tuple[Refusal, ...]]:
    """The counterfactuals that can be run in a quarter of the time, nearest to their cuts, at least one.

    Returns:
        Them, and refusals of the others.
    """
    budget = judging.steps.budget
    if budget is None:
        return cut, ()
    seconds = _RUNS * max(judging.verdict(document.text).seconds, _LEAST_SECONDS)
    near = sorted(cut, key=lambda variants: lines_to_cut(document, variants[0]))
    kept = near[: max(1, int(budget.left / 4 / seconds))]
    unprepared = [variants for variants in cut if variants not in kept]
    return [variants for variants in cut if variants in kept], tuple(
        late(made, budget) for made in chain(*unprepared)
    )


def surveys_of(target: Target, options: CompletionOptions) -> tuple[Function, list[Survey]]:
    """The function, and its counterfactuals, once for each range of cuts."""
    surveys = []
    for ratio in options.cut_ranges or (options.prefix_ratio,):
        function, surveyed = rewritings(
            target.document,
            target.qualname,
            options.mutations,
            added=options.added_mutations,
            seed=options.seed,
            prefix_ratio=ratio,
            without=options.without,
            reach=options.reach,
            protocol=options.chosen_protocol,
            every_cut=options.searches,
            lines=() if options.from_commits else target.lines,  # which then select holes
        )
        surveys.append(surveyed)
    return function, surveys


def _at_holes(offered: Survey, holes: Sequence[CommitHole]) -> list[Counterfactual]:
    """The placebos, each with the hole of its cut."""
    at_cuts = (
        at_hole(made, hole)
        for made in offered.counterfactuals
        for hole in holes
        if made.cut is not None and made.cut.original == hole.start
    )
    return [made for made in at_cuts if made is not None]


def cut_of(
    surveys: Sequence[Survey], holes: Sequence[CommitHole], options: CompletionOptions
) -> tuple[list[tuple[Counterfactual, ...]], tuple[Refusal, ...]]:
    """As `cut_in_all`; if cuts are searched for, also keeps those whose change is after the usual cut.

    With holes of commits, each counterfactual is cut at every hole that its change precedes.
    """
    if options.from_commits:
        groups, refused = list[tuple[Counterfactual, ...]](), list(surveys[0].refusals)
        for made in surveys[0].counterfactuals:
            cut = (at_hole(made, hole) for hole in holes)
            if variants := tuple(variant for variant in cut if variant is not None):
                groups.append(variants)
            else:
                refused.append(Refusal(made.mutation, made.function, made.start_line, UNSEEN))
        return groups, tuple(refused)
    if options.searches:  # a change after the usual cut is seen by a later one
        anyhow = [
            replace(made, cut=made.cut or next(iter(made.other_cuts), None))
            for made in surveys[0].counterfactuals
        ]
        surveys = [replace(surveys[0], counterfactuals=tuple(anyhow))]
    return cut_in_all(surveys)
