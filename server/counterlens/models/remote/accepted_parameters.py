"""The parameters that an endpoint accepts, learned from its refusals.

A refused parameter is dropped, or sent under its other name if it has one. The result is stored once the
endpoint has answered, and remembered between runs in a small file of the user's cache.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from counterlens.models.files import note, recall
from counterlens.models.remote.answer import Json
from counterlens.models.remote.failures import EmptyStreamError, RefusedRequestError

T = TypeVar("T")

WEEK: Final = 7 * 86_400.0  # seconds; the models behind a name change

LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
_LEAST_TEMPERATURE: Final = 0.01
_SPARED: Final = ("stream_options", "logprobs", "seed", "stop", "stream")
"""Parameters that a request can omit: Counterlens also counts tokens and ends answers by itself."""
_POSITIVE: Final = re.compile(r"positive|greater than|above 0|> ?0", re.I)


class Temperature(StrEnum):
    """The lowest temperature that a model accepts."""

    ZERO = "0"
    LEAST = str(_LEAST_TEMPERATURE)
    OWN = "its own"
    """Only its default."""


@dataclass(frozen=True, slots=True)
class AcceptedParameters:
    """The parameters that an endpoint accepts for a model, as far as known.

    Attributes:
        limit: Its name of the token limit.
        temperature: The temperature used for its likeliest answer.
        refused: Parameters that it does not accept.
        several: Whether it gives several answers to one request (`n`); None: not tested.
    """

    limit: str = LIMIT
    temperature: Temperature = Temperature.ZERO
    refused: frozenset[str] = field(default=frozenset())
    several: bool | None = None

    @property
    def summary(self) -> str:
        """Describe the differences from usual requests; empty if there are none."""
        parts = []
        if self.temperature is Temperature.OWN:
            parts.append("at the model's own temperature, because it rejects 0")
        elif self.temperature is Temperature.LEAST:
            parts.append(f"at the temperature {_LEAST_TEMPERATURE}, because it rejects 0")
        if self.limit != LIMIT:
            parts.append(f"with {self.limit}")
        parts += [f"without {name}" for name in sorted(self.refused)]
        return ", ".join(parts)

    def body(self, payload: Json) -> Json:
        """A request with the parameters that the endpoint accepts."""
        body = {name: value for name, value in payload.items() if name not in self.refused}
        if LIMIT in body:
            body[self.limit] = body.pop(LIMIT)
        if self.temperature is Temperature.OWN:
            body.pop("temperature", None)
        elif self.temperature is Temperature.LEAST and body.get("temperature") == 0:
            body["temperature"] = _LEAST_TEMPERATURE
        if not body.get("stream"):
            body.pop("stream_options", None)
        return body

    def after(self, refusal: RefusedRequestError, payload: Json) -> AcceptedParameters | None:
        """Return the next form to try after a refusal; None if none is left."""
        for name in _named_parameters(refusal, self.body(payload)):
            other = self._without(name, refusal.message)
            if other is not None:
                return other
        return None

    def _without(self, name: str, message: str) -> AcceptedParameters | None:
        if name == LIMIT:
            return replace(self, limit=NEW_LIMIT)
        if name == "temperature":
            least = self.temperature is Temperature.ZERO and _POSITIVE.search(message)
            return replace(self, temperature=Temperature.LEAST if least else Temperature.OWN)
        return replace(self, refused=self.refused | {name}) if name in _SPARED else None

    def with_(self, other: AcceptedParameters) -> AcceptedParameters:
        """Combine two results: the parameters that either found refused."""
        hottest = max(self.temperature, other.temperature, key=list(Temperature).index)
        return AcceptedParameters(
            NEW_LIMIT if NEW_LIMIT in (self.limit, other.limit) else LIMIT,
            hottest,
            self.refused | other.refused,
            self.several if other.several is None else other.several,
        )


def _named_parameters(refusal: RefusedRequestError, body: Json) -> Iterator[str]:
    """The parameters of a request that a refusal names: in its field, else in its message."""
    adjustable = (LIMIT, "temperature", *_SPARED)
    if refusal.parameter in body and refusal.parameter in adjustable:
        yield refusal.parameter
        return
    for name in adjustable:
        # A limit that is too high is named, too; another name helps only if the message mentions it.
        said = NEW_LIMIT if name == LIMIT else name
        if name in body and re.search(rf"(?<![\w]){said}(?![\w])", refusal.message):
            yield name


class ParameterLearner:
    """Sends requests with the parameters that an endpoint accepts, and finds those out.

    Args:
        accepted: The results so far.
        learned: Called with new results.
    """

    def __init__(
        self, accepted: AcceptedParameters, learned: Callable[[AcceptedParameters], None] = lambda _: None
    ) -> None:
        self.accepted = accepted
        self._learned = learned

    async def ask(self, payload: Json, send: Callable[[Json], Awaitable[T]]) -> T:
        """Send a request, with fewer parameters after each refusal, until it is accepted.

        Args:
            send: Sends a body, and reads the response.

        Raises:
            RefusedRequestError: it is refused because of a parameter that it needs.
            ModelError: as `send`.
        """
        refusal: RefusedRequestError | None = None
        accepted, plain = self.accepted, dict(payload)
        while True:
            try:
                answer = await send(accepted.body(plain))
            except RefusedRequestError as error:
                refusal = refusal or error
                less = accepted.after(error, plain)
                if less is None:
                    raise refusal from error.__cause__
                accepted = less
            except EmptyStreamError:
                if not plain.get("stream"):
                    raise
                plain["stream"] = False  # this once, so that the server gives the reason
            else:
                self.learn(accepted)
                return answer

    def learn(self, accepted: AcceptedParameters) -> None:
        """Record that parameters are accepted."""
        both = self.accepted.with_(accepted)
        if both != self.accepted:
            self.accepted = both
            self._learned(both)


class EndpointMemory(Generic[T]):
    """What was learned about endpoints and their models, kept between runs in a small file.

    Args:
        kind: The class of what is learned, a dataclass.
        file: The path of the file, or its name in the user's cache.
        clock: Returns the seconds since the epoch.
    """

    def __init__(self, kind: type[T], file: Path | str, clock: Callable[[], float] = time.time) -> None:
        self._kind, self._file, self._clock = kind, str(file), clock

    def lifetime(self, learned: T) -> float:  # noqa: ARG002 - what is learned may say
        """Seconds for which it is believed."""
        return WEEK

    def recall(self, identity: str) -> T | None:
        """What was learned about an endpoint and model; None if there is nothing, or it is too old."""
        try:
            value, at = msgspec.json.decode(str(recall(self._file, identity)), type=tuple[Any, float])
            learned = msgspec.convert(value, self._kind)
        except msgspec.MsgspecError:
            return None
        return learned if 0 <= self._clock() - at < self.lifetime(learned) else None

    def remember(self, identity: str, learned: T | None) -> None:
        """Store what was learned; None forgets it."""
        value = (learned, self._clock())
        note(self._file, identity, msgspec.json.encode(value, order="deterministic").decode())


class ParameterMemory(EndpointMemory[AcceptedParameters]):
    """The parameters that endpoints accept, remembered between runs."""

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        super().__init__(AcceptedParameters, file or "remote-parameters.json", clock)
