"""Completions sampled at a temperature, and the pass rates of each side of a pair.

The samples of an original are shared by all its counterfactuals. Sampling stops for a pair once the interval
of the difference decides it, and otherwise at the requested number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from counterlens.errors import ModelError
from counterlens.judging.base import Judgement
from counterlens.metrics.pass_rates import (
    RateFinding,
    finding,
    level_of,
    looks,
    rate_difference,
)
from counterlens.models.base import Capability, Draw, Model
from counterlens.probes.options import option
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.record import Drawn, DrawnPair
from counterlens.probes.prompts.gap import Gap

DEFAULT_TEMPERATURE, DEFAULT_SAMPLES, MOST_SAMPLES = 0.8, 20, 200
Samples = Annotated[
    int,
    option(
        "Maximum number of completions to sample per side, to compare pass rates; sampling stops once the "
        "rates differ or hold. 0: none.",
        metavar="K",
        low=0,
        high=MOST_SAMPLES,
        setting="probe.samples",
    ),
]
Temperature = Annotated[
    float | None,
    option(
        "Temperature of --samples (default: 0.8); given alone, it implies --samples 20.",
        metavar="T",
        low=0.01,
        high=2,
    ),
]
PassAt = Annotated[
    int,
    option(
        "Also show pass@k of both sides for this k; all --samples are then taken. 0: omit it.",
        metavar="K",
        low=0,
        high=MOST_SAMPLES,
    ),
]


@dataclass(frozen=True, slots=True)
class Drawing:
    """How completions are sampled.

    Attributes:
        most: Maximum samples of each side.
        temperature: Divisor of the logits.
        seed: Random seed of all samples.
        pass_at: The k of pass@k, for which all samples are taken; 0 if it is not requested.
    """

    most: int
    temperature: float
    seed: int
    pass_at: int = 0

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of samples after which a pair is checked; only the last for pass@k, to avoid bias."""
        return (self.most,) if self.pass_at else looks(self.most)

    def prompts_of(self, gaps: int) -> int:
        """The maximum number of prompts, for a number of different holes."""
        return self.most * gaps


def draw_pairs(
    model: Model,
    judging: Judging,
    pairs: Sequence[tuple[Gap, Gap]],
    how: Drawing,
    max_tokens: int,
    update: Callable[[list[DrawnPair | None]], None] = lambda _found: None,
) -> list[DrawnPair | None]:
    """Sample completions of both sides of pairs, the most uncertain pairs first, and judge them.

    Args:
        pairs: The holes of both sides.
        max_tokens: Maximum tokens of a completion.
        update: Called with the results so far, in the order of the pairs, after each check but the last.

    Returns:
        The result of each pair, in their order; None if nothing can judge it.

    Raises:
        ModelError: completions of this model cannot be sampled, or as `Model.complete`.
        Cancelled: as `Model.complete`.
    """
    if not model.offers(Capability.SAMPLE):
        raise ModelError(
            f"{model.info.name} returns one completion per prompt and cannot sample",
            "Omit --samples, or choose a local model or an endpoint",
        )
    store = _Draws(model, judging, how, max_tokens)
    results: dict[int, DrawnPair | None] = {}
    for look in how.looks:
        open_pairs = [i for i in range(len(pairs)) if _open(results.get(i), i in results)]
        open_pairs.sort(key=lambda i: -_width(results.get(i)))
        store.draw({gap.shown: gap for i in open_pairs for gap in pairs[i]}, look)
        for i in open_pairs:
            original, counterfactual = (store.of(gap, look) for gap in pairs[i])
            results[i] = _pair(original, counterfactual, how)
        if look < how.looks[-1]:
            update([results[i] for i in range(len(pairs))])
    return [results[i] for i in range(len(pairs))]


def _open(pair: DrawnPair | None, seen: bool) -> bool:
    return not seen or (pair is not None and pair.finding == RateFinding.OPEN)


def _width(pair: DrawnPair | None) -> float:
    """The width of the interval of a pair's difference if it is undecided, at most 2."""
    return 2.0 if pair is None or pair.low is None or pair.high is None else pair.high - pair.low


def _pair(original: Drawn | None, counterfactual: Drawn | None, how: Drawing) -> DrawnPair | None:
    if original is None or counterfactual is None:
        return None
    sides = original.count, counterfactual.count
    difference = rate_difference(*sides, level_of(how.most))
    return DrawnPair(
        temperature=how.temperature,
        original=original,
        counterfactual=counterfactual,
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        finding=str(finding(*sides, how.most)),
        first=how.looks[0],
        pass_at=how.pass_at,
    )


class _Draws:
    """The samples so far, by prompt."""

    def __init__(self, model: Model, judging: Judging, how: Drawing, max_tokens: int) -> None:
        self._model, self._judging, self._how, self._max_tokens = model, judging, how, max_tokens
        self._drawn: dict[str, Drawn | None] = {}

    def of(self, gap: Gap, most: int) -> Drawn | None:
        """The first `most` samples of a hole; None if nothing could judge one of them."""
        samples = self._drawn[gap.shown]
        return samples and Drawn(samples.completions[:most], samples.passed[:most])

    def draw(self, gaps: dict[str, Gap], upto: int) -> None:
        """Sample until each hole has `upto` completions, all in one batch."""
        wanted = [
            (gap, i) for shown, gap in gaps.items() for i in range(len(self._draws_of(shown).passed), upto)
        ]
        if not wanted:
            return
        steps, how = self._judging.steps, self._how
        prompts = [
            replace(gap.prompt(self._max_tokens), draw=Draw(how.temperature, how.seed, i))
            for gap, i in wanted
        ]
        what = f"sampling {len(wanted)} completions together"
        completions = self._model.complete(prompts, **steps.request(what))
        for number, ((gap, _), completion) in enumerate(zip(wanted, completions, strict=True)):
            steps.next("judging the sampled completions", number, len(wanted))
            verdict = self._judging.answer(gap, completion)
            if verdict.judgement is Judgement.REFUSED:
                self._drawn[gap.shown] = None
            elif self._drawn.get(gap.shown, Drawn()) is not None:
                earlier = self._draws_of(gap.shown)
                self._drawn[gap.shown] = Drawn(
                    (*earlier.completions, completion.text), (*earlier.passed, verdict.passed)
                )

    def _draws_of(self, shown: str) -> Drawn:
        return self._drawn.get(shown) or Drawn()
