"""Explains a doubt: the probability of each token, in the existing code and with the alternative."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event

from counterlens.confidence.scoring import whole_characters
from counterlens.doubt.marking import Doubt
from counterlens.doubt.passages import passages
from counterlens.models.base import Model, TokenScores


@dataclass(frozen=True, slots=True)
class TokenPreference:
    """A token of the unchanged text, of the changed one, or of both. Log-probabilities in nats.

    Attributes:
        stands: Its log-probability in the unchanged text; None if only the changed text has it.
        changed: Its log-probability in the changed text; None if only the unchanged text has it.
    """

    text: str
    stands: float | None
    changed: float | None

    @property
    def gain(self) -> float:
        """Its contribution to the gain in log-probability."""
        return (self.changed or 0.0) - (self.stands or 0.0)


def explain(model: Model, doubt: Doubt, *, cancel: Event | None = None) -> list[TokenPreference]:
    """The tokens from the place on that decided about a mark.

    The text before the first difference is left out. First come the tokens that only the existing code has,
    then those that only the alternative has, then those that both have.

    Raises:
        ModelError, Cancelled: as `Model.score_continuations`.
    """
    for passage, _ in passages(doubt.scope, [doubt.alternative]):
        until = passage.until(doubt.alternative)
        texts = [passage.as_it_stands(until), passage.changed(doubt.alternative, until)]
        stands, changed = model.score_continuations(passage.context, texts, alternatives=0, cancel=cancel)
        return list(_align(_tokens(stands), _tokens(changed)))
    return []


def _tokens(scores: TokenScores) -> list[tuple[str, float]]:
    data = scores.text.encode()
    scores = whole_characters(scores, data)
    rows = zip(scores.start.tolist(), scores.end.tolist(), scores.logprob.tolist(), strict=True)
    return [(data[start:end].decode("utf-8", "replace"), logprob) for start, end, logprob in rows]


def _align(tokens: list[tuple[str, float]], other: list[tuple[str, float]]) -> Iterator[TokenPreference]:
    first, least = 0, min(len(tokens), len(other))
    while first < least and tokens[first][0] == other[first][0]:
        first += 1
    same = 0
    while same < least - first and tokens[-1 - same][0] == other[-1 - same][0]:
        same += 1
    for text, logprob in tokens[first : len(tokens) - same]:
        yield TokenPreference(text, _known_or_zero(logprob), None)
    for text, logprob in other[first : len(other) - same]:
        yield TokenPreference(text, None, _known_or_zero(logprob))
    tails = zip(tokens[len(tokens) - same :], other[len(other) - same :], strict=True)
    for (text, before), (_, after) in tails:
        yield TokenPreference(text, _known_or_zero(before), _known_or_zero(after))


def _known_or_zero(logprob: float) -> float:
    return 0.0 if math.isnan(logprob) else logprob
