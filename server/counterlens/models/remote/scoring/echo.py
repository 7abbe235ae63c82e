"""The completions API with `echo` and `logprobs`, as OpenAI's once had it.

The response lists the prompt's tokens, then a generated one, each with its log-probability and the likeliest
tokens in its place. Some servers are off by one token: see shift.py.
"""

from __future__ import annotations

from typing import Final

from counterlens.models.remote.dialect import first_choice
from counterlens.models.remote.scoring import shift
from counterlens.models.remote.scoring.dialect import Correction, Service
from counterlens.models.remote.scoring.reading import IncompleteError, Token, number

_MOST: Final = 5  # maximum number of alternatives in OpenAI's API


class Echo:
    """The echo of the completions API."""

    name = "echo"
    corrections = (Correction.NONE, Correction.RECOVERED, Correction.MOVED)

    async def read(
        self, service: Service, text: str, alternatives: int, correction: Correction
    ) -> list[Token]:
        """As `ScoringDialect.read`."""
        count = max(1, min(alternatives, _MOST))
        if correction is Correction.RECOVERED:
            count = shift.LISTED
        tokens = await _echoed(service, text, count)
        if correction is Correction.MOVED:
            return shift.moved(tokens)
        if correction is Correction.RECOVERED:
            return await shift.recovered(service, text, tokens)
        return tokens


async def _echoed(service: Service, text: str, count: int) -> list[Token]:
    # Some servers read max_tokens 0 as no limit, so one token is generated and dropped.
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
