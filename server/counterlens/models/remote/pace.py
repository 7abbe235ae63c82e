"""Pace: the number of concurrent requests to one endpoint, and the rate at which they follow each other.

A stated rate limit applies from the first request on. Other limits of an endpoint are learned from its
refusals: all requests wait as long as it asks, fewer run concurrently, and they are spaced like those that it
answered. The learned limits slowly relax while it answers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

_SLOWER: Final = 1.1  # than the rate that was answered
_FORGOTTEN: Final = 0.97  # factor on a learned interval after each answer
_LEAST: Final = 0.05  # seconds between two requests, if an interval was learned
_MOST: Final = 60.0


class Slots:
    """Concurrent requests: up to the limit, and fewer while the endpoint is overloaded.

    Args:
        most: Maximum number of concurrent requests.
    """

    def __init__(self, most: int) -> None:
        self._most = self.allowed = max(1, most)
        self._taken = self._answered = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Wait for a slot; first come, first served."""
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
        """Give a slot back."""
        self._taken -= 1
        self._fill()

    def answered(self) -> None:
        """Record an answer; after as many answers as there are slots, one more slot is allowed."""
        self._answered += 1
        if self.allowed < self._most and self._answered >= self.allowed:
            self.allowed, self._answered = self.allowed + 1, 0
            self._fill()

    def fewer(self) -> None:
        """Halve the number of slots."""
        self.allowed, self._answered = max(1, self.allowed // 2), 0

    def _fill(self) -> None:
        while self._waiting and self._taken < self.allowed:
            place = self._waiting.popleft()
            if not place.done():
                self._taken += 1
                place.set_result(None)


class LearnedRate:
    """The learned interval between two requests, in seconds; 0 if there is none."""

    def __init__(self) -> None:
        self.between = 0.0
        self._since: float | None = None
        self._answered = 0

    def begun(self, now: float) -> None:
        """Record the beginning of a request."""
        self._since = now if self._since is None else self._since

    def answered(self) -> None:
        """Record an answer."""
        self._answered += 1
        self.between *= _FORGOTTEN
        if self.between < _LEAST / 10:
            self.between = 0.0

    def refused(self, now: float, begun: float) -> bool:
        """Record a refusal; return whether it adds information to the earlier ones."""
        if self._since is None or (begun < self._since and self.between):
            return False
        seen = _SLOWER * (now - self._since) / self._answered if self._answered else 2 * self.between
        self.between = min(_MOST, max(_LEAST, self.between, seen))
        self._since, self._answered = now, 0
        return True


class Pace:
    """Limits requests to one endpoint to its pace; belongs to one event loop.

    Args:
        concurrency: Maximum number of concurrent requests.
        requests_per_minute: Maximum number of requests begun per minute; None: unlimited.
        tokens_per_minute: Maximum number of tokens per minute, in requests and responses; None: unlimited.

    Attributes:
        answered: Number of answered requests.
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
        """Hold a request while the context lasts; first come, first served.

        Args:
            tokens: Estimated number of tokens of the request and its response.
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
        """Reserve the time at which the next request may begin, and return it."""
        begin = max(_now(), self._next, self._next_tokens, self._pause)
        self._next = begin + max(self._between, self.learned.between)
        self._next_tokens = begin + tokens * self._each
        return begin

    def settle(self, expected: int, counted: int) -> None:
        """Return the tokens that a request was expected to use and did not."""
        self._next_tokens -= (expected - counted) * self._each

    def hold(self, seconds: float) -> None:
        """Begin no request for `seconds` seconds."""
        self._pause = max(self._pause, _now() + seconds)


class HeldRequest:
    """One request at an endpoint.

    Attributes:
        begun: Time of its beginning.
        waited: Seconds for which it was held back.
    """

    def __init__(self, pace: Pace, begun: float, waited: float, tokens: int) -> None:
        self.begun, self.waited = begun, waited
        self._pace, self._tokens = pace, tokens

    def answered(self, tokens: int) -> None:
        """Record the answer; `tokens`: number of tokens of request and response."""
        self._pace.answered += 1
        self._pace.places.answered()
        self._pace.learned.answered()
        self._pace.settle(self._tokens, tokens)

    def too_fast(self, wait: float | None) -> None:
        """Record a refusal because of the rate; `wait`: seconds that the endpoint asks to wait, if any."""
        self._pace.settle(self._tokens, 0)
        if self._pace.learned.refused(_now(), self.begun):
            self._pace.places.fewer()
        if wait is not None:
            self._pace.hold(wait)

    def too_much(self) -> None:
        """Record an overload of the endpoint."""
        self._pace.settle(self._tokens, 0)
        self._pace.places.fewer()


def _now() -> float:
    return asyncio.get_running_loop().time()
