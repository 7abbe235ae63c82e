"""Servers that give probabilities of generated tokens at most: Ollama, OpenAI's API, most gateways."""

from __future__ import annotations

from counterlens.errors import ModelError
from counterlens.models.remote.scoring.dialect import Correction, Service
from counterlens.models.remote.scoring.reading import Token


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
