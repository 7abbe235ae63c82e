"""Parses that meet, in threads or in a finalizer, give the trees that they would give alone."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from counterlens.python.judging.differential.original import reach
from counterlens.python.syntax.parsing import parse_expression, parse_module

SOURCE = "\n".join(
    f"def f{i}(a, b):\n    return [x + (b * {i}) for x in a if x < (1, {i})]" for i in range(40)
)


class Knot:
    """An object that only the garbage collector frees, with code to run when it does."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads that take turns all the time, and a garbage collector that runs in the middle of a parse."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(5)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


@pytest.mark.usefixtures("restless")
def test_threads_parse_side_by_side() -> None:
    def parse_often(_: int) -> set[str]:
        found = set()
        for _ in range(30):
            Knot()
            found.add(
                f"{len(parse_module(SOURCE).body)} {ast.unparse(parse_expression('f(1, [2, (3, 4)])'))}"
            )
        return found

    with ThreadPoolExecutor(4) as pool:
        assert set.union(*pool.map(parse_often, range(4))) == {"40 f(1, [2, (3, 4)])"}


@pytest.mark.usefixtures("restless")
def test_what_the_garbage_collector_runs_may_parse_too() -> None:
    def parse(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            parse_expression("1 + 1")

    gc.callbacks.append(parse)
    try:
        assert len(parse_module(SOURCE).body) == 40
        assert reach(SOURCE, range(1, 3), []).all_lines == 2
        assert gc.isenabled()
    finally:
        gc.callbacks.remove(parse)
