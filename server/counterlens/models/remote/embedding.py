"""The embeddings API: a text's vector (`POST /embeddings`)."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError, UnreachableError
from counterlens.models.remote import failures
from counterlens.models.remote.answer import Answer, Json
from counterlens.models.remote.client import HttpClient
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.failures import PassingError

_TRIAL: Final = "x = 1"


class RemoteEmbedder:
    """Embeds texts with one model of an endpoint; tested once.

    Args:
        client: Sends requests to it.
        model: The name of the model there.
    """

    path: Final = "/embeddings"

    def __init__(self, endpoint: Endpoint, client: HttpClient, model: str) -> None:
        self._endpoint, self._client, self._model = endpoint, client, model
        self.works: bool | None = None

    async def ability(self, *, retest: bool = False) -> bool:
        """Whether the endpoint embeds; sends a short text if that is unknown, or if `retest` is set.

        Raises:
            UnreachableError: the endpoint cannot be reached.
            PassingError: it may work later, or with another key.
        """
        if self.works is None or retest:
            try:
                await self._ask(_TRIAL, retry=False)
            except (UnreachableError, PassingError):
                raise
            except ModelError:
                self.works = False
            else:
                self.works = True
        return self.works

    async def embed(self, text: str) -> npt.NDArray[np.float64]:
        """The vector of a text, with the length that the server gives.

        The result is the mean if a server gives a vector per token.

        Raises:
            ModelError: there is none; the message gives the reason.
        """
        vector = await self._ask(text)
        self.works = True
        return vector

    async def _ask(self, text: str, *, retry: bool = True) -> npt.NDArray[np.float64]:
        async def read(answer: Answer) -> npt.NDArray[np.float64]:
            async for chunk in answer:
                try:
                    return _vector(chunk)
                except (LookupError, TypeError, ValueError) as error:
                    said = json.dumps(chunk)
                    raise failures.of_answer("without an embedding", self._endpoint, said) from error
            raise failures.of_answer("with nothing", self._endpoint)

        body: Json = {"model": self._model, "input": text, "encoding_format": "float"}
        return await self._client.post(self.path, body, read, retry=retry)


def _vector(answer: Json) -> npt.NDArray[np.float64]:
    """The vector in a response.

    Raises:
        LookupError, TypeError, ValueError: there is none.
    """
    vector: Any = np.asarray(answer["data"][0]["embedding"], np.float64)
    if vector.ndim == 2 and len(vector):
        vector = vector.mean(axis=0)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise ValueError("no vector of numbers")
    return np.asarray(vector, np.float64)
