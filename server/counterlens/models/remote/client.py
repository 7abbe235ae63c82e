"""HTTP requests to one endpoint: time-outs and retries, at no cost when they are not needed."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import json
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

import httpx

from counterlens import __version__
from counterlens.errors import ModelError
from counterlens.models.remote import failures
from counterlens.models.remote.answer import Answer, Json, body
from counterlens.models.remote.endpoint import Endpoint
from counterlens.models.remote.failures import Load, PassingError, Transient
from counterlens.models.remote.metering import LIMITS, Meter
from counterlens.models.remote.pace import HeldRequest, Pace

_KINDS: Final = ("requests", "tokens")
_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")

T = TypeVar("T")

Read = Callable[[Answer], Awaitable[T]]
"""Reads a response; it may end early, which closes the connection. Called again for each attempt."""

_random: Final = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits, in seconds.

    Attributes:
        connect: For a connection.
        read: For the next bytes of a response, including the first.
        total: For one prompt, including retries, but not the time that the endpoint's pace holds it back.
    """

    connect: float = 10.0
    read: float = 120.0
    total: float = 600.0

    def piece(self, payload: Json | None) -> float:
        """For the next piece of an answer, including the first: about a token, or all of it if not streamed.

        A model may reason out of sight before it answers, so a request for more tokens has more time.
        """
        limit = (
            next((payload[name] for name in LIMITS if isinstance(payload.get(name), int)), 0)
            if payload
            else 0
        )
        return 1.25 * self.read + 0.1 * limit


@dataclass(frozen=True, slots=True)
class Retries:
    """When to repeat a request that ended with a rate limit, a server error or a broken connection.

    Attributes:
        count: Maximum number of retries.
        first: Seconds before the first retry; doubled each time, then shortened at random by up to half.
        longest: Maximum number of seconds between two attempts, if the server does not ask for a delay.
        patience: Maximum number of seconds that a server may ask to wait; after a longer one there is no
            retry.
    """

    count: int = 4
    first: float = 0.5
    longest: float = 30.0
    patience: float = 90.0  # rate limits are per minute

    def delay(self, attempt: int, asked: float | None) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 0); None if it was the last."""
        if attempt >= self.count or (asked is not None and asked > self.patience):
            return None
        backoff = min(self.longest, self.first * 2**attempt) * _random.uniform(0.5, 1.0)
        # All clients refused together get the same time: spread them a little beyond it.
        return backoff if asked is None else asked + self.first * _random.uniform(0.0, 0.5)


class HttpClient:
    """Requests to one endpoint; belongs to one event loop.

    Args:
        timeouts: Time limits.
        retries: When to repeat a request.
        pace: Limits the number and the rate of requests.
        meter: Counts tokens.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        timeouts: Timeouts,
        retries: Retries,
        pace: Pace | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._retries = retries
        self._pace, self._meter = pace or Pace(), meter or Meter()
        self._client: httpx.AsyncClient | None = None

    async def post(self, path: str, payload: Json, read: Read[T], *, retry: bool = True) -> T:
        """Send a request, and read the response.

        Args:
            path: The path after the base URL.
            read: Reads the response piece by piece.
            retry: Whether to repeat the request if that may help.

        Raises:
            ModelError: there is no response, or none that can be read.
        """
        return await self._attempts("POST", path, payload, read, self._retries if retry else Retries(0))

    async def get(self, path: str, *, retry: bool = True) -> Json:
        """Request one JSON object; `retry`: whether to repeat the request if that may help.

        Raises:
            ModelError: there is no response, or none that can be read.
        """

        async def first(answer: Answer) -> Json:
            async for content in answer:
                return content
            raise failures.of_answer("with nothing", self._endpoint)

        return await self._attempts("GET", path, None, first, self._retries if retry else Retries(0))

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _attempts(
        self, method: str, path: str, payload: Json | None, read: Read[T], retries: Retries
    ) -> T:
        attempt = 0
        try:
            async with asyncio.timeout(self._timeouts.total) as limit:
                while True:
                    answered = self._pace.answered
                    try:
                        if payload is None:
                            return await self._attempt(method, path, None, read)
                        return await self._in_turn(path, payload, read, limit)
                    except Transient as failure:
                        # While other requests are answered, one that came too fast only has to wait.
                        passed = failure.load is Load.TOO_FAST and self._pace.answered > answered
                        delay = retries.delay(0 if passed else attempt, failure.wait)
                        if delay is None:
                            raise _given_up(failure, attempt) from failure.__cause__
                    if passed:
                        _longer(limit, delay)
                    attempt += not passed
                    await asyncio.sleep(delay)
        except TimeoutError:
            raise PassingError(
                f"{self._endpoint.address} did not finish within {self._timeouts.total:g} s",
                "Try again, request fewer tokens, or allow more time",
            ) from None

    async def _in_turn(self, path: str, payload: Json, read: Read[T], limit: asyncio.Timeout) -> T:
        """Make an attempt when the pace allows it; its time limit does not run before."""
        remaining = (limit.when() or 0.0) - asyncio.get_running_loop().time()
        limit.reschedule(None)
        async with self._pace.turn(self._meter.expected(payload)) as turn:
            limit.reschedule(asyncio.get_running_loop().time() + remaining)
            try:
                return await self._attempt("POST", path, payload, read, turn)
            except Transient as failure:
                if failure.load is Load.TOO_FAST:
                    waited_for = failure.wait is not None and failure.wait <= self._retries.patience
                    turn.too_fast(failure.wait if waited_for else None)
                elif failure.load is Load.TOO_MUCH:
                    turn.too_much()
                raise

    async def _attempt(
        self, method: str, path: str, payload: Json | None, read: Read[T], turn: HeldRequest | None = None
    ) -> T:
        url = self._endpoint.url + path
        deadline = _PieceDeadline(self._timeouts.piece(payload))
        # Escaped, so that the server can refuse a lone surrogate in a prompt, without a crash here.
        content = None if payload is None else json.dumps(payload).encode("ascii")
        try:
            async with deadline, self._open().stream(method, url, content=content) as response:
                if not response.is_success:
                    said = await body(response, self._endpoint)
                    wait = asked_wait(response.headers)
                    raise failures.of_status(response.status_code, said, self._endpoint, url, wait)
                async with contextlib.aclosing(Answer(response, self._endpoint)) as answer:
                    deadline.follow(answer)
                    if payload is None or turn is None:
                        return await read(answer)
                    try:
                        value = await read(answer)
                    except BaseException:
                        if answer.pieces:  # generated tokens are paid for, whatever happened to the rest
                            self._meter.count(payload, answer)
                        raise
                    turn.answered(self._meter.count(payload, answer).tokens)
                    return value
        except TimeoutError:  # not repeated: each time, it would hold the prompt as long
            raise PassingError(
                f"{self._endpoint.address} sent no part of an answer within {deadline.seconds:g} s",
                "Try again, or check the server",
            ) from None
        except httpx.HTTPError as error:
            raise failures.of_transport(error, self._endpoint) from error
        except httpx.InvalidURL as error:
            raise ModelError(f"the base URL cannot be used: {error}") from error

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            headers = {
                "User-Agent": f"counterlens/{__version__}",
                "Accept": "text/event-stream, application/json",
                "Accept-Encoding": "gzip, deflate",  # those that `expanding` undoes, and bounds
                "Content-Type": "application/json",
            }
            if self._endpoint.key is not None:
                headers["Authorization"] = f"Bearer {self._endpoint.key.value}"
            times = self._timeouts
            try:
                self._client = httpx.AsyncClient(
                    headers=headers,
                    timeout=httpx.Timeout(times.read, connect=times.connect, pool=None),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
                    # Reading all certificates takes a while, and plain http here needs none.
                    verify=self._endpoint.secure or not self._endpoint.loopback,
                    # A proxy cannot reach this machine's own ports, and need not know about them.
                    trust_env=not self._endpoint.loopback,
                )
            except (ValueError, ImportError, OSError) as error:
                raise ModelError(
                    f"the network settings of the environment cannot be used ({type(error).__name__})",
                    "Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
                ) from None
        return self._client


