"""The models that an endpoint lists, and whether the requested one is among them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Final

from counterlens.errors import ModelError, UnreachableError
from counterlens.models.remote import failures
from counterlens.models.remote.client import HttpClient
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.failures import UnknownModelError

_COURTESY: Final = 10.0  # seconds to wait for a list that is only for a hint
_NAMED: Final = 10  # models that a hint names


class Listing:
    """An endpoint's list of its models.

    Args:
        endpoint: The endpoint.
        client: Sends requests to it.
        model: The requested model.
        trusted: Whether to request the model without checking the list.
    """

    def __init__(self, endpoint: Endpoint, client: HttpClient, model: str, *, trusted: bool) -> None:
        self._endpoint, self._client, self._model = endpoint, client, model
        self._checked = trusted

    async def check(self, names: Sequence[str] | None = None) -> None:
        """Refuse a model that the endpoint does not list, once, if it lists any.

        Raises:
            UnknownModelError: the endpoint lists models, but not this one.
            UnreachableError: the endpoint cannot be reached.
        """
        if self._checked:
            return
        names = names or await self.names_or_none()
        # whether a listed name is the requested one; some servers add a tag or a folder
        if names and not any(
            self._model in (name, name.removesuffix(":latest"), name.removeprefix("models/"))
            for name in names
        ):
            raise unknown(f"{self._endpoint.address} does not list a model {self._model!r}", names)
        self._checked = True

    async def names(self, *, retry: bool = True) -> list[str]:
        """The names of the models.

        Raises:
            ModelError: it lists none; the message gives the reason.
        """
        answer = await self._client.get("/models", retry=retry)
        entries = answer.get("data", answer.get("models"))
        if not isinstance(entries, list):
            raise failures.of_answer("without a list of models", self._endpoint, json.dumps(answer))
        names = [
            entry.get("id") or entry.get("name") if isinstance(entry, dict) else entry for entry in entries
        ]
        return [name for name in names if isinstance(name, str) and name.isprintable()]

    async def names_or_none(self) -> list[str] | None:
        """The names of the models, or None if there is no list, which alone is not an error.

        Raises:
            UnreachableError: the endpoint cannot be reached.
        """
        try:
            async with asyncio.timeout(_COURTESY):
                return await self.names(retry=False)
        except UnreachableError:
            raise
        except (ModelError, TimeoutError):
            return None


def unknown(message: str, names: Sequence[str] | None) -> UnknownModelError:
    """The error about a model that the endpoint does not know, with the known ones."""
    if not names:
        return UnknownModelError(message, "Check the model's name in the endpoint's documentation")
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    hint = f"It has: {shown}. If it serves models that it does not list, set COUNTERLENS_ALLOW_UNLISTED=1"
    return UnknownModelError(message, hint)
