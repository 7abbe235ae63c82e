"""The preserving counterfactuals of a function, and the cuts of all versions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from counterlens.mutations import Counterfactual, Refusal, Survey, survey
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.common_options import check_preserving
from counterlens.probes.pairs.methods import METHODS, forms_of
from counterlens.probes.prompts.gap import Gap, View
from counterlens.progress import TimeBudget
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

UNSEEN = "its change does not precede a possible cut, so a completion cannot show it"
OWN_CUT = "its mutation determines the cut, independently of the prefix ratio"
OUT_OF_TIME = "there was no time to ask about it within"
ELSEWHERE = "it changes none of the selected lines"
NOT_IN_ALL = "it cannot be cut in all of the ranges, which would then have different programs"


def late(made: Counterfactual, budget: TimeBudget) -> Refusal:
    """The refusal of a counterfactual about which there was no time to ask."""
    return Refusal(made.mutation, made.function, made.start_line, f"{OUT_OF_TIME} {budget.seconds:.0f} s")


def lines_to_cut(document: Document, made: Counterfactual) -> int:
    """Number of lines from the change of a counterfactual to its cut, where the model begins to write."""
    line = 0 if made.cut is None else document.data.count(b"\n", 0, made.cut.original)
    return max(0, line - made.end_line)


def rewritings(
    document: Document,
    qualname: str,
    mutations: Sequence[str] | None,
    *,
    seed: int,
    added: Sequence[str] = (),
    prefix_ratio: Ratio = PREFIX_RATIO,
    without: Sequence[str] = (),
    reach: int = 1,
    protocol: str = "",
    every_cut: bool = False,
    lines: Sequence[tuple[int, int]] = (),
) -> tuple[Function, Survey]:
    """Find a function, and its counterfactuals that keep the meaning.

    Args:
        mutations: Ids; if none, all that keep the meaning, or those of the protocol.
        seed: Random seed of names.
        added: Ids of further ones.
        prefix_ratio: Share of the function before the cut, for mutations that do not fix the cut themselves,
            or the range of that share (Hooda et al. 2024, section 4.2 and Table 4).
        without: Assumptions that no counterfactual may depend on.
        reach: Maximum distance, in statements, of statements that `independent-swap` swaps.
        protocol: The published protocol that is followed, if any.
        every_cut: Whether counterfactuals list all their possible cuts.
        lines: Only counterfactuals that change one of these lines, as first and last, 1-based; empty for all.

    Raises:
        SourceError: there is no such function, or the file does not parse.
        OptionError: as `preserving`.
    """
    function = find_function(document, qualname)
    surveyed = survey(
        document.text,
        mutations=forms_of(
            protocol, preserving(mutations, protocol, document.language, added), reach, document.language
        ),
        function=function.qualname,
        seed=seed,
        prefix_ratio=prefix_ratio,
        without=without,
        every_cut=every_cut,
        language=document.language,
    )
    return function, _changing(surveyed, document, lines) if lines else surveyed


def _changing(surveyed: Survey, document: Document, lines: Sequence[tuple[int, int]]) -> Survey:
    """The counterfactuals that change some of the lines; the others as refusals."""

    def there(made: Counterfactual) -> bool:
        places = [tuple(map(document.positions.line_of, change.original)) for change in made.changes]
        return any(first <= b + 1 and a + 1 <= last for a, b in places for first, last in lines)

    elsewhere = (counterfactual for counterfactual in surveyed.counterfactuals if not there(counterfactual))
    refused = (
        Refusal(counterfactual.mutation, counterfactual.function, counterfactual.start_line, ELSEWHERE)
        for counterfactual in elsewhere
    )
    return replace(
        surveyed,
        counterfactuals=tuple(filter(there, surveyed.counterfactuals)),
        refusals=(*surveyed.refusals, *refused),
    )


def preserving(
    mutations: Sequence[str] | None, protocol: str = "", language: str = "python", added: Sequence[str] = ()
) -> list[str]:
    """The mutations to probe with: the given ones, the protocol's, or all that keep the meaning; and `added`.

    Raises:
        OptionError: one is unknown, or breaks the meaning, so that the tests could not judge it.
    """
    check_preserving((*(mutations or ()), *added))
    return [*dict.fromkeys((*(mutations or METHODS[protocol].mutations(language)), *added))]


def gaps_of(
    document: Document, function: Function, counterfactual: Counterfactual, view: View | None = None
) -> tuple[Gap, Gap]:
    """The holes of the original and of a counterfactual that has a cut, with the context of `view`."""
    view = view or View()
    cut = counterfactual.cut
    if cut is None:
        raise ValueError("a counterfactual without a cut cannot be completed")
    mutated = replace(document, text=counterfactual.source)
    there = find_function(mutated, function.qualname)
    original = Gap.of(document, function, cut.original, view, cut.original_end)
    return original, Gap.of(mutated, there, cut.mutated, view, cut.mutated_end)


def cut_in_all(surveys: Sequence[Survey]) -> tuple[list[tuple[Counterfactual, ...]], tuple[Refusal, ...]]:
    """The counterfactuals that have a cut in each of several ranges, and why the others are left out.

    So the ranges are compared on one set of programs and changes (Hooda et al. 2024, Table 4).

    Args:
        surveys: The surveys of one function and seed, one for each range: they differ only in their cuts.

    Returns:
        Each counterfactual with its cut in each range, in the order of the ranges; and the refusals.
    """
    groups, refused = [], list(surveys[0].refusals)
    for variants in zip(*(surveyed.counterfactuals for surveyed in surveys), strict=True):
        cuts, first = [made.cut for made in variants], variants[0]
        if len(surveys) > 1 and any(cut is not None and cut.own for cut in cuts):
            reason = OWN_CUT
        elif None in cuts:
            reason = UNSEEN if all(cut is None for cut in cuts) else NOT_IN_ALL
        else:
            groups.append(variants)
            continue
        refused.append(Refusal(first.mutation, first.function, first.start_line, reason))
    return groups, tuple(refused)


def prompts_of(made: Iterable[Counterfactual]) -> int:
    """The number of prompts for the counterfactuals that have a cut, and for their originals."""
    cuts = [counterfactual.cut.original for counterfactual in made if counterfactual.cut is not None]
    return len(cuts) + len(set(cuts))


def not_asked(surveyed: Survey) -> tuple[Refusal, ...]:
    """Sites that a mutation refused, and those whose change is not before any cut."""
    unseen = (
        Refusal(made.mutation, made.function, made.start_line, UNSEEN)
        for made in surveyed.counterfactuals
        if made.cut is None
    )
    return (*surveyed.refusals, *unseen)


def alternate_mutations(made: Iterable[Counterfactual], seed: object) -> list[Counterfactual]:
    """Counterfactuals in random order, their mutations in turn: the first few are of many mutations."""
    shuffled = list(made)
    random.Random(f"{seed}").shuffle(shuffled)  # noqa: S311 - no secret
    by_mutation: dict[str, list[Counterfactual]] = {}
    for each in shuffled:
        by_mutation.setdefault(each.mutation, []).append(each)
    turns = chain.from_iterable(zip_longest(*(by_mutation[name] for name in sorted(by_mutation))))
    return [each for each in turns if each is not None]
