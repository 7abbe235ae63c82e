"""The completions API with `echo` and `logprobs`, as OpenAI's once had it.

The response lists the prompt's tokens, then a generated one, each with its log-probability and the likeliest
tokens in its place. Some servers are off by one token.

Echoed values that are off by one token, and their correction.

llama-cpp-python's server, with a model without a beginning-of-text token, uses the distribution *after* a
token instead of the one before it. So a row lists what is likely for the next token, and the token's own
value is useless. The right value of a token is therefore

1. in the row before it, if that row lists it unambiguously;
2. otherwise requested: the prompt is the text up to the token, a bias makes the server generate the token,
   and the returned value is that of the distribution without the bias.

If neither works, the text is refused: leaving out the values that are hard to recover would leave out the
unlikely ones.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from typing import Any, Final

from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import first_choice
from counterlens.models.remote.scoring.alignment import align
from counterlens.models.remote.scoring.dialect import Correction, Service
from counterlens.models.remote.scoring.reading import IncompleteError, Token, number

LISTED: Final = 20  # tokens to request per place: more would find more, and have more of equal text
_BIAS: Final = 100  # the largest that the API allows
_NOISE: Final = 0.75  # nats between two requests for one distribution

_MOST: Final = 5  # maximum number of alternatives in OpenAI's API


async def _read(service: Service, text: str, count: int) -> list[Token]:
    answer = await service.complete({"prompt": text, "max_tokens": 1, "echo": True, "logprobs": count})
    logprobs = (first_choice(answer) or {}).get("logprobs")
    if not isinstance(logprobs, dict) or not logprobs.get("tokens"):
        raise IncompleteError("the server does not echo log-probabilities")
    pieces, values = logprobs["tokens"], logprobs["token_logprobs"]
    rows = logprobs.get("top_logprobs") or [None] * len(pieces)
    return [
        Token(piece, number(value), tuple((name, float(each)) for name, each in (row or {}).items()))
        for piece, value, row in zip(pieces, values, rows, strict=True)
    ]


async def _read_as_written(service: Service, text: str, alternatives: int) -> list[Token]:
    return await _read(service, text, max(1, min(alternatives, _MOST)))


async def _read_moved(service: Service, text: str, alternatives: int) -> list[Token]:
    return shift_values(await _read_as_written(service, text, alternatives))


async def _read_recovered(service: Service, text: str, _alternatives: int) -> list[Token]:
    return await recover(service, text, await _read(service, text, LISTED))


READERS: Final = {
    Correction.NONE: _read_as_written,
    Correction.RECOVERED: _read_recovered,
    Correction.MOVED: _read_moved,
}
"""The echo of the completions API, with each correction."""


def shift_values(tokens: Sequence[Token]) -> list[Token]:
    """Give each token the value of the token before it."""
    first = [Token(tokens[0].piece, None)] if tokens else []
    return first + [
        Token(token.piece, before.logprob, before.alternatives)
        for before, token in itertools.pairwise(tokens)
    ]


async def recover(service: Service, text: str, tokens: Sequence[Token]) -> list[Token]:
    """Read each token's value from the row before it, or request it.

    Raises:
        ModelError: a value cannot be recovered; the message gives the reason.
        LookupError, TypeError, ValueError: a response has another format.
    """
    data = text.encode("utf-8", "surrogatepass")
    alignment = align([token.piece for token in tokens], data, surplus=2)
    if alignment.lead:
        raise IncompleteError("the server's values are off by one although a special token precedes the text")
    own = tokens[: len(alignment.ends)]
    if not all(token.piece for token in own):
        # Made to generate such a part, the server continues until the character is whole, which it never is.
        raise IncompleteError("the server does not return the probability of part of a character")
    ids: list[int] = []
    scored: list[Token] = []
    for at, token in enumerate(own):
        if not at:
            scored.append(Token(token.piece, None))
            continue
        row = own[at - 1].alternatives
        value = dict(row).get(str(token.piece)) if _unambiguous(row, own[at - 1]) else None
        if value is None:
            ids = ids or await _ids(service, text, len(own))
            start = alignment.ends[at - 1]
            value, row = await _force(service, data[:start], at, token, ids[at], row)
        scored.append(Token(token.piece, value, row))
        service.progress(at + 1, len(own))
    return scored


def _unambiguous(row: Sequence[tuple[str, float]], before: Token) -> bool:
    """Whether no two tokens of a row have the same text, which would have left one entry for both.

    A row has the likeliest tokens, and the one before it if that is not among them.
    """
    least = min(row, key=lambda pair: pair[1])[0] if row else None
    return len(row) > LISTED or (len(row) == LISTED and least != before.piece)


async def _ids(service: Service, text: str, count: int) -> list[int]:
    """The ids of the tokens, from the server's own tokenizer."""
    answer = await service.post("/extras/tokenize", {"model": service.model, "input": text})
    ids = answer["tokens"]
    if len(ids) != count:
        raise IncompleteError(
            f"the server reports {count} tokens of the text, but its tokenizer finds {len(ids)}"
        )
    return list(ids)


async def _force(
    service: Service,
    before: bytes,
    at: int,
    token: Token,
    number: int,
    row: Sequence[tuple[str, float]],
) -> tuple[float, tuple[tuple[str, float], ...]]:
    """The value of a token that the server is made to generate, and the row with it."""
    payload: Json = {
        "prompt": before.decode(),
        "max_tokens": 1,
        "logprobs": 5,
        "logit_bias": {str(number): _BIAS},
    }
    answer = await service.complete(payload)
    logprobs: dict[str, Any] = (first_choice(answer) or {})["logprobs"]
    [said], [value], [others] = logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"]
    same = answer["usage"]["prompt_tokens"] == at and said == token.piece
    if not same or not _agree(row, others):
        raise IncompleteError(
            f"the server returns no probability for {token.piece!r}: it tokenizes the text before it "
            f"differently"
        )
    return float(value), tuple((name, float(each)) for name, each in others.items())


def _agree(row: Sequence[tuple[str, float]], others: dict[str, float]) -> bool:
    """Whether two lists may be of one distribution; single entries may differ if texts are equal."""
    apart = [abs(value - others[name]) for name, value in row if name in others]
    return not row or (bool(apart) and statistics.median(apart) < _NOISE)
