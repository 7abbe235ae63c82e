"""The interface of a method for token probabilities: it sends requests and reads the responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from counterlens.models.remote.answer import Answer, Json
from counterlens.models.remote.client import HttpClient
from counterlens.models.remote.scoring.reading import Token


class Correction(StrEnum):
    """Corrections that assign a server's values to the right tokens."""

    NONE = ""
    MOVED = "moved"  # each value is one token too early
    RECOVERED = "recovered"  # each value is in the row of the token before it: see echo.py


class Service:
    """An endpoint as dialects see it: its API, and the server's own services besides.

    Args:
        api: Requests below the base URL.
        root: Requests below the server's root, without `/v1`.
        model: The name of the model.
        patient: Whether to repeat requests if that may help.
        progress: Called with (done, total) tokens.
    """

    def __init__(
        self,
        api: HttpClient,
        root: HttpClient,
        model: str,
        *,
        patient: bool = True,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        self._api = api
        self._root = root
        self._patient = patient
        self.model = model
        self.progress = progress

    async def complete(self, payload: Json) -> Json:
        """Send a request to the completions API, without a stream.

        Raises:
            ModelError: there is no response; the message gives the reason.
        """
        body = {"model": self.model, "temperature": 0, "stream": False, **payload}
        return await self._api.post("/completions", body, _only, retry=self._patient)

    async def post(self, path: str, payload: Json) -> Json:
        """Send a request to one of the server's own services.

        Raises:
            ModelError: there is no response; the message gives the reason.
        """
        return await self._root.post(path, payload, _only, retry=self._patient)

    async def get(self, path: str) -> Json:
        """Send a request as `post`, without a payload."""
        return await self._root.get(path, retry=self._patient)


Reader = Callable[[Service, str, int], Awaitable[list[Token]]]
"""Requests the tokens of a text, with at most so many alternatives each.

Raises:
    ModelError: there is no response, or it is incomplete.
    LookupError, TypeError, ValueError: the response has another format.
"""


@dataclass(frozen=True, slots=True)
class ScoringDialect:
    """One method of getting the token probabilities of a text.

    Attributes:
        name: Its name in reports and in the memory of endpoints.
        readers: How it reads them with each correction that the values may need, in order of preference.
    """

    name: str
    readers: Mapping[Correction, Reader]


async def _only(answer: Answer) -> Json:
    async for content in answer:
        return content
    raise LookupError("an answer without content")
