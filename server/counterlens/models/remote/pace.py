"""Pace: how many requests are under way at one endpoint, and how fast they follow each other.

A stated rate is held from the first request on. What an endpoint allows beyond that is learned from its
refusals: all wait as long as it asks to, fewer are under way at a time, and they are spaced as far apart as
those that it did answer. What was learned is slowly forgotten while it answers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

_SLOWER: Final = 1.1  # than the rate that was seen to be answered
_FORGOTTEN: Final = 0.97  # of a learned distance, what is left of it after each answer
_LEAST: Final = 0.05  # seconds between two requests, where some distance was learned
_MOST: Final = 60.0


class Slots:
    """Requests at the same time: as many as are allowed, fewer while the endpoint cannot bear them.

    Args:
        most: At most so many.
    """

    def __init__(self, most: int) -> None:
        self._most = self.allowed = max(1, most)
        self._taken = self._answered = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Wait for a place; who waits first, gets it first."""
        if self._taken < self.allowed and not self._waiting:
            self._taken += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._waiting.remove(place)
            else:  # it was given at the same moment
                self.leave()
            raise

    def leave(self) -> None:
        """Give a place back."""
        self._taken -= 1
        self._fill()

    def answered(self) -> None:
        """A request was answered: after as many as are allowed, one more is."""
        self._answered += 1
        if self.allowed < self._most and self._answered >= self.allowed:
            self.allowed, self._answered = self.allowed + 1, 0
            self._fill()

    def fewer(self) -> None:
        """Allow half as many."""
        self.allowed, self._answered = max(1, self.allowed // 2), 0

    def _fill(self) -> None:
        while self._waiting and self._taken < self.allowed:
            place = self._waiting.popleft()
            if not place.done():
                self._taken += 1
                place.set_result(None)


class LearnedRate:
    """The seconds between two requests that an endpoint was seen to bear; 0 while it bears any."""

    def __init__(self) -> None:
        self.between = 0.0
        self._since: float | None = None
        self._answered = 0

    def begun(self, now: float) -> None:
        """A request is begun."""
        self._since = now if self._since is None else self._since

    def answered(self) -> None:
        """A request was answered."""
        self._answered += 1
        self.between *= _FORGOTTEN
        if self.between < _LEAST / 10:
            self.between = 0.0

    def refused(self, now: float, begun: float) -> bool:
        """A request was refused; whether that says more than the refusals before it did."""
        if self._since is None or (begun < self._since and self.between):
            return False
        seen = _SLOWER * (now - self._since) / self._answered if self._answered else 2 * self.between
        self.between = min(_MOST, max(_LEAST, self.between, seen))
        self._since, self._answered = now, 0
        return True


class Pace:
    """Holds requests to one endpoint to its pace; lives in one event loop.

    Args:
        concurrency: Requests at the same time, at most.
        requests_per_minute: Requests that may be begun in a minute; None: any number.
        tokens_per_minute: Tokens of them and their answers; None: any number.

    Attributes:
        answered: How many were answered.
    """

    def __init__(
        self,
        concurrency: int = 4,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self.places = Slots(concurrency)
        self.learned = LearnedRate()
        self.answered = 0
        self._between = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._each = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._next = self._next_tokens = self._pause = 0.0

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[HeldRequest]:
        """A request, from when it may be begun until it is over; who waits first, begins first.

        Args:
            tokens: About how many it and its answer have.
        """
        asked = _now()
        await self.places.enter()
        try:
            while (begin := self._reserved(tokens)) > _now():
                await asyncio.sleep(begin - _now())
                if self._pause <= _now():
                    break
            turn = HeldRequest(self, _now(), _now() - asked, tokens)
            self.learned.begun(turn.begun)
            yield turn
        finally:
            self.places.leave()

    def _reserved(self, tokens: int) -> float:
        """When the next request may be begun, which is then taken."""
        begin = max(_now(), self._next, self._next_tokens, self._pause)
        self._next = begin + max(self._between, self.learned.between)
        self._next_tokens = begin + tokens * self._each
        return begin

    def settle(self, expected: int, counted: int) -> None:
        """Give back the tokens that a request was expected to have and had not."""
        self._next_tokens -= (expected - counted) * self._each

    def hold(self, seconds: float) -> None:
        """Begin nothing for so long."""
        self._pause = max(self._pause, _now() + seconds)


class HeldRequest:
    """One request at an endpoint.

    Attributes:
        begun: When.
        waited: For how long it was held back.
    """

    def __init__(self, pace: Pace, begun: float, waited: float, tokens: int) -> None:
        self.begun, self.waited = begun, waited
        self._pace, self._tokens = pace, tokens

    def answered(self, tokens: int) -> None:
        """It was answered; with its answer it had so many tokens."""
        self._pace.answered += 1
        self._pace.places.answered()
        self._pace.learned.answered()
        self._pace.settle(self._tokens, tokens)

    def too_fast(self, wait: float | None) -> None:
        """It was refused because too many came before it; `wait`: what the endpoint asks for, in seconds."""
        self._pace.settle(self._tokens, 0)
        if self._pace.learned.refused(_now(), self.begun):
            self._pace.places.fewer()
        if wait is not None:
            self._pace.hold(wait)

    def too_much(self) -> None:
        """The endpoint was overloaded."""
        self._pace.settle(self._tokens, 0)
        self._pace.places.fewer()


def _now() -> float:
    return asyncio.get_running_loop().time()
