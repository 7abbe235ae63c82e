"""Wrappers of builtins that end silently in a loop of the tests: `next`, `zip`, `map` of several."""

from __future__ import annotations

import builtins
import sys

from ...imported_ahead import own_modules
from .flows import SIZED, is_of_tests
from .proxies import ProxyObject

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
_CONNECTION = ".isolated."  # the modules that run no code of tests in their own namespace
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


def watch(ended: Callable[[], None], shorter: Callable[[Any], None]) -> None:
    """Replace these builtins for the tests.

    Args:
        ended: Called if `next` finds no item in a function of the tests that another one of theirs calls.
        shorter: Called with a container that `zip` or `map` of the tests gets together with a longer one;
            with None if an object of the program gives fewer items.
    """
    real_next, real_zip, real_map = next, zip, map

    def watched_next(*arguments: Any) -> Any:
        __tracebackhide__ = True
        try:
            return real_next(*arguments)
        except StopIteration:
            frame = sys._getframe(1)
            if is_of_tests(frame) and frame.f_back is not None and is_of_tests(frame.f_back):
                ended()
            raise

    class Zip(zip):  # type: ignore[type-arg]
        def __new__(cls, *containers: Any, **options: Any) -> Any:
            if is_of_tests(sys._getframe(1)):
                containers = _compared(containers, shorter)
            return real_zip.__new__(real_zip, *containers, **options)

    class Map(map):  # type: ignore[type-arg]
        def __new__(cls, function: Any, *containers: Any, **options: Any) -> Any:
            if is_of_tests(sys._getframe(1)):
                containers = _compared(containers, shorter)
            return real_map.__new__(real_map, function, *containers, **options)

    Zip.__name__, Map.__name__ = "zip", "map"
    _replace({"next": watched_next, "zip": Zip, "map": Map})


def _compared(containers: tuple[Any, ...], shorter: Callable[[Any], None]) -> tuple[Any, ...]:
    """The iterables of a joint loop, with known lengths compared, and the program's items counted."""
    sized = [each for each in containers if type(each) in SIZED]
    if len({len(each) for each in sized}) > 1:
        shorter(min(sized, key=len))
    longest = max(map(len, sized), default=0)
    return tuple(
        _counted(each, longest, shorter) if isinstance(each, ProxyObject) else each for each in containers
    )


def _counted(items: Any, wanted: int, shorter: Callable[[Any], None]) -> Iterator[Any]:
    number = 0
    for item in items:
        number += 1
        yield item
    if number < wanted:
        shorter(None)


def _replace(others: dict[str, Any]) -> None:
    """Replace builtins, also in the copy that this package lends to tests, but not in our connection."""
    ours = [sys.modules[name] for name in own_modules() if _CONNECTION not in name]
    for name, instead in others.items():
        vars(builtins)[name] = instead
        for module in ours:
            if isinstance(vars(module).get("__builtins__"), dict):
                vars(module)["__builtins__"][name] = instead
