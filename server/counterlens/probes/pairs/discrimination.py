"""Discriminating pairs: those that separate copying from reading, without asking any model.

A copied completion continues the counterfactual with the rest of the original. If that passes the tests,
because the rest is the same or right on both sides, no verdict can expose copying, and a held pair is no
evidence. Hooda et al. 2024 do not control for this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from counterlens.judging.base import Judgement
from counterlens.mutations import Counterfactual, Refusal
from counterlens.probes.pairs.counterfactuals import gaps_of
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.prompts.gap import Gap, View
from counterlens.progress import Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

TRIES = 6
"""Maximum number of programs judged to find a discriminating cut of one counterfactual."""
NEVER = "no cut is discriminating: the original's rest is right after each of them, too"
NOT_FOUND = f"none of the {TRIES} judged cuts is discriminating"


def is_discriminating(judging: Judging, gap: Gap, mutated_gap: Gap) -> bool | None:
    """Whether a copied completion of the counterfactual fails the tests, so that copying is exposed.

    Nothing runs if both rests are the same. A program that does not parse, or times out, fails.

    Args:
        judging: The judge, which the counterfactual itself passes.
        gap: The original with its hole.
        mutated_gap: The counterfactual with its hole.

    Returns:
        None if nothing can judge it.
    """
    if judging.judged_by is None:
        return None
    program = mutated_gap.fill(gap.rest)  # a copied completion
    if program == mutated_gap.fill(mutated_gap.rest):
        return False
    verdict = judging.counterfactual(program)
    return None if verdict.judgement is Judgement.REFUSED else not verdict.passed


def discriminating(
    judging: Judging, gaps: Sequence[tuple[Gap, Gap]], steps: Steps
) -> tuple[bool | None, ...]:
    """Whether each pair is discriminating."""
    verdicts = []
    for number, both in enumerate(gaps):
        steps.next("judging copied completions", number, len(gaps))
        verdicts.append(is_discriminating(judging, *both))
    return tuple(verdicts)


def cut_to_discriminate(
    judging: Judging,
    document: Document,
    function: Function,
    made: Iterable[Counterfactual],
    view: View,
    steps: Steps,
) -> tuple[list[Counterfactual], list[Refusal]]:
    """The counterfactuals with their first discriminating cut, and why others have none.

    Args:
        judging: The judge, which their own programs pass.
        made: The counterfactuals, with all their possible cuts.
        view: The context of the function.
    """
    cut, refused, every = [], [], list(made)
    for number, counterfactual in enumerate(every):
        steps.next("looking for discriminating cuts", number, len(every))
        outcome = _first_discriminating(judging, document, function, counterfactual, view)
        if isinstance(outcome, str):
            refused.append(
                Refusal(counterfactual.mutation, counterfactual.function, counterfactual.start_line, outcome)
            )
        else:
            cut.append(outcome)
    return cut, refused


def _first_discriminating(
    judging: Judging, document: Document, function: Function, made: Counterfactual, view: View
) -> Counterfactual | str:
    """The counterfactual with its first discriminating cut, or why there is none."""
    places = [cut for cut in (made.cut, *made.other_cuts) if cut is not None]
    tried: set[str] = set()
    for cut in places:
        at = replace(made, cut=cut, other_cuts=())
        gap, mutated_gap = gaps_of(document, function, at, view)
        program = mutated_gap.fill(gap.rest)
        if program == mutated_gap.fill(mutated_gap.rest) or program in tried:
            continue
        if len(tried) == TRIES:
            return NOT_FOUND
        tried.add(program)
        if is_discriminating(judging, gap, mutated_gap):
            return at
    return NEVER
