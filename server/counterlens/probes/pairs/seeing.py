"""Whether tests see a hole: they fail when what follows the cut is emptied, or returns a constant.

Tests that pass with nothing in the hole would call anything right that a model writes there, and every pair
at that cut would seem to hold. So a pair is judged only by tests that see its hole. Hooda et al. 2024 do not
control for this; their protocol does not require it.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.attribution.stand_ins import STAND_INS
from counterlens.mutations import Counterfactual, Refusal
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.prompts.gap import Gap
from counterlens.progress import Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

BLIND = "the tests also pass if `{stand_in}` replaces the code after the cut, so they cannot judge it"


def emptied(gap: Gap, stand_in: str) -> str:
    """The program with a statement in place of what follows the cut, as deep as that was."""
    first = next((line for line in gap.rest.splitlines() if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    ends = not gap.before or gap.before.endswith("\n")
    return gap.fill(f"{'' if ends else chr(10)}{indent}{stand_in}\n")


def overlooked(judging: Judging, gap: Gap) -> str | None:
    """The stand-in that the tests take for the code that follows a cut; None if they see the hole."""
    passing = (one for one in STAND_INS if judging.counterfactual(emptied(gap, one)).passed)
    return next(passing, None)


def seen(
    judging: Judging,
    document: Document,
    function: Function,
    made: Sequence[tuple[Counterfactual, ...]],
    steps: Steps,
) -> tuple[list[tuple[Counterfactual, ...]], list[Refusal]]:
    """The counterfactuals at whose cuts the tests see the hole, and why others are not asked about.

    Each cut of the original is tried once; that of a counterfactual is at the same place.

    Args:
        judging: The judge.
        document: The source.
        function: The function.
        made: The counterfactuals, each with its cut in one range or several: one that is not seen in some
            range is left out of all.
        steps: Progress and cancellation.
    """
    kept, refused = [], []
    known: dict[int, str | None] = {}
    for number, variants in enumerate(made):
        steps.next("checking that the tests depend on the code after each cut", number, len(made))
        stand_in = None
        for cut in (one.cut for one in variants if one.cut is not None):
            if cut.original not in known:
                known[cut.original] = overlooked(judging, Gap.of(document, function, cut.original))
            stand_in = stand_in or known[cut.original]
        if stand_in is None:
            kept.append(variants)
        else:
            first, reason = variants[0], BLIND.format(stand_in=stand_in)
            refused.append(Refusal(first.mutation, first.function, first.start_line, reason))
    return kept, refused
