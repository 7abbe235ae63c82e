"""The questions about a function's operators, in the original and after preserving changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterlens.errors import CounterlensError
from counterlens.models.base import Capability, Model
from counterlens.probes.operator.pairs import CHANGES, OperatorPlace, Pairing, pairings, sites_of
from counterlens.probes.operator.record import COMPLETE, OperatorAnswer, OperatorPair, Window
from counterlens.probes.operator.scoring import OperatorDistribution, OperatorScorer, OperatorScores
from counterlens.probes.probe import Target
from counterlens.progress import Steps

WINDOWS = (10, 30, 50)
"""Lexical tokens of context (Ahmed et al. 2024, Table 3)."""
WINDOW_CHANGES = ("operand-swap", "block-swap")
TOLERANCE = 1e-6  # nats, between two answers to the same question
_LONGEST = 40  # maximum characters of an operation in a step's title
_Key = tuple[str, int, int | None, int | None]


@dataclass(frozen=True)
class OperatorPlan:
    """The questions about one function.

    Attributes:
        places: Its operators in the unchanged function.
        pairings: The operators before and after changes.
        left_out: For each change, the number of sites left out, by reason.
        windows: Whether to ask with narrower contexts, too.
        frequency: Count of each operator in the function.
    """

    places: tuple[OperatorPlace, ...]
    pairings: tuple[Pairing, ...]
    left_out: Mapping[str, Counter[str]]
    windows: bool
    frequency: Counter[str]

    @classmethod
    def of(
        cls,
        target: Target,
        *,
        windows: bool,
        seed: int,
        most: int | None = None,
        published: bool = False,
    ) -> OperatorPlan:
        """Plan a function.

        Args:
            windows: Whether to ask with narrower contexts, too.
            seed: Like `pairings`, and of the sample.
            most: Maximum number of operators, drawn at random; None for all.
            published: Whether to include only pairs that Ahmed et al. 2024 have, and their operators.

        Raises:
            SourceError: it does not parse, or there is no such function.
        """
        document, qualname = target.document, target.qualname
        pairing = pairings(document, qualname, seed=seed)
        sites = sites_of(document, qualname)
        places = tuple(OperatorPlace(document, qualname, i) for i in range(len(sites)))
        frequency = Counter(site.operator for site in sites)
        if published:
            pairing = pairing.published()
            kept = {pair.original.index for pair in pairing.pairs if CHANGES[pair.change].before is None}
            places = tuple(place for place in places if place.index in kept)
        pairs = pairing.pairs
        if most is not None and most < len(places):
            chance = random.Random(repr((seed, "sites", qualname, document.text)))  # noqa: S311 - no secret
            drawn = {place.index for place in chance.sample(places, most)}
            # No change moves an operator: its index is the same in every version before a swap.
            places = tuple(place for place in places if place.index in drawn)
            pairs = tuple(pair for pair in pairs if pair.original.index in drawn)
        return cls(places, pairs, pairing.left_out, windows, frequency)

    @property
    def pairs(self) -> Iterator[tuple[Pairing, Window]]:
        """The pairs, each with every window."""
        for pairing in self.pairings:
            for window in self._windows(pairing):
                yield pairing, window

    @property
    def batches(self) -> int:
        """The number of batches sent to the model."""
        return len(self._asked)

    @property
    def texts(self) -> int:
        """The number of texts in these batches, and in that of the sanity check."""
        checked = len(self.places[0].site.candidates) if self.places else 0
        return checked + sum(len(place.site.candidates) for place in self._asked.values())

    def _windows(self, pairing: Pairing) -> Iterable[Window]:
        yield COMPLETE
        if self.windows and pairing.change in WINDOW_CHANGES:
            for size in WINDOWS:
                yield from (Window(size, size), Window(0, size))

    @cached_property
    def _asked(self) -> dict[_Key, OperatorPlace]:
        places = {_key(place, COMPLETE): place for place in self.places}
        for pairing, window in self.pairs:
            for place in (pairing.original, pairing.transformed):
                places[_key(place, window)] = place
        return places


class OperatorAsker:
    """Scores each gap once per context before it; narrower windows after it are derived from the scores.

    A masked model is queried for each window.

    Args:
        total: Total number of batches.
    """

    def __init__(self, model: Model, steps: Steps, total: int) -> None:
        self._model, self._steps, self._total = model, steps, total
        self._masked = model.offers(Capability.MASKED, cancel=steps.cancel)
        self._scores: dict[_Key, OperatorScores] = {}

    def answer(self, place: OperatorPlace) -> OperatorAnswer:
        """The model's belief about an operator in the unchanged function.

        Raises:
            ModelError, Cancelled: as `OperatorScorer.score`.
        """
        return answer_of(self._distribution(place, COMPLETE))

    def pair(self, pairing: Pairing, window: Window) -> OperatorPair:
        """The model's belief about an operator before and after a change; errors as in `answer`."""
        original = answer_of(self._distribution(pairing.original, window))
        transformed = answer_of(self._distribution(pairing.transformed, window))
        return OperatorPair(
            change=pairing.change,
            window=window,
            original=original,
            transformed=transformed,
            both=original.correct and transformed.correct,
            form=pairing.form,
        )

    def check(self, place: OperatorPlace) -> None:
        """Check invariants that hold for any model.

        With another operator in the gap, the answer must stay the same, because the gap hides the operator;
        and an answer that was right for the one must be wrong for the other.

        Raises:
            CounterlensError: an invariant fails: figures would be meaningless.
            And as `answer`.
        """
        site, data = place.site, place.document.data
        other = next(candidate for candidate in site.candidates if candidate != site.operator)
        changed = data[: site.start] + other.encode() + data[site.end :]
        forced = OperatorPlace(replace(place.document, text=changed.decode()), place.qualname, place.index)
        hidden, first = self._distribution(forced, COMPLETE), self._distribution(place, COMPLETE)
        reason = ""
        if hidden.site.operator != other or not np.allclose(hidden.logprob, first.logprob, atol=TOLERANCE):
            reason = f"line {site.line}: the answer depends on the operator that the gap hides"
        elif hidden.correct == first.correct and first.predicted in (site.operator, other):
            reason = f"line {site.line}: a replaced operator is judged like the right one"
        elif not np.isfinite(first.logprob).all() or (first.logprob >= 0).any():
            reason = f"line {site.line}: the text has no probability"
        if reason:
            raise CounterlensError(
                f"the operators cannot be probed with this model: {reason}", "Figures would be meaningless"
            )

    def _distribution(self, place: OperatorPlace, window: Window) -> OperatorDistribution:
        key = _key(place, window, masked=self._masked)
        if key not in self._scores:
            site = place.site
            text = site.text if len(site.text) <= _LONGEST else site.text[: _LONGEST - 1] + "…"
            self._steps.next(f"line {site.line}: {text}", len(self._scores), self._total)
            after = window.after if window.before is None or self._masked else max(WINDOWS)
            self._scores[key] = OperatorScorer(self._model, place.document).score(
                site, before=window.before, after=after, cancel=self._steps.cancel
            )
        return self._scores[key].distribution(window.after)


def answer_of(distribution: OperatorDistribution) -> OperatorAnswer:
    """A distribution in its record form."""
    site, candidates = distribution.site, distribution.site.candidates
    return OperatorAnswer(
        line=site.line,
        start=site.start,
        end=site.end,
        span=site.span,
        text=site.text,
        family=site.family,
        operator=site.operator,
        predicted=distribution.predicted,
        correct=distribution.correct,
        entropy=distribution.entropy,
        candidates=candidates,
        logprob=dict(zip(candidates, map(float, distribution.logprob), strict=True)),
        probability=dict(zip(candidates, map(float, distribution.probability), strict=True)),
        nll=distribution.nll,
        surprisal=distribution.surprisal,
    )


def _key(place: OperatorPlace, window: Window, *, masked: bool = False) -> _Key:
    """The key of a question that is asked once; for a masked model, also the context after the gap counts."""
    return place.document.text, place.index, window.before, window.after if masked else None
