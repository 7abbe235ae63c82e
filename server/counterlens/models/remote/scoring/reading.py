"""A server's values for the tokens of a text, before they are matched with the text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from counterlens.errors import UnscorableError
from counterlens.models.base import TokenScores
from counterlens.models.remote.scoring.alignment import Misaligned, Piece, align

_SURPLUS: Final = 2  # maximum number of generated tokens at the end of a response


@dataclass(frozen=True, slots=True)
class Token:
    """One token as a server reports it.

    Attributes:
        piece: Its text or bytes; None if the server does not say.
        logprob: In nats; None if the server does not say.
        alternatives: Texts and log-probabilities of likely tokens in its place, in any order.
        rank: Number of more likely tokens, if the server says.
        context: Number of tokens before it in the request; None: all of those before it.
    """

    piece: Piece
    logprob: float | None
    alternatives: tuple[tuple[str, float], ...] = field(default=())
    rank: int | None = None
    context: int | None = None


class IncompleteError(UnscorableError):
    """A server's response about a text is incomplete."""


def to_scores(text: str, tokens: Sequence[Token], alternatives: int) -> TokenScores:
    """Match tokens with the text of the request.

    Entropy is NaN throughout: no server sends whole distributions. A rank that the server does not give is
    the number of listed alternatives that are more likely, a lower bound.

    Args:
        tokens: The tokens of the response; special tokens may precede the text's, generated ones may follow.
        alternatives: Maximum number of alternatives to keep.

    Raises:
        IncompleteError: the tokens do not join to the text, or one but the first has no value.
    """
    data = text.encode("utf-8", "surrogatepass")
    try:
        alignment = align([token.piece for token in tokens], data, surplus=_SURPLUS)
    except Misaligned as error:
        raise IncompleteError(f"the server's tokens do not add up to the text: {error}") from error
    lead, ends = alignment.lead, alignment.ends
    own = list(tokens[lead : lead + len(ends)])
    if not lead and own:  # nothing precedes the first token; some servers give it an undefined value
        own[0] = Token(own[0].piece, None)
    for at, token in enumerate(own):
        has_logprob = token.logprob is not None and math.isfinite(token.logprob) and token.logprob < 1e-3
        if not has_logprob and (at or lead):
            raise IncompleteError(f"the server returns no log-probability for token {at + 1} of {len(own)}")
    rows = [sorted(token.alternatives, key=lambda pair: -pair[1])[:alternatives] for token in own]
    k = max(map(len, rows), default=0)
    end = np.asarray(ends, np.int64)
    # A piece as text: SentencePiece writes blanks as U+2581
    return TokenScores(
        text=text,
        start=np.concatenate([np.zeros(min(1, len(end)), np.int64), end[:-1]]),
        end=end,
        logprob=np.asarray([math.nan if t.logprob is None else min(t.logprob, 0.0) for t in own], np.float64),
        entropy=np.full(len(own), math.nan),
        rank=np.asarray([_rank(token) for token in own], np.int64),
        alternative_logprob=np.asarray(
            [[value for _, value in row] + [math.nan] * (k - len(row)) for row in rows], np.float64
        ).reshape(len(own), k),
        alternative_text=tuple(tuple(name.replace("\u2581", " ") for name, _ in row) for row in rows),
        context=np.asarray(
            [lead + at if token.context is None else token.context for at, token in enumerate(own)], np.int64
        ),
    )


def after(context: str, scores: TokenScores) -> TokenScores:
    """The scores of the text after a context; of a token that spans the two, the part in the text."""
    size = len(context.encode("utf-8", "surrogatepass"))
    first = int(np.searchsorted(scores.end, size, side="right"))
    return dataclasses.replace(
        scores,
        text=scores.text[len(context) :],
        start=np.maximum(scores.start[first:] - size, 0),
        end=scores.end[first:] - size,
        logprob=scores.logprob[first:],
        entropy=scores.entropy[first:],
        rank=scores.rank[first:],
        alternative_logprob=scores.alternative_logprob[first:],
        alternative_text=scores.alternative_text[first:],
        context=scores.context[first:],
    )


def number(value: Any) -> float | None:
    """A log-probability that may be null.

    Raises:
        TypeError: it is neither a number nor null.
    """
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise TypeError("a log-probability is not a number")


def _rank(token: Token) -> int:
    if token.logprob is None:
        return -1
    if token.rank is not None:
        return token.rank
    return sum(value > token.logprob + 1e-9 for _, value in token.alternatives)
