"""The counterfactuals of a function that keep its meaning, and where it and they are cut for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from counterlens.mutations import MUTATIONS, Counterfactual, Refusal, Survey, survey
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.options import check_preserving
from counterlens.probes.prompts.gap import Gap
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

UNSEEN = "its change does not stand before a place to cut, so a completion could not show it"


def rewritings(
    document: Document,
    qualname: str,
    mutations: Sequence[str] | None,
    *,
    seed: int,
    prefix_ratio: Ratio = PREFIX_RATIO,
    without: Sequence[str] = (),
) -> tuple[Function, Survey]:
    """Find a function, and its counterfactuals that keep the meaning.

    Args:
        document: The source.
        qualname: The function.
        mutations: Ids; all that keep the meaning where there are none.
        seed: Decides random names.
        prefix_ratio: Which part of the function stays before the cut, for mutations that do not say where
            to cut themselves, or the range that it lies in (Hooda et al. 2024, section 4.2 and Table 4).
        without: Assumptions that no counterfactual may rest on.

    Raises:
        SourceError: there is no such function, or the file does not parse.
        OptionError: as `preserving`.
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
    """Return the mutations to probe with: those asked for, or all that keep the meaning.

    Raises:
        OptionError: one is unknown, or breaks the meaning, so that the tests could not judge it.
    """
    if mutations:
        check_preserving(tuple(mutations))
        return list(mutations)
    return [
        name for name, mutation in MUTATIONS.items() if mutation.preserving and not mutation.needs_observation
    ]


def gaps_of(document: Document, function: Function, counterfactual: Counterfactual) -> tuple[Gap, Gap]:
    """The holes of the original and of a counterfactual that has a cut."""
    cut = counterfactual.cut
    if cut is None:
        raise ValueError("a counterfactual without a cut cannot be completed")
    mutated = replace(document, text=counterfactual.source)
    there = find_function(mutated, function.qualname)
    return Gap.of(document, function, cut.original), Gap.of(mutated, there, cut.mutated)


def prompts_of(surveyed: Survey) -> int:
    """How many prompts the counterfactuals that have a cut need, with the originals."""
    cuts = [made.cut.original for made in surveyed.counterfactuals if made.cut is not None]
    return len(cuts) + len(set(cuts))


def not_asked(surveyed: Survey) -> tuple[Refusal, ...]:
    """Sites that a mutation refused, and those whose change could not be seen."""
    unseen = (
        Refusal(made.mutation, made.function, made.start_line, UNSEEN)
        for made in surveyed.counterfactuals
        if made.cut is None
    )
    return (*surveyed.refusals, *unseen)
