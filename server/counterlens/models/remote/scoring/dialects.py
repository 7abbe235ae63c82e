"""The methods of getting token probabilities, best first.

To add one: a file with a class like `ScoringDialect`, and a line here. The test of an endpoint (probing.py)
determines whether it works there.

Servers that give probabilities of generated tokens at most: Ollama, OpenAI's API, most gateways.
"""

from __future__ import annotations

from typing import Final

from counterlens.errors import ModelError
from counterlens.models.remote.scoring.dialect import Correction, ScoringDialect, Service
from counterlens.models.remote.scoring.echo import Echo
from counterlens.models.remote.scoring.llama_server import LlamaServer
from counterlens.models.remote.scoring.prompt_logprobs import PromptLogprobs
from counterlens.models.remote.scoring.reading import Token
from counterlens.models.remote.scoring.sglang import SGLang
from counterlens.models.remote.scoring.tgi import TextGenerationInference


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
