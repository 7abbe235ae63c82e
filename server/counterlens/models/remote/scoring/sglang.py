"""SGLang: `/generate` with `return_logprob`.

`meta_info` has a triple of log-probability, token id and text per token of the prompt, and a list of such
triples for the likeliest tokens in its place. The first log-probability is null.
"""

from __future__ import annotations

from typing import Any

from counterlens.models.remote.scoring.dialect import Correction, Service
from counterlens.models.remote.scoring.reading import Token, number


class SGLang:
    """The native API of SGLang."""

    name = "sglang"
    corrections = (Correction.NONE,)

    async def read(
        self,
        service: Service,
        text: str,
        alternatives: int,
        correction: Correction,  # noqa: ARG002
    ) -> list[Token]:
        """As `ScoringDialect.read`."""
        answer = await service.post(
            "/generate",
            {
                "text": text,
                "sampling_params": {"max_new_tokens": 1, "temperature": 0},
                "return_logprob": True,
                "logprob_start_len": 0,
                "top_logprobs_num": alternatives,
                "return_text_in_logprobs": True,
            },
        )
        about = answer["meta_info"]
        own = about["input_token_logprobs"]
        others = about.get("input_top_logprobs") or [None] * len(own)
        return [_token(value, row) for value, row in zip(own, others, strict=True)]


def _token(own: list[Any], row: list[list[Any]] | None) -> Token:
    alternatives = tuple((name or "", float(value)) for value, _, name in row or () if value is not None)
    return Token(own[2], number(own[0]), alternatives)
