"""Test sensitivity: whether tests fail if the code after a cut is emptied, or returns a constant.

Tests that pass with an empty hole would pass any completion, and every pair at that cut would seem to hold.
So a pair is judged only by tests that are sensitive to its hole. Hooda et al. 2024 do not control for this;
their protocol does not require it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from counterlens.judging.base import Judgement
from counterlens.mutations import Counterfactual, Refusal
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.prompts.language import prompting_of
from counterlens.progress import Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

INSENSITIVE = "the tests also pass if `{stand_in}` replaces the code after the cut, so they cannot judge it"
_INSENSITIVE = re.compile(re.escape(INSENSITIVE).replace(re.escape("{stand_in}"), ".+"))


def empty_programs(document: Document, gap: Gap, stand_in: str) -> tuple[str, ...]:
    """The programs with a statement instead of the code after the cut, with the same indentation.

    There are several if a language has several ways to end a function; the first that compiles counts.
    """
    break_before = "" if not gap.before or gap.before.endswith("\n") else "\n"
    ways = prompting_of(document.language).emptied(gap.rest, stand_in, gap.stop)
    return tuple(gap.fill(break_before + text) for text in ways)


def is_insensitive(reason: str) -> bool:
    """Whether a refusal says that the tests are insensitive to the hole."""
    return _INSENSITIVE.fullmatch(reason) is not None


def stand_in_that_passes(judging: Judging, document: Document, function: Function, gap: Gap) -> str | None:
    """The stand-in for the code after a cut that passes the tests; None if they are sensitive to the hole."""
    for stand_in in prompting_of(document.language).stand_ins(document, function):
        for program in empty_programs(document, gap, stand_in):
            verdict = judging.counterfactual(program)
            if verdict.passed:
                return stand_in
            if verdict.judgement is not Judgement.INVALID:
                break
    return None


def sensitively_tested(
    judging: Judging,
    document: Document,
    function: Function,
    made: Sequence[tuple[Counterfactual, ...]],
    steps: Steps,
) -> tuple[list[tuple[Counterfactual, ...]], list[Refusal]]:
    """The counterfactuals at whose cuts the tests are sensitive, and why others are left out.

    Each cut of the original is tried once; a counterfactual is cut at the same place.

    Args:
        made: The counterfactuals, each with its cut in one range or several: one whose tests are
            insensitive in some range is left out of all.
    """
    kept, refused = [], []
    stand_ins: dict[int, str | None] = {}
    for number, variants in enumerate(made):
        steps.next("checking that the tests depend on the code after each cut", number, len(made))
        stand_in = None
        for cut in (variant.cut for variant in variants if variant.cut is not None):
            if cut.original not in stand_ins:
                gap = Gap.of(document, function, cut.original, end=cut.original_end)
                stand_ins[cut.original] = stand_in_that_passes(judging, document, function, gap)
            stand_in = stand_in or stand_ins[cut.original]
        if stand_in is None:
            kept.append(variants)
        else:
            first, reason = variants[0], INSENSITIVE.format(stand_in=stand_in)
            refused.append(Refusal(first.mutation, first.function, first.start_line, reason))
    return kept, refused
