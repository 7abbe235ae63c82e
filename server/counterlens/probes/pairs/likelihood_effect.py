"""The likelihood effect: the loss in likelihood of a function's true rest under a mutation.

It is the mutation effect of Hooda et al. 2024 (section 3.4) with the log-probability of the true rest instead
of a verdict: continuous, and without running anything. To a model that follows the code, the rest of an
equivalent program is as likely as the rest of the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from counterlens.models.base import Model, TokenScores
from counterlens.probes.pairs.record import NOISE
from counterlens.probes.prompts.gap import Gap
from counterlens.progress import Steps

_UNWATCHED = Steps()
TOKEN_NOISE = 0.5
"""Nats: maximum observed change of one token by rounding alone."""

_NAMED = 8


@dataclass(frozen=True, slots=True)
class ChangedToken:
    """A token that is in both rests.

    Attributes:
        line: Its line in the original, 1-based.
        original: Its log-probability in the original, in nats.
        mutated: Its log-probability in the counterfactual.
    """

    text: str
    line: int
    original: float
    mutated: float

    @property
    def change(self) -> float:
        """The change in nats; below 0 if the mutation made the token less likely."""
        return self.mutated - self.original


@dataclass(frozen=True, slots=True)
class LikelihoodEffect:
    """The effect of a mutation on the log-probability of the true rest of the function, in nats.

    Attributes:
        original: Mean over the tokens of the original's rest.
        mutated: Mean over the tokens of the counterfactual's rest.
        original_tokens: Number of tokens of the original's rest.
        mutated_tokens: Number of tokens of the counterfactual's rest.
        matched: Number of tokens in both, in order.
        matched_change: The mean change of the matched tokens; None if there are none.
        changes: The most changed matched tokens whose change exceeds rounding.
    """

    original: float
    mutated: float
    original_tokens: int
    mutated_tokens: int
    matched: int
    matched_change: float | None
    changes: tuple[ChangedToken, ...]

    @property
    def change(self) -> float:
        """The change of the mean log-probability of a token; below 0 if tokens became less likely."""
        return self.mutated - self.original

    @property
    def total_change(self) -> float:
        """The change of the log-probability of the whole rest."""
        return self.mutated * self.mutated_tokens - self.original * self.original_tokens

    @property
    def visible(self) -> bool:
        """Whether the change of the mean exceeds rounding."""
        return abs(self.change) >= NOISE


@dataclass(frozen=True, slots=True)
class _Rest:
    """The scored tokens of the content of a hole."""

    tokens: tuple[str, ...]
    lines: tuple[int, ...]
    logprob: npt.NDArray[np.float64]


def likelihood_effects(
    model: Model,
    pairs: Sequence[tuple[Gap, Gap]],
    steps: Steps = _UNWATCHED,
) -> list[LikelihoodEffect]:
    """The likelihood effects of pairs of one function, scored together.

    Args:
        model: Must give token probabilities.
        pairs: The holes of original and counterfactual.

    Raises:
        ModelError: the model gives no probabilities, or a text does not fit into its window.
        Cancelled: it was requested.
    """
    if not pairs:
        return []
    gaps = list(dict.fromkeys(gap for pair in pairs for gap in pair))
    context, texts = _texts(gaps)
    read = [_begin(gap, text) for gap, text in zip(gaps, texts, strict=True)]
    scored = model.score_continuations(
        context,
        texts,
        unscored=read,
        alternatives=0,
        **steps.request("measuring the likelihood of the true rest"),
    )
    rests = {gap: _rest(gap, scores) for gap, scores in zip(gaps, scored, strict=True)}
    return [_effect(rests[original], rests[mutated]) for original, mutated in pairs]


def _texts(gaps: Sequence[Gap]) -> tuple[str, list[str]]:
    """The common prefix of all texts, up to the end of a line, and the rest of each."""
    wholes = [gap.shown + _removed_text(gap) for gap in gaps]
    first, last = min(gap.shown for gap in gaps), max(gap.shown for gap in gaps)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    shared = "".join(character for character, _ in alike)
    context = shared[: shared.rfind("\n") + 1].rstrip()
    return context, [whole[len(context) :] for whole in wholes]


def _removed_text(gap: Gap) -> str:
    return gap.removed.replace("\r\n", "\n").rstrip("\n")


def _begin(gap: Gap, text: str) -> int:
    """The byte of a text at which the content of the hole begins."""
    return len(text.encode()) - len(_removed_text(gap).encode())


def _rest(gap: Gap, scores: TokenScores) -> _Rest:
    """The tokens that overlap the content of the hole; the first may begin before it."""
    data = scores.text.encode()
    begin = _begin(gap, scores.text)
    inside = np.flatnonzero((scores.end > begin) & ~np.isnan(scores.logprob))
    first = gap.before.count("\n") + 1
    starts = np.maximum(scores.start[inside], begin)
    return _Rest(
        tokens=tuple(
            data[scores.start[i] : scores.end[i]].decode("utf-8", "replace") for i in inside.tolist()
        ),
        lines=tuple(first + data[begin:at].count(b"\n") for at in starts.tolist()),
        logprob=scores.logprob[inside],
    )


def _effect(original: _Rest, mutated: _Rest) -> LikelihoodEffect:
    blocks = SequenceMatcher(None, original.tokens, mutated.tokens, autojunk=False).get_matching_blocks()
    matched = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
    changes = [
        ChangedToken(
            original.tokens[a], original.lines[a], float(original.logprob[a]), float(mutated.logprob[b])
        )
        for a, b in matched
    ]
    large = [token for token in changes if abs(token.change) > TOKEN_NOISE]
    return LikelihoodEffect(
        original=_mean(original.logprob),
        mutated=_mean(mutated.logprob),
        original_tokens=len(original.tokens),
        mutated_tokens=len(mutated.tokens),
        matched=len(matched),
        matched_change=sum(token.change for token in changes) / len(changes) if changes else None,
        changes=tuple(sorted(large, key=lambda token: -abs(token.change))[:_NAMED]),
    )


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0
