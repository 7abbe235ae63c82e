"""A stated rate: requests are begun no closer to each other than it allows."""

from __future__ import annotations

import asyncio


class RequestPace:
    """Holds requests to a rate; lives in one event loop.

    Args:
        per_minute: Requests that may be begun in a minute; None: any number.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._between = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the next request may be begun; who waits first, begins first."""
        if not self._between:
            return
        now = asyncio.get_running_loop().time()
        begin = max(now, self._next)
        self._next = begin + self._between
        await asyncio.sleep(begin - now)
