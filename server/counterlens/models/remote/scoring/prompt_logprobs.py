"""vLLM: `prompt_logprobs` of the completions API.

The response has one object per token of the prompt, from token ids to log-probability, rank (from 1) and
text: the prompt's own token first, then the likeliest. The first is null, so the first token has no name.
"""

from __future__ import annotations

from typing import Final

from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import first_choice
from counterlens.models.remote.scoring.dialect import Correction, Service
from counterlens.models.remote.scoring.reading import IncompleteError, Token, number

_MOST: Final = 20  # vLLM's default limit


class PromptLogprobs:
    """The `prompt_logprobs` of vLLM."""

    name = "prompt_logprobs"
    corrections = (Correction.NONE,)

    async def read(
        self,
        service: Service,
        text: str,
        alternatives: int,
        correction: Correction,  # noqa: ARG002
    ) -> list[Token]:
        """As `ScoringDialect.read`."""
        count = min(alternatives, _MOST)
        answer = await service.complete({"prompt": text, "max_tokens": 1, "prompt_logprobs": count})
        choice = first_choice(answer) or {}
        rows = choice.get("prompt_logprobs") or answer.get("prompt_logprobs")
        if not rows:
            raise IncompleteError("the server does not know prompt_logprobs")
        return [Token(None, None) if row is None else _token(row) for row in rows]


def _token(row: Json) -> Token:
    entries = list(row.values())
    own = entries[0]
    rank = own.get("rank")
    return Token(
        own["decoded_token"],
        number(own["logprob"]),
        tuple((entry["decoded_token"] or "", float(entry["logprob"])) for entry in entries),
        rank - 1 if isinstance(rank, int) and rank > 0 else None,
    )
