"""Text Generation Inference: `/generate` with `decoder_input_details`.

`details.prefill` has text and log-probability of each token of the prompt, including special ones; the first
has none. There are no alternatives.
"""

from __future__ import annotations

from counterlens.models.remote.scoring.dialect import Correction, Service
from counterlens.models.remote.scoring.reading import IncompleteError, Token, number


class TextGenerationInference:
    """The native API of Text Generation Inference."""

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
