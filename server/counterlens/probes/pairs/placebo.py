"""The placebos of a function, which show how verdicts vary if nothing changes.

They are completed and judged like the counterfactuals, in one batch with them, with the same cuts. A model
whose answers may depend on the batch, or a remote one, also gets one of the originals again, alone and
without the cache.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Annotated

from counterlens.models.base import Capability, ModelInfo
from counterlens.mutations import Concept, Counterfactual, Cut, Survey
from counterlens.mutations.placebos import placebos
from counterlens.probes.options import option
from counterlens.probes.pairs.attempts import Attempt, Pair
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.probe import Context
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

SAME_PROMPT = "same-prompt"
"""The id of the repeated original."""
DEFAULT_PLACEBOS, MOST_PLACEBOS = 3, 20
Placebos = Annotated[
    int,
    option(
        "Number of placebos per function: meaningless changes, such as a blank line, which give the noise "
        "floor. 0: none.",
        metavar="N",
        low=0,
        high=MOST_PLACEBOS,
    ),
]


def controls_of(
    document: Document, function: Function, asked: Sequence[Counterfactual], wanted: int, seed: int
) -> Survey:
    """Up to `wanted` placebos of a function, with the cuts of `asked`; none if that is empty."""
    cuts = [made.cut.original for made in asked if made.cut is not None]
    if not wanted or not cuts:
        return Survey((), ())
    return placebos(document.text, function.qualname, cuts, wanted, seed=seed, language=document.language)


def is_nondeterministic(model: ModelInfo) -> bool:
    """Whether a repeated prompt may get another answer."""
    together = Capability.BATCH in model.capabilities and Capability.EXACT not in model.capabilities
    return together or not model.local


def asked_again(
    context: Context,
    judging: Judging,
    function: Function,
    pairs: Sequence[Pair],
    *,
    max_tokens: int,
    seed: int,
) -> Pair:
    """The original of a randomly drawn pair, completed again.

    Raises:
        ModelError, Cancelled: as `Model.complete`.
    """
    context.steps.next("repeating one prompt")
    chance = random.Random(repr((seed, SAME_PROMPT, function.qualname)))  # noqa: S311 - not for secrets
    drawn = chance.choice(pairs)
    gap = drawn.gap
    again = context.uncached.complete(gap.prompt(max_tokens))
    at = len(gap.before.encode())
    same = Counterfactual(
        mutation=SAME_PROMPT,
        concept=Concept.NOTHING,
        preserving=True,
        function=function.qualname,
        start_line=function.start_line,
        end_line=function.end_line,
        description="sent the same prompt again",
        original=(gap.before + gap.removed + gap.after).encode(),
        edits=(),
        cut=Cut(at, at),
        seed=seed,
    )
    verdict = judging.answer(gap, again)
    return Pair(same, gap, gap, drawn.original, Attempt(again.text, again.finish, verdict))
