"""The parameters that an endpoint accepts, learned from its refusals.

A parameter that is refused is given up, and asked for under its other name where it has one. What came of it
is kept once the endpoint has answered.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeVar

from counterlens.models.remote.answer import Json
from counterlens.models.remote.failures import EmptyStreamError, RefusedRequestError

T = TypeVar("T")

LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
_LEAST_TEMPERATURE: Final = 0.01
_SPARED: Final = ("stream_options", "seed", "stop", "stream")
"""Parameters that an answer can do without: Counterlens counts, and ends answers, by itself too."""
_POSITIVE: Final = re.compile(r"positive|greater than|above 0|> ?0", re.I)


class Temperature(StrEnum):
    """How low a temperature a model can be asked for."""

    ZERO = "0"
    LEAST = str(_LEAST_TEMPERATURE)
    OWN = "its own"
    """Only the one that it has by itself."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The parameters that an endpoint accepts for a model, as far as known.

    Attributes:
        limit: What it calls the limit of tokens.
        temperature: At which temperature its likeliest answer is asked for.
        refused: Parameters that it does not take.
        several: Whether it gives several answers to one request (`n`); None: not tried.
    """

    limit: str = LIMIT
    temperature: Temperature = Temperature.ZERO
    refused: frozenset[str] = field(default=frozenset())
    several: bool | None = None

    @property
    def summary(self) -> str:
        """Describe the differences from usual requests; empty if there are none."""
        said = []
        if self.temperature is Temperature.OWN:
            said.append("at the model's own temperature, because it refuses 0")
        elif self.temperature is Temperature.LEAST:
            said.append(f"at the temperature {_LEAST_TEMPERATURE}, because it refuses 0")
        if self.limit != LIMIT:
            said.append(f"with {self.limit}")
        said += [f"without {name}" for name in sorted(self.refused)]
        return ", ".join(said)

    def body(self, payload: Json) -> Json:
        """A request in what the endpoint takes."""
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

    def after(self, refusal: RefusedRequestError, payload: Json) -> Taken | None:
        """Return the next form to try after a refusal; None: none is left."""
        for name in _named(refusal, self.body(payload)):
            other = self._without(name, refusal.message)
            if other is not None:
                return other
        return None

    def _without(self, name: str, message: str) -> Taken | None:
        if name == LIMIT:
            return replace(self, limit=NEW_LIMIT)
        if name == "temperature":
            least = self.temperature is Temperature.ZERO and _POSITIVE.search(message)
            return replace(self, temperature=Temperature.LEAST if least else Temperature.OWN)
        return replace(self, refused=self.refused | {name}) if name in _SPARED else None

    def with_(self, other: Taken) -> Taken:
        """Both: what either was refused."""
        hottest = max(self.temperature, other.temperature, key=list(Temperature).index)
        return Taken(
            NEW_LIMIT if NEW_LIMIT in (self.limit, other.limit) else LIMIT,
            hottest,
            self.refused | other.refused,
            self.several if other.several is None else other.several,
        )


def _named(refusal: RefusedRequestError, body: Json) -> Iterator[str]:
    """The parameters of a request that a refusal names: the one that it gives, else those it speaks of."""
    known = (LIMIT, "temperature", *_SPARED)
    if refusal.parameter in body and refusal.parameter in known:
        yield refusal.parameter
        return
    for name in known:
        # A limit that is too high is named, too; that another name would do, only where it says so.
        said = NEW_LIMIT if name == LIMIT else name
        if name in body and re.search(rf"(?<![\w]){said}(?![\w])", refusal.message):
            yield name


class Taking:
    """Asks an endpoint in what it takes, and finds that out.

    Args:
        known: What is known before.
        learned: Called with what has become known.
    """

    def __init__(self, known: Taken, learned: Callable[[Taken], None] = lambda _: None) -> None:
        self.taken = known
        self._learned = learned

    async def ask(self, payload: Json, send: Callable[[Json], Awaitable[T]]) -> T:
        """Send a request, again and again with less, until it is taken.

        Args:
            payload: The request with all that is wanted.
            send: Sends a body, and reads the answer.

        Raises:
            RefusedRequestError: it is refused for something that it cannot do without.
            ModelError: as `send`.
        """
        refusal: RefusedRequestError | None = None
        taken, plain = self.taken, dict(payload)
        while True:
            try:
                answer = await send(taken.body(plain))
            except RefusedRequestError as error:
                refusal = refusal or error
                less = taken.after(error, plain)
                if less is None:
                    raise refusal from error.__cause__
                taken = less
            except EmptyStreamError:
                if not plain.get("stream"):
                    raise
                plain["stream"] = False  # this once: it then says why
            else:
                self.learn(taken)
                return answer

    def learn(self, taken: Taken) -> None:
        """Something is known to be taken."""
        both = self.taken.with_(taken)
        if both != self.taken:
            self.taken = both
            self._learned(both)
