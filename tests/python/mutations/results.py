"""Counterfactuals that claim to keep a program's meaning and leave another `result`, by running them."""

from __future__ import annotations

from collections.abc import Set
from types import ModuleType

from counterlens.mutations import Counterfactual, counterfactuals, refusals
from counterlens.python.mutations.declarations import ReorderParameters
from counterlens.python.mutations.language import MUTATIONS

PRESERVING = [name for name, mutation in MUTATIONS.items() if mutation.preserving]


def result_of(source: str) -> str:
    """The value of `result` after a program ran, or its exception."""
    names: dict[str, object] = {"__name__": "program"}
    try:
        exec(compile(source, "<program>", "exec"), names)  # noqa: S102
    except Exception as error:
        return f"raised {error!r}"
    return repr(names["result"])


def altered(source: str, excused: Set[str] = frozenset()) -> list[str]:
    """The descriptions of the preserving counterfactuals that leave another result.

    Args:
        source: A program that binds `result`.
        excused: Assumptions whose counterfactuals may leave another one.
    """
    before = result_of(source)
    assert not before.startswith("raised"), before
    mutations = [*PRESERVING, ReorderParameters(whole_program=True)]
    return [
        f"{pair.mutation}: {pair.description}: {result_of(pair.source)}, not {before}"
        for pair in counterfactuals(source, mutations=mutations)
        if not excused.intersection(pair.assumptions) and result_of(pair.source) != before
    ]


FRAMES = """
import re
import sys


class Table:
    def __init__(self, rows):
        self.rows = rows

    def query(self, text):
        names = sys._getframe(1).f_locals
        return [row for row in self.rows if row > names[re.findall(r"@(\\w+)", text)[0]]]


def sql(text):
    return sum(sys._getframe(1).f_locals[text.split()[-1]])


def evaluate(text):
    names = sys._getframe(1).f_locals
    left, right = text.split(" + ")
    return names[left] + names[right]


def peek(frame, name):
    return frame.f_locals[name]
"""


def library_of_frames() -> ModuleType:
    """A library that reads its caller's variables, as `framelib`."""
    module = ModuleType("framelib")
    exec(FRAMES, module.__dict__)  # noqa: S102
    return module


def lines(*parts: str) -> str:
    return "def f(xs):\n" + "".join(f"    {part}\n" for part in parts) + "result = f([3, 1, 2])\n"


def reasons(source: str, mutation: str) -> list[str]:
    return [refusal.reason for refusal in refusals(source, mutations=[mutation])]


def made(source: str, mutation: str) -> list[Counterfactual]:
    return counterfactuals(source, mutations=[mutation])
