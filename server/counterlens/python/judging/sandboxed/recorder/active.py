"""Values that show what they are only in use: they are awaited, entered or called.

A coroutine is awaited, an asynchronous generator collected, a context manager of `contextlib` entered and
left, and a function called with a few plain values and with the arguments of the call that gave it.
"""

from __future__ import annotations

import copy
import functools
import operator
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ITEMS = 1000  # maximum items taken from an asynchronous generator
_CALLABLE = (
    types.FunctionType,
    types.MethodType,
    functools.partial,
    type(functools.lru_cache(len)),
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
)
_ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    (), (0,), (1,), (5,), (-3,), ("ab",), ([2, 1],), ({"a": 1},), (2, 3), ("ab", "b"), ([1, 2], 1), (3, 1, 2),
)  # fmt: skip


def first(*values: Any) -> Any:
    """The function that a function is called with."""
    return values[0] if values else None


def is_callable(value: Any) -> bool:
    """Whether a value is a function that can be observed by calling it."""
    return isinstance(value, _CALLABLE)


def probes(own: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Arguments for a function that came back from a call with some plain arguments."""
    more = [own[:size] for size in range(1, len(own) + 1)]
    return copy.deepcopy([(first,), *_ARGUMENTS, *more])


def label(arguments: tuple[Any, ...]) -> str:
    """Some arguments as text, without addresses."""
    return "(a function)" if arguments == (first,) else repr(arguments)


def is_context(value: Any) -> bool:
    """Whether a value is a context manager that a generator makes."""
    kind = type(value)
    return kind.__module__ == "contextlib" and kind.__name__ == "_GeneratorContextManager"


def awaited(value: Any) -> Callable[[], Any] | None:
    """A function that awaits a value; None if it is nothing to wait for."""
    if isinstance(value, types.CoroutineType):
        return lambda: _run(value)
    if isinstance(value, types.AsyncGeneratorType):
        return lambda: _run(_collected(value))
    kind = type(value)
    if kind.__module__ == "contextlib" and kind.__name__ == "_AsyncGeneratorContextManager":
        return lambda: _run(_entered(value))
    return None


async def _collected(generator: Any) -> list[Any]:
    items = []
    async for item in generator:
        items.append(item)
        if len(items) >= ITEMS:
            break
    return items


async def _entered(context: Any) -> Any:
    async with context as value:
        return value


def _run(awaitable: Any) -> Any:
    """The result of an awaitable, on a loop whose clock jumps to the next moment that something waits for."""
    import asyncio
    import selectors

    class Selector(selectors.SelectSelector):
        now = 0.0

        def select(self, timeout: float | None = None) -> Any:
            if timeout is None or timeout <= 0:
                return super().select(timeout)
            ready = super().select(0)
            if not ready:
                self.now += timeout
            return ready

    selector = Selector()

    class Loop(asyncio.SelectorEventLoop):
        def time(self) -> float:
            return selector.now

    loop = Loop(selector)
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(awaitable)
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()