class _PieceDeadline:
    """Ends an attempt if no piece of its answer arrives in time; bytes alone, such as a drip, are none."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._timeout = asyncio.timeout(seconds)
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(kind, value, traceback)

    def follow(self, answer: Answer, seen: int = 0) -> None:
        """Look at an answer repeatedly, and extend the time when a piece has arrived."""
        loop = asyncio.get_running_loop()
        if answer.pieces > seen and not self._timeout.expired():
            self._timeout.reschedule(loop.time() + self.seconds)
        self._timer = loop.call_later(min(1.0, self.seconds / 4), self.follow, answer, answer.pieces)


def _given_up(failure: Transient, repetitions: int) -> PassingError:
    error = failure.error
    times = f" (asked {repetitions + 1} times)" if repetitions else ""
    hint = (
        error.hint
        if failure.wait is None
        else f"The server asks to wait {failure.wait:.0f} s; then try again"
    )
    return PassingError(error.message + times, hint)


def _longer(limit: asyncio.Timeout, seconds: float) -> None:
    """Extend a time limit."""
    when = limit.when()
    if when is not None:
        limit.reschedule(when + seconds)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from the headers of a response; None if it does not say.

    `Retry-After` (RFC 9110, section 10.2.3), `retry-after-ms`, or the reset time of an exhausted rate limit:
    `x-ratelimit-remaining-requests: 0` with `x-ratelimit-reset-requests: 6m0s`.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    after = _retry_after(headers.get("retry-after"))
    if after is not None:
        return after
    used_up = [kind for kind in _KINDS if _number(headers.get(f"x-ratelimit-remaining-{kind}")) == 0]
    resets = [_duration(headers.get(f"x-ratelimit-reset-{kind}", "")) for kind in used_up]
    return max((reset for reset in resets if reset is not None), default=None)


def _retry_after(value: str | None) -> float | None:
    """A number of seconds, or a date."""
    if not value:
        return None
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _duration(value: str) -> float | None:
    """Seconds of a duration such as `6m0s`, `1.5s` or `20ms`."""
    match = _DURATION.fullmatch(value.strip())
    if not match or not any(match.groups()):
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return 3600 * hours + 60 * minutes + seconds + milliseconds / 1000


def _number(value: str | None) -> float | None:
    return float(value) if value and re.fullmatch(r"\s*\d+(\.\d+)?\s*", value) else None
