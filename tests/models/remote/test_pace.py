"""The pace of requests over real connections: rates, waits that are asked for, places that adapt."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

from counterlens.errors import ModelError
from counterlens.models.base import Prompt, Stop
from counterlens.models.remote.client import Retries, Timeouts, asked_wait
from counterlens.models.remote.model import RemoteModel
from counterlens.models.remote.pace import LearnedRate, Slots
from tests.models.remote.test_requests import FAST, error, whole

if TYPE_CHECKING:
    from tests.models.remote.conftest import Handler, Serve

GIVEN = whole("\n    return x\n", usage={"prompt_tokens": 10, "completion_tokens": 5})


def prompts(count: int) -> list[Prompt]:
    return [Prompt(f"def f{i}(x):\n", 50, Stop(indent=0)) for i in range(count)]


class Limited:
    """A server that answers so many requests a second, and refuses the others without saying more."""

    def __init__(self, per_second: float) -> None:
        self.refused, self._lock = 0, threading.Lock()
        self._per_second, self._tokens, self._at = per_second, 1.0, time.monotonic()

    def __call__(self, handler: Handler) -> None:
        with self._lock:
            now = time.monotonic()
            self._tokens = min(2.0, self._tokens + (now - self._at) * self._per_second)
            self._at = now
            given = self._tokens >= 1
            self._tokens -= given
            self.refused += not given
        (GIVEN if given else error(429, "slow down"))(handler)


def test_a_rate_that_nobody_states_is_learned_and_nothing_is_lost(serve: Serve) -> None:
    limit = Limited(20)
    script = serve(limit)
    with RemoteModel(script.url, "m", concurrency=8, retries=FAST) as model:
        assert len(model.complete(prompts(60))) == 60
    assert limit.refused < 60  # a client that only tried again later would be refused far more often


def test_who_is_told_to_wait_keeps_the_others_waiting_too(serve: Serve) -> None:
    begun: list[float] = []
    lock = threading.Lock()

    def answer(handler: Handler) -> None:
        with lock:
            begun.append(time.monotonic())
            first = len(begun) == 1
        (error(429, "slow down", Retry_After="1") if first else GIVEN)(handler)

    with RemoteModel(serve(answer).url, "m", concurrency=1, retries=FAST) as model:
        model.complete(prompts(4))
    assert len(begun) == 5
    assert begun[1] - begun[0] >= 1


@pytest.mark.parametrize("status", [503, 529])
def test_an_overloaded_server_gets_fewer_requests_at_a_time(serve: Serve, status: int) -> None:
    seen: list[int] = []

    def answer(handler: Handler) -> None:  # what counts are the requests that the client allows itself
        seen.append(model._client._pace.places.allowed)
        (error(status) if seen[-1] > 2 else GIVEN)(handler)

    patient = Retries(count=12, first=0.01, longest=0.05)
    with RemoteModel(serve(answer).url, "m", concurrency=8, retries=patient) as model:
        assert len(model.complete(prompts(40))) == 40
    assert seen[0] == 8
    assert sum(seen[-20:]) / 20 < 4


def test_tokens_a_minute_are_held_and_what_was_not_used_is_given_back(serve: Serve) -> None:
    script = serve(GIVEN)
    with RemoteModel(script.url, "m", concurrency=4, tokens_per_minute=6000) as model:
        start = time.monotonic()
        model.complete(prompts(5))
        first = time.monotonic() - start
    assert first >= 4 * 15 / 100  # five answers of 15 tokens, at 100 a second, the first of them at once
    assert model.usage.tokens == 75


def test_what_a_rate_holds_back_is_no_time_of_the_request(serve: Serve) -> None:
    script = serve(GIVEN)
    timeout = Timeouts(total=0.4)
    with RemoteModel(
        script.url, "m", concurrency=1, requests_per_minute=120, timeout=timeout
    ) as model:  # two a second
        assert len(model.complete(prompts(4))) == 4


def test_a_wait_beyond_patience_holds_nobody_back(serve: Serve) -> None:
    script = serve(error(429, "tomorrow", Retry_After="3600"), GIVEN)
    with RemoteModel(script.url, "m", concurrency=1, retries=FAST) as model:
        with pytest.raises(ModelError, match="limits the rate"):
            model.complete(prompts(1))
        start = time.monotonic()
        model.complete(prompts(1))
    assert time.monotonic() - start < 15


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "1s"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "later"}, None),
    ],
)
def test_servers_say_in_several_ways_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers) == seconds


def test_a_learned_rate_is_what_was_answered_and_is_forgotten_by_and_by() -> None:
    rate = LearnedRate()
    rate.begun(0.0)
    for _ in range(10):
        rate.answered()
    assert rate.refused(5.0, 4.9)
    assert rate.between == pytest.approx(0.55)  # ten in five seconds, and a tenth slower
    assert not rate.refused(5.1, 4.95)  # it was begun before that was known
    assert rate.refused(6.0, 5.5)
    assert rate.between == pytest.approx(1.1)
    for _ in range(400):
        rate.answered()
    assert rate.between == 0


def test_places_are_given_in_turn_and_lost_ones_are_given_to_others() -> None:
    async def scene() -> list[str]:
        places, order = Slots(4), list[str]()
        places.fewer()
        await places.enter()
        await places.enter()

        async def enter(name: str) -> None:
            await places.enter()
            order.append(name)

        one, two, three = (asyncio.create_task(enter(name)) for name in ("one", "two", "three"))
        await asyncio.sleep(0)
        one.cancel()
        await asyncio.sleep(0)
        places.leave()
        await asyncio.sleep(0)
        assert order == ["two"]
        places.answered()
        places.answered()  # so many as are allowed: one more is
        await asyncio.sleep(0)
        assert places.allowed == 3
        await asyncio.gather(one, two, three, return_exceptions=True)
        return order

    assert asyncio.run(scene()) == ["two", "three"]
