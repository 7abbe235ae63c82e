"""Token probabilities from one endpoint; tests once which method works there, and remembers it."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from counterlens.errors import ModelError, UnscorableError
from counterlens.models.base import TokenScores
from counterlens.models.remote.client import HttpClient
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.scoring.dialect import Correction, Service
from counterlens.models.remote.scoring.dialects import dialect_named
from counterlens.models.remote.scoring.probing import Ability, probe
from counterlens.models.remote.scoring.reading import IncompleteError, after, to_scores
from counterlens.models.remote.taking import EndpointFile

_ELSEWHERE = "Score with a local model, such as smollm2-135m; counterfactual probes work with this one"


class RemoteScorer:
    """Scores texts at one endpoint with one model.

    Args:
        root: The client of the server's own services.
        model: The name of the model there.
        memory: Known results for endpoints.
    """

    def __init__(
        self, endpoint: Endpoint, api: HttpClient, root: HttpClient, model: str, memory: Memory
    ) -> None:
        self._endpoint = endpoint
        self._api, self._root = api, root
        self._model = model
        self._memory = memory
        self._identity = hashlib.sha256(
            f"{endpoint.url}\n{model}".encode("utf-8", "surrogatepass")
        ).hexdigest()
        self._ability: Ability | None = None
        self._lock = asyncio.Lock()

    def known(self) -> Ability | None:
        """Return the endpoint's stored capabilities, without a request."""
        if self._ability is None:
            self._ability = self._memory.recall(self._identity)
        return self._ability

    async def ability(self, *, retest: bool = False) -> Ability:
        """Return the endpoint's capabilities; tested once, or again if `retest`.

        Raises:
            ModelError: it cannot be reached.
        """
        async with self._lock:
            ability = None if retest else self.known()
            if ability is None:
                ability = await probe(Service(self._api, self._root, self._model, patient=False))
                self._ability = ability if ability.certain else None
                self._memory.remember(self._identity, ability)
            return ability

    async def score(
        self, text: str, context: str, alternatives: int, progress: Callable[[int, int], None]
    ) -> TokenScores:
        """The scores of a text after a context.

        Raises:
            ModelError: the endpoint does not give them; the message gives the reason.
        """
        ability = await self.ability()
        dialect = dialect_named(ability.dialect)
        if not ability.scores or dialect is None:
            raise ModelError(
                f"{self._endpoint.host} returns no token probabilities: {'; '.join(ability.reasons)}",
                _ELSEWHERE,
            )
        service = Service(self._api, self._root, self._model, progress=progress)
        if not text:
            return to_scores("", [], alternatives)
        try:
            tokens = await dialect.readers[ability.correction](service, context + text, alternatives)
            scores = to_scores(context + text, tokens, alternatives)
        except IncompleteError as error:
            raise UnscorableError(
                f"{self._endpoint.host} cannot score this text: {error.message}", _ELSEWHERE
            ) from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(
                f"{self._endpoint.host} answered in a different form than in its test",
                f"Test it again: counterlens models test remote:{self._model}",
            ) from error
        progress(len(scores), len(scores))
        return after(context, scores)


VERSION: Final = 1  # version of the test and of this file; entries of another version are ignored
KEPT: Final = 7 * 86_400.0  # seconds, for a method that works
KEPT_NEGATIVE: Final = 86_400.0  # seconds, if none works: servers are restarted with other options


class Memory:
    """A small JSON file; one that cannot be read or written behaves as an empty one.

    Args:
        file: Path of the file; by default in the user's cache.
        clock: Returns the seconds since the epoch.
    """

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._file = EndpointFile(file or "remote-abilities.json", VERSION)
        self._clock = clock

    def recall(self, identity: str) -> Ability | None:
        """Return the stored result for an endpoint and model, unless it is too old."""
        entry = self._file.entries().get(identity)
        try:
            assert entry is not None
            ability = Ability(
                str(entry["dialect"]),
                Correction(entry["correction"]),
                tuple(str(reason) for reason in entry["reasons"]),
            )
            age = self._clock() - float(entry["tested"])
        except (AssertionError, LookupError, TypeError, ValueError):
            return None
        if dialect_named(ability.dialect) is None:
            return None
        return ability if 0 <= age < (KEPT if ability.scores else KEPT_NEGATIVE) else None

    def remember(self, identity: str, ability: Ability) -> None:
        """Store a result, if it is valid for the next time."""
        entries = self._file.entries()
        entries.pop(identity, None)
        if ability.certain:
            entries[identity] = {
                "dialect": ability.dialect,
                "correction": ability.correction.value,
                "reasons": list(ability.reasons),
                "tested": self._clock(),
            }
        self._file.write(entries)
