"""The methods of getting token probabilities, best first.

To add one: a class like `ScoringDialect`, and a line here. The test of an endpoint (probing.py)
determines whether it works there.

Servers that give probabilities of generated tokens at most: Ollama, OpenAI's API, most gateways.
"""

from __future__ import annotations

from typing import Final

from counterlens.errors import ModelError
from counterlens.models.remote.answer import Json
from counterlens.models.remote.dialect import first_choice
from counterlens.models.remote.scoring.dialect import Correction, ScoringDialect, Service
from counterlens.models.remote.scoring.echo import Echo
from counterlens.models.remote.scoring.llama_server import LlamaServer
from counterlens.models.remote.scoring.reading import IncompleteError, Token, number
from counterlens.models.remote.scoring.sglang import SGLang


class TextGenerationInference:
    """The native API of Text Generation Inference: `/generate` with `decoder_input_details`.

    `details.prefill` has text and log-probability of each token of the prompt, including special ones; the
    first has none. There are no alternatives.
    """

    name = "tgi"
    corrections = (Correction.NONE,)

    async def read(
        self,
        service: Service,
        text: str,
        alternatives: int,  # noqa: ARG002 - there are none
        correction: Correction,  # noqa: ARG002
    ) -> list[Token]:
        """As `ScoringDialect.read`."""
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


_MOST: Final = 20  # vLLM's default limit


class PromptLogprobs:
    """The `prompt_logprobs` of vLLM's completions API.

    The response has one object per token of the prompt, from token ids to log-probability, rank (from 1) and
    text: the prompt's own token first, then the likeliest. The first is null, so the first token has no name.
    """

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


class GenerationOnly:
    """No method at all; chosen if no other works."""

    name = "generation only"
    corrections = (Correction.NONE,)

    async def read(
        self,
        service: Service,  # noqa: ARG002
        text: str,  # noqa: ARG002
        alternatives: int,  # noqa: ARG002
        correction: Correction,  # noqa: ARG002
    ) -> list[Token]:
        """Not offered.

        Raises:
            ModelError: always.
        """
        raise ModelError("the endpoint returns the probabilities of generated tokens only")


GENERATION_ONLY: Final = GenerationOnly()
SCORING_DIALECTS: Final[tuple[ScoringDialect, ...]] = (
    PromptLogprobs(),
    SGLang(),
    Echo(),
    LlamaServer(),
    TextGenerationInference(),
)


def dialect_named(name: str) -> ScoringDialect | None:
    """The dialect with a name, if there is one."""
    return next((each for each in (*SCORING_DIALECTS, GENERATION_ONLY) if each.name == name), None)
