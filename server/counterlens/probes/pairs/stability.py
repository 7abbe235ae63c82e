"""Whether a greedy verdict is stable: under the alternatives at near ties, and under placebos.

Other work in the batch decides between two tokens that are closer than the model's rounding. An alternative
takes the second token there, the rest is decoded greedily, and its program is judged, too.

Placebos show how the verdicts of a function vary if nothing changes. They are completed and judged like the
counterfactuals, in one batch with them, with the same cuts. A model whose answers may depend on the batch, or
a remote one, also gets one of the originals again, alone and without the cache.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from counterlens.errors import Cancelled
from counterlens.judging.base import Judgement
from counterlens.models.base import Capability, Completion, Model, ModelInfo
from counterlens.mutations import Concept, Counterfactual, Cut, Survey
from counterlens.mutations.placebos import placebos
from counterlens.probes.options import option
from counterlens.probes.pairs.attempts import Attempt, Pair
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.record import Way
from counterlens.probes.probe import Context
from counterlens.probes.prompts.gap import Gap
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

DEFAULT_WAYS, MOST_WAYS = 2, 50
Ways = Annotated[
    int,
    option(
        "Maximum number of alternatives to follow at near ties, where the two likeliest tokens of a local "
        "model's greedy completion are closer than its rounding; the verdict is unstable if one of them "
        "changes it. A plan does not count them. 0: none.",
        metavar="N",
        low=0,
        high=MOST_WAYS,
    ),
]
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


def with_ways(
    model: Model, judging: Judging, pairs: Sequence[Pair], most: int, max_tokens: int
) -> list[Pair]:
    """Informative pairs with the alternatives of both sides, and the other pairs unchanged.

    All are unchanged if the model does not decode exactly, or if the time of `judging.steps` ends before.

    Raises:
        ModelError, Cancelled: as `Model.complete`.
    """
    if not most or not pairs or not model.offers(Capability.EXACT):
        return list(pairs)
    sides: dict[str, tuple[Gap, Attempt]] = {}
    for pair in pairs:
        if pair.informative:
            sides[pair.gap.shown] = pair.gap, pair.original
            sides[pair.mutated_gap.shown] = pair.mutated_gap, pair.mutated
    try:
        ways = _AlternativeSearch(model, judging, sides, most, max_tokens).ways
    except Cancelled:
        judging.steps.check()
        return list(pairs)  # the time is over: a part of the alternatives would pass for all
    return [
        replace(
            pair,
            original=replace(pair.original, ways=ways[pair.gap.shown]),
            mutated=replace(pair.mutated, ways=ways[pair.mutated_gap.shown]),
        )
        if pair.informative
        else pair
        for pair in pairs
    ]


@dataclass(frozen=True, slots=True)
class _Turn:
    """An alternative to decode: the hole, and the token at which it leaves the greedy completion."""

    shown: str
    detours: tuple[int, ...]


class _AlternativeSearch:
    """The alternatives of some holes, the closest ties first, decoded in rounds until each has enough or all.

    Attributes:
        ways: The alternatives of each hole, by prompt.
    """

    def __init__(
        self,
        model: Model,
        judging: Judging,
        sides: Mapping[str, tuple[Gap, Attempt]],
        most: int,
        max_tokens: int,
    ) -> None:
        self._model, self._judging, self._sides, self._max_tokens = model, judging, sides, max_tokens
        self.ways: dict[str, tuple[Way, ...]] = dict.fromkeys(sides, ())
        turns = {shown: [_Turn(shown, (at,)) for at in attempt.ties] for shown, (_, attempt) in sides.items()}
        left = dict.fromkeys(sides, most)
        while now := [turn for shown, waiting in turns.items() for turn in waiting[: left[shown]]]:
            for turn in now:
                left[turn.shown] -= 1
                turns[turn.shown].remove(turn)
            for turn, completion in zip(now, self._completed(now), strict=True):
                self._judge(turn.shown, completion)
                further = (at for at in completion.ties if at > turn.detours[-1])
                turns[turn.shown] += [_Turn(turn.shown, (*turn.detours, at)) for at in further]

    def _completed(self, turns: Sequence[_Turn]) -> list[Completion]:
        what = f"following {len(turns)} alternatives where tokens were nearly tied"
        prompts = [
            replace(self._sides[turn.shown][0].prompt(self._max_tokens), detours=turn.detours)
            for turn in turns
        ]
        return self._model.complete(prompts, **self._judging.steps.request(what, in_time=True))

    def _judge(self, shown: str, completion: Completion) -> None:
        gap, attempt = self._sides[shown]
        if completion.text in (attempt.completion, *(way.completion for way in self.ways[shown])):
            return
        verdict = self._judging.answer(gap, completion)
        if verdict.judgement is not Judgement.REFUSED:
            self.ways[shown] += (Way(completion.text, verdict.passed),)


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
