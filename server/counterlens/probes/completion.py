"""The completion probe (CACP, Hooda et al. 2024, section 4): does the model hold when the code changes shape?

Original and counterfactual are cut at the same place, both are completed at temperature 0, both programs
are judged. A model that follows the code rather than its usual shape gives the same verdict twice. The
original and all counterfactuals of a function are asked as one batch, always made up in the same way, so
that no verdict depends on what else was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from counterlens.attribution.base import LIMITS, Judge
from counterlens.attribution.registry import find_judge, why_no_judge
from counterlens.errors import CounterlensError
from counterlens.models.base import Model
from counterlens.mutations import MUTATIONS, survey
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.mutations.engine import Survey
from counterlens.probes.judging import Judging
from counterlens.probes.likelihood import LikelihoodEffect, likelihood_effects
from counterlens.probes.prompting import Gap
from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.probes.steps import Report, Steps
from counterlens.probes.task import MAX_TOKENS
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

__all__ = ["MAX_TOKENS", "Attempt", "CompletionProbe", "Pair", "Report", "probe_completion"]

UNSEEN = "its change does not stand before a place to cut, so a completion could not show it"


def probe_completion(
    model: Model,
    document: Document,
    qualname: str,
    sandbox: Sandbox,
    *,
    judge: Judge | None = None,
    mutations: Sequence[str] | None = None,
    seed: int = 0,
    prefix_ratio: Ratio = PREFIX_RATIO,
    without: Sequence[str] = (),
    max_tokens: int = MAX_TOKENS,
    limits: Limits = LIMITS,
    cancel: Event | None = None,
    report: Report | None = None,
) -> CompletionProbe:
    """Probe one function.

    Args:
        model: Who is asked.
        document: The source.
        qualname: The function.
        sandbox: Where programs are run.
        judge: What judges; found for the function when None.
        mutations: Ids of mutations that keep the meaning; all of them by default.
        seed: Decides random names.
        prefix_ratio: Which part of the function stays before the cut, for mutations that do not say where
            to cut themselves, or the range that it lies in (Hooda et al. 2024, section 4.2 and Table 4).
        without: Assumptions that no counterfactual may rest on.
        max_tokens: At most so many new tokens a completion.
        limits: What each program may use together with the tests.
        cancel: Set it to give up.
        report: Called with what is being done.

    Raises:
        SourceError: there is no such function, the file does not parse, or the function fails its own
            tests as it stands, so that nothing can be learned from a completion that fails them.
        ModelError, SandboxError: the model or the sandbox failed.
        Cancelled: `cancel` was set.
    """
    function, surveyed = rewritings(
        document, qualname, mutations, seed=seed, prefix_ratio=prefix_ratio, without=without
    )
    steps = Steps(cancel, report)
    steps.next("finding the tests")
    judge = judge or find_judge(document, function, sandbox, limits=limits, cancel=cancel, report=steps.next)
    why_not = None if judge else why_no_judge(document, function, sandbox, limits=limits, cancel=cancel)
    judging = Judging(judge, document, function, steps, limits)
    judging.check_own_tests()
    sound, dropped = judging.sift([one for one in surveyed.counterfactuals if one.cut is not None])
    gaps = [gaps_of(document, function, counterfactual) for counterfactual in sound]
    attempts = attempted(model, judging, gaps, max_tokens, steps)
    return CompletionProbe(
        document=document,
        function=function,
        model=model.info,
        judged_by=judging.judged_by,
        pairs=paired(sound, gaps, attempts),
        refusals=refusals(surveyed),
        dropped=tuple(dropped),
        seed=seed,
        why_not_judged=why_not,
    )


def rewritings(
    document: Document,
    qualname: str,
    mutations: Sequence[str] | None,
    *,
    seed: int,
    prefix_ratio: Ratio = PREFIX_RATIO,
    without: Sequence[str] = (),
) -> tuple[Function, Survey]:
    """A function, and the counterfactuals of it that keep the meaning; arguments as in `probe_completion`.

    Raises:
        SourceError: there is no such function, or the file does not parse.
        CounterlensError: as `preserving`.
    """
    function = find_function(document, qualname)
    return function, survey(
        document.text,
        mutations=preserving(mutations),
        function=function.qualname,
        seed=seed,
        prefix_ratio=prefix_ratio,
        without=without,
    )


def preserving(mutations: Sequence[str] | None) -> list[str]:
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


def gaps_of(document: Document, function: Function, counterfactual: Counterfactual) -> tuple[Gap, Gap]:
    """The holes of the original and of a counterfactual that has a cut."""
    cut = counterfactual.cut
    if cut is None:
        raise ValueError("a counterfactual without a cut cannot be completed")
    mutated = replace(document, text=counterfactual.source)
    there = find_function(mutated, function.qualname)
    return Gap.of(document, function, cut.original), Gap.of(mutated, there, cut.mutated)


def attempted(
    model: Model, judging: Judging, gaps: Sequence[tuple[Gap, Gap]], max_tokens: int, steps: Steps
) -> dict[Gap, Attempt]:
    """What the model writes into each hole, asked as one batch, and the verdicts on it.

    Raises:
        ModelError, Cancelled: as `Model.complete`.
    """
    holes = {gap.shown: gap for pair in gaps for gap in pair}
    what = f"completing {len(holes)} prompts together"
    steps.next(what)
    prompts = [gap.prompt(max_tokens) for gap in holes.values()]
    completions = model.complete(
        prompts, cancel=steps.cancel, progress=lambda done, total: steps.report(what, done, total)
    )
    written = dict(zip(holes, completions, strict=True))
    verdicts: dict[str, Attempt] = {}
    for number, (shown, completion) in enumerate(written.items()):
        steps.next("judging what it wrote", number, len(written))
        verdict = judging.verdict(holes[shown].fill(completion.text))
        verdicts[shown] = Attempt(completion.text, completion.finish, verdict)
    judging.check_identity()
    return {gap: verdicts[gap.shown] for pair in gaps for gap in pair}


def paired(
    sound: Sequence[Counterfactual],
    gaps: Sequence[tuple[Gap, Gap]],
    attempts: dict[Gap, Attempt],
    likelihoods: Sequence[LikelihoodEffect | None] | None = None,
) -> tuple[Pair, ...]:
    """The pairs, in the order of the counterfactuals."""
    return tuple(
        Pair(one, original, mutated, attempts[original], attempts[mutated], likelihood)
        for one, (original, mutated), likelihood in zip(
            sound, gaps, likelihoods or [None] * len(sound), strict=True
        )
    )


def with_likelihood(probe: CompletionProbe, model: Model, steps: Steps) -> CompletionProbe:
    """A probe with the likelihood effects of its pairs.

    Raises:
        ModelError, Cancelled: as `likelihood_effects`.
    """
    what = "measuring how likely the true rest is"
    steps.next(what)
    effects = likelihood_effects(
        model,
        [(pair.gap, pair.mutated_gap) for pair in probe.pairs],
        cancel=steps.cancel,
        progress=lambda done, total: steps.report(what, done, total),
    )
    pairs = tuple(replace(pair, likelihood=effect) for pair, effect in zip(probe.pairs, effects, strict=True))
    return replace(probe, pairs=pairs)


def refusals(surveyed: Survey) -> tuple[Refusal, ...]:
    """Sites that a mutation refused, and those whose change could not be seen."""
    unseen = (
        Refusal(one.mutation, one.function, one.start_line, UNSEEN)
        for one in surveyed.counterfactuals
        if one.cut is None
    )
    return (*surveyed.refusals, *unseen)
