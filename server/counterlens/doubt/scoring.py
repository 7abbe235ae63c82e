"""The gain in likelihood from an alternative, at its place and after it: one pass, then the likely ones.

The first pass reads the existing function, and returns the model's likeliest tokens. An alternative whose
first token is much less likely than the existing one can hardly win, so the alternatives are tried in the
order of that difference, within a budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event

import numpy as np

from counterlens.confidence.scoring import TOKEN_NATS
from counterlens.doubt.alternative import Alternative
from counterlens.doubt.generating import alternatives_in, fits
from counterlens.doubt.passages import Passage, passages
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import UnscorableError
from counterlens.models.base import Capability, Model, TokenScores

LEAST_HEAD = -4.0
"""Nats: an alternative is not tried if the log-probability of its first token is lower by more than this."""
NAMED = 40
"""Number of likeliest tokens that the first pass returns per token."""
COST = 3.0
"""Cost limit per function, in multiples of the tokens of reading it once."""


@dataclass(frozen=True, slots=True)
class Trial:
    """An alternative that was tried. All numbers in nats.

    Attributes:
        head: Log-probability of its first differing token, minus that of the existing token; an upper bound
            if the token is not among those returned.
        place: Gain in log-probability of the place.
        rest: Gain in log-probability of the code after it.
        noise: The rounding of the sum, in 95 of 100 cases.
        tokens: Number of compared tokens.
        share: Probability of the alternative among those tried at its place and the existing code.
    """

    alternative: Alternative
    head: float
    place: float
    rest: float
    noise: float
    tokens: int
    share: float = math.nan

    @property
    def gain(self) -> float:
        """The gain in log-probability of the place and the code after it."""
        return self.place + self.rest


def trials(
    model: Model,
    scope: DoubtScope,
    *,
    kinds: Collection[str] | None = None,
    cancel: Event | None = None,
    read: Callable[[int], None] | None = None,
) -> list[Trial]:
    """Try the alternatives of a function that its file does not refute, in the order of the text.

    Args:
        kinds: Only alternatives of these kinds; None for all.
        read: Called with the number of tokens that each request made the model read, besides the context.

    Raises:
        UnscorableError: the model returns no token probabilities.
        ModelError, Cancelled: as `Model.score_continuations`.
    """
    trials: list[Trial] = []
    wanted = [
        alternative
        for alternative in alternatives_in(scope)
        if not alternative.refuted and (kinds is None or alternative.kind in kinds)
    ]
    for passage, scores, heads in _first_pass(model, scope, wanted, cancel):
        if read:
            read(len(scores))
        ranked = sorted((pair for pair in heads if pair[0] >= LEAST_HEAD), key=lambda pair: -pair[0])
        allowed = _affordable(passage, scores, ranked)
        if allowed:
            trials += _request_trials(model, passage, allowed, cancel, read)
    return sorted(trials, key=lambda trial: (trial.alternative.start, trial.alternative.end))


def try_all(
    model: Model, scope: DoubtScope, alternatives: Sequence[Alternative], *, cancel: Event | None = None
) -> list[Trial]:
    """Try these alternatives of a function, however unlikely their first tokens; `head` is then unknown.

    Raises:
        ModelError, Cancelled: as `Model.score_continuations`.
    """
    trials: list[Trial] = []
    for passage, inside in passages(scope, alternatives):
        trials += _request_trials(
            model, passage, [(math.nan, alternative) for alternative in inside], cancel, None
        )
    return trials


def ranked_by_head(
    model: Model, scope: DoubtScope, *, cancel: Event | None = None
) -> Iterator[tuple[float, Alternative, Callable[[], Trial]]]:
    """The alternatives of a function that parse, likeliest first tokens first: `Trial.head`, and a trial.

    Raises:
        UnscorableError, ModelError, Cancelled: as `trials`; the returned functions raise them, too.
    """
    ranked = [
        (head, passage, candidate)
        for passage, _, heads in _first_pass(model, scope, alternatives_in(scope), cancel)
        for head, candidate in heads
    ]

    def trial(head: float, passage: Passage, candidate: Alternative) -> Trial:
        return _request_trials(model, passage, [(head, candidate)], cancel, None)[0]

    for head, passage, alternative in sorted(ranked, key=lambda each: -each[0]):
        if fits(scope, alternative):
            yield head, alternative, partial(trial, head, passage, alternative)


def _first_pass(
    model: Model, scope: DoubtScope, wanted: Sequence[Alternative], cancel: Event | None
) -> Iterator[tuple[Passage, TokenScores, list[tuple[float, Alternative]]]]:
    """The unchanged function, piece by piece, and alternatives with the comparison of first tokens."""
    if not model.offers(Capability.SCORE, cancel=cancel):
        raise UnscorableError(f"{model.info.name} returns no token probabilities")
    for passage, inside in passages(scope, wanted):
        text = passage.as_it_stands(passage.end)
        (scores,) = model.score_continuations(passage.context, [text], alternatives=NAMED, cancel=cancel)
        yield passage, scores, [(_head(passage, scores, alternative), alternative) for alternative in inside]


def _affordable(
    passage: Passage, scores: TokenScores, ranked: Sequence[tuple[float, Alternative]]
) -> list[tuple[float, Alternative]]:
    """The likeliest alternatives within the cost limit, after reading the text twice."""
    size = len(passage.as_it_stands(passage.end).encode())
    ahead = min(len(passage.context.encode()), passage.start - passage.scope.function.start)
    rate = len(scores) / max(size, 1)
    budget = ((COST - 2) * size + (COST - 1) * max(ahead, 0)) * rate
    allowed = []
    ends: set[int] = set()
    for head, alternative in ranked:
        until = passage.until(alternative)
        price = (
            (until - alternative.end + len(alternative.text.encode())) * rate + 2 + 2 * (until not in ends)
        )
        if price <= budget and fits(passage.scope, alternative):
            budget -= price
            ends.add(until)
            allowed.append((head, alternative))
    return allowed


def comparison_texts(passage: Passage, alternatives: Sequence[Alternative]) -> tuple[list[int], list[str]]:
    """The ends of comparisons in a passage; and the unchanged text up to each end, then the changed texts."""
    ends = sorted({passage.until(alternative) for alternative in alternatives}, reverse=True)
    texts = [passage.as_it_stands(end) for end in ends]
    return ends, texts + [
        passage.changed(alternative, passage.until(alternative)) for alternative in alternatives
    ]


def _request_trials(
    model: Model,
    passage: Passage,
    chosen: Sequence[tuple[float, Alternative]],
    cancel: Event | None,
    read: Callable[[int], None] | None,
) -> list[Trial]:
    """Send one request: the unchanged text up to each end of a comparison, and with each alternative."""
    ends, texts = comparison_texts(passage, [candidate for _, candidate in chosen])
    answers = model.score_continuations(passage.context, texts, alternatives=0, cancel=cancel)
    standing = dict(zip(ends, answers, strict=False))
    trials = []
    for (head, alternative), other in zip(chosen, answers[len(ends) :], strict=True):
        own = standing[passage.until(alternative)]
        before = len(passage.scope.text(passage.start, alternative.start).encode())
        was = before + len(passage.scope.text(alternative.start, alternative.end).encode())
        now = before + len(alternative.text.encode())
        same = _common(own, other)
        tokens = len(other) - same
        place = _sum(other, same, now) - _sum(own, same, was)
        whole = _sum(other, same) - _sum(own, same)
        noise = TOKEN_NATS * math.sqrt(max(tokens, len(own) - same, 1))
        trials.append(Trial(alternative, head, place, whole - place, noise, tokens))
    if read:
        read(len(answers[0]) + sum(trial.tokens for trial in trials) + len(ends) - 1)
    return _with_shares(trials)


def _with_shares(trials: list[Trial]) -> list[Trial]:
    """The trials with the share of each among those at its place."""
    weights: dict[tuple[int, int], float] = {}
    for trial in trials:
        place = trial.alternative.place
        weights[place] = weights.get(place, 1.0) + math.exp(min(trial.gain, 500.0))
    return [
        Trial(
            attempt.alternative,
            attempt.head,
            attempt.place,
            attempt.rest,
            attempt.noise,
            attempt.tokens,
            math.exp(min(attempt.gain, 500.0)) / weights[attempt.alternative.place],
        )
        for attempt in trials
    ]


def _head(passage: Passage, scores: TokenScores, alternative: Alternative) -> float:
    """Log-probability of an alternative's first differing token, minus that of the existing one."""
    before = len(passage.scope.text(passage.start, alternative.start).encode())
    until = passage.until(alternative)
    wanted = passage.changed(alternative, until).encode()
    text = scores.text.encode()
    index = int(np.searchsorted(scores.end, before, side="right"))
    while index < len(scores):
        start, end = int(scores.start[index]), int(scores.end[index])
        if not wanted[start:].startswith(text[start:end]):
            break
        index += 1
    if index >= len(scores):
        return 0.0
    start, own = int(scores.start[index]), float(scores.logprob[index])
    named = zip(scores.alternative_text[index], scores.alternative_logprob[index].tolist(), strict=False)
    rest = wanted[start:].decode("utf-8", "replace")
    logprobs = [logprob for token, logprob in named if token.strip() and rest.startswith(token)]
    bound = float(scores.alternative_logprob[index].min()) if scores.alternative_logprob.shape[1] else own
    return max(logprobs, default=min(bound, own) - 1.0) - own


def _common(scores: TokenScores, other: TokenScores) -> int:
    """The number of first tokens that two scores share: same text, same value."""
    least = min(len(scores), len(other))
    same = (scores.end[:least] == other.end[:least]) & (
        (scores.logprob[:least] == other.logprob[:least])
        | (np.isnan(scores.logprob[:least]) & np.isnan(other.logprob[:least]))
    )
    different = np.flatnonzero(~same)
    return int(different[0]) if len(different) else least


def _sum(scores: TokenScores, first: int, until: int | None = None) -> float:
    """The log-probability of the tokens from `first` on that begin before a byte."""
    chosen = scores.logprob[first:]
    if until is not None:
        chosen = chosen[scores.start[first:] < until]
    return float(np.nansum(chosen))
