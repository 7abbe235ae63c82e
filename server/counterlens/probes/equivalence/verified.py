"""Versions of a function whose behaviour was compared with the original's on the same inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from counterlens.errors import SourceError
from counterlens.judging.base import Judgement
from counterlens.judging.comparing import ComparingJudge, Distinction
from counterlens.judging.languages import behaviour_of, judging_of
from counterlens.judging.projects import interpreter_for
from counterlens.mutations import Concept, Counterfactual
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.probes.pairs.counterfactuals import alternate_mutations
from counterlens.probes.probe import Context, Target
from counterlens.probes.robustness.versions import plan
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

_TRIES = 3  # counterfactuals that are run for each one that is wanted


@dataclass(frozen=True, slots=True)
class VerifiedVersion:
    """A counterfactual that ran on the same inputs as its original.

    Attributes:
        difference: The smallest input found on which the two differ; None if they behave alike on all inputs,
            as its mutation promises.
    """

    counterfactual: Counterfactual
    document: Document
    difference: Distinction | None


def verified_versions(
    context: Context,
    target: Target,
    mutations: Sequence[str],
    *,
    seed: int,
    limits: Limits,
    most: int,
    without: Sequence[str] = (),
) -> tuple[list[VerifiedVersion], list[VerifiedVersion], Counter[str]]:
    """Some preserving and some breaking versions, of many mutations; and the left-out ones, by reason.

    A preserving version counts if no input distinguishes it, a breaking one if an input does on which the
    original returns.

    Args:
        context: The sandbox, and cancellation.
        mutations: Ids of mutations; if empty, all.
        seed: Random seed of names and of the choice.
        limits: Limits of each run.
        most: Maximum number of versions of either kind.
        without: Assumptions that no version may depend on.

    Raises:
        SourceError: the behaviour of the function cannot be compared; the message says why.
        SandboxError, Cancelled: as the sandbox.
    """
    document, cancel = target.document, context.cancel
    # Whoever compares two functions calls both in the same way.
    surveyed = plan(target, mutations, seed=seed, without=(*without, WHOLE_PROGRAM))
    behaviour = require_behaviour(context, target, limits)
    made = [each for each in surveyed.counterfactuals if each.concept is not Concept.NOTHING]
    left_out, kinds = Counter[str](), list[list[VerifiedVersion]]()
    for preserving in (True, False):
        versions: list[VerifiedVersion] = []
        tried = alternate_mutations((each for each in made if each.preserving is preserving), seed)
        for number, each in enumerate(tried[: _TRIES * most]):
            context.steps.next(f"comparing the versions of {target.name}", number, len(tried))
            outcome = behaviour.outcome(each.source, cancel)
            difference = outcome.difference
            version = VerifiedVersion(each, replace(document, text=each.source), difference)
            keeps = outcome.judgement is Judgement.PASSED
            breaks = difference is not None and not difference.refused and difference.returned
            if keeps if preserving else breaks:
                versions.append(version)
            else:
                left_out[_reason(difference, preserving=preserving)] += 1
            if len(versions) == most:
                break
        kinds.append(versions)
    return kinds[0], kinds[1], left_out


def require_comparable(target: Target) -> None:
    """Refuse a function of which no inputs could compare the behaviour, without running it.

    Raises:
        SourceError: it is one; the message says why.
    """
    function = find_function(target.document, target.qualname)
    if reason := judging_of(target.document.language).never_compared(target.document, function):
        raise SourceError(_not_compared(reason))


def require_behaviour(context: Context, target: Target, limits: Limits) -> ComparingJudge:
    """The judge that compares programs with a function on inputs.

    Raises:
        SourceError: there is none; the message says why.
        SandboxError, Cancelled: as the sandbox.
    """
    document = target.document
    context.steps.next(f"running {target.name} on inputs")
    setting = context.setting(limits, interpreter_for(document.path))
    behaviour = behaviour_of(document, find_function(document, target.qualname), setting)
    if isinstance(behaviour, str):
        raise SourceError(_not_compared(behaviour))
    return behaviour


def _not_compared(reason: str) -> str:
    return f"its behaviour cannot be compared: {reason}"


def _reason(difference: Distinction | None, *, preserving: bool) -> str:
    if preserving:
        return "version that should keep the meaning, but an input distinguishes it"
    if difference is None:
        return "version that should break the meaning, but no input distinguishes it"
    if not difference.returned:
        return "version that returns the same, and differs in what else it does"
    return "version that differs only where the original raises"
