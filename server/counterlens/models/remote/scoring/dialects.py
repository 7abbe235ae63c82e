"""The methods of getting token probabilities, best first.

To add one: a function that reads, and a line in `SCORING_DIALECTS`. The test of an endpoint (scorer.py)
determines whether it works there.

Servers that give probabilities of generated tokens at most: Ollama, OpenAI's API, most gateways.
"""

from __future__ import annotations

from typing import Any, Final

from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import first_choice
from counterlens.models.remote.scoring import echo, llama_server
from counterlens.models.remote.scoring.dialect import Correction, ScoringDialect, Service
from counterlens.models.remote.scoring.reading import IncompleteError, Token, number

_MOST: Final = 20  # vLLM's default limit
GENERATION_ONLY: Final = ScoringDialect("generation only", {})
"""No method at all; chosen if no other works."""


async def _read_tgi(service: Service, text: str, _alternatives: int) -> list[Token]:
    """The native API of Text Generation Inference: `/generate` with `decoder_input_details`.

    `details.prefill` has text and log-probability of each token of the prompt, including special ones; the
    first has none. There are no alternatives.
    """
    parameters = {
        "max_new_tokens": 1,
        "do_sample": False,
        "details": True,
        "decoder_input_details": True,
    }
    answer = await service.post("/generate", {"inputs": text, "parameters": parameters})
    prefill = answer["details"]["prefill"]
    if not prefill:
        raise IncompleteError("the server returns no details of its input")
    return [Token(entry["text"], number(entry.get("logprob"))) for entry in prefill]


async def _read_prompt_logprobs(service: Service, text: str, alternatives: int) -> list[Token]:
    """The `prompt_logprobs` of vLLM's completions API.

    The response has one object per token of the prompt, from token ids to log-probability, rank (from 1) and
    text: the prompt's own token first, then the likeliest. The first is null, so the first token has no name.
    """
    count = min(alternatives, _MOST)
    answer = await service.complete({"prompt": text, "max_tokens": 1, "prompt_logprobs": count})
    choice = first_choice(answer) or {}
    rows = choice.get("prompt_logprobs") or answer.get("prompt_logprobs")
    if not rows:
        raise IncompleteError("the server does not know prompt_logprobs")

    def token(row: Json) -> Token:
        entries = list(row.values())
        own, rank = entries[0], entries[0].get("rank")
        return Token(
            own["decoded_token"],
            number(own["logprob"]),
            tuple((entry["decoded_token"] or "", float(entry["logprob"])) for entry in entries),
            rank - 1 if isinstance(rank, int) and rank > 0 else None,
        )

    return [Token(None, None) if row is None else token(row) for row in rows]


async def _read_sglang(service: Service, text: str, alternatives: int) -> list[Token]:
    """The native API of SGLang: `/generate` with `return_logprob`.

    `meta_info` has a triple of log-probability, token id and text per token of the prompt, and a list of such
    triples for the likeliest tokens in its place. The first log-probability is null.
    """
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

    def token(value: list[Any], row: list[list[Any]] | None) -> Token:
        likely = tuple((name or "", float(each)) for each, _, name in row or () if each is not None)
        return Token(value[2], number(value[0]), likely)

    return [token(value, row) for value, row in zip(own, others, strict=True)]


SCORING_DIALECTS: Final = (
    ScoringDialect("prompt_logprobs", {Correction.NONE: _read_prompt_logprobs}),
    ScoringDialect("sglang", {Correction.NONE: _read_sglang}),
    ScoringDialect("echo", echo.READERS),
    ScoringDialect("llama_server", {Correction.NONE: llama_server.read}),
    ScoringDialect("tgi", {Correction.NONE: _read_tgi}),
)


def dialect_named(name: str) -> ScoringDialect | None:
    """The dialect with a name, if there is one."""
    return next((each for each in (*SCORING_DIALECTS, GENERATION_ONLY) if each.name == name), None)
