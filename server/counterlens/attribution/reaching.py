"""The number of judging tests that run a part of a function, by their baseline."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from counterlens.syntax.python_ast import parse_module

TestItem = tuple[str, str]
"""A test's file, and its name behind that as pytest gives it."""
RanBy = Mapping[int, Collection[TestItem]]
"""The lines on which a statement of a function begins, each with the tests that run it."""


@dataclass(frozen=True, slots=True)
class HoleReach:
    """How far tests reach into a hole.

    Attributes:
        tests: How many of those that judge run some of it.
        lines: On how many lines they run a statement.
        of: On how many lines a statement begins.
    """

    tests: int
    lines: int
    of: int


def into(lines: range, ran_by: RanBy, judging: Collection[TestItem]) -> HoleReach:
    """How far some tests reach into some lines."""
    by_line = [set(tests) & set(judging) for line, tests in ran_by.items() if line in lines]
    return HoleReach(len(set().union(*by_line)), sum(map(bool, by_line)), len(by_line))


def statement_lines(text: str, lines: range) -> list[int]:
    """Return those of some lines that begin a statement, ascending."""
    found = {node.lineno for node in ast.walk(parse_module(text)) if isinstance(node, ast.stmt)}
    return sorted(found.intersection(lines))
