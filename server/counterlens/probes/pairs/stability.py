"""Whether a greedy verdict is stable under the alternatives at near ties.

Other work in the batch decides between two tokens that are closer than the model's rounding. An alternative
takes the second token there, the rest is decoded greedily, and its program is judged, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from counterlens.judging.base import Judgement
from counterlens.models.base import Capability, Completion, Model
from counterlens.probes.options import option
from counterlens.probes.pairs.attempts import Attempt, Pair
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.record import Way
from counterlens.probes.prompts.gap import Gap

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


def with_ways(
    model: Model, judging: Judging, pairs: Sequence[Pair], most: int, max_tokens: int
) -> list[Pair]:
    """Informative pairs with the alternatives of both sides, and the other pairs unchanged.

    All are unchanged if the model does not decode exactly.

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
    ways = _AlternativeSearch(model, judging, sides, most, max_tokens).ways
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
        steps = self._judging.steps
        what = f"following {len(turns)} alternatives where tokens were nearly tied"
        steps.next(what)
        return self._model.complete(
            [
                replace(self._sides[turn.shown][0].prompt(self._max_tokens), detours=turn.detours)
                for turn in turns
            ],
            cancel=steps.cancel,
            progress=lambda done, total: steps.report(what, done, total),
        )

    def _judge(self, shown: str, completion: Completion) -> None:
        gap, attempt = self._sides[shown]
        if completion.text in (attempt.completion, *(way.completion for way in self.ways[shown])):
            return
        verdict = self._judging.answer(gap, completion)
        if verdict.judgement is not Judgement.REFUSED:
            self.ways[shown] += (Way(completion.text, verdict.passed),)
