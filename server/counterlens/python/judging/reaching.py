"""The number of judging tests that run a part of a function, from the baseline."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from counterlens.judging.base import HoleReach
from counterlens.python.syntax.parsing import parse_module

TestItem = tuple[str, str]
"""A test's file, and its pytest id after the file."""
RanBy = Mapping[int, Collection[TestItem]]
"""The lines on which a statement of a function begins, each with the tests that run that line."""


def into(lines: range, ran_by: RanBy, judging: Collection[TestItem]) -> HoleReach:
    """The coverage of some lines by some tests."""
    by_line = [set(tests) & set(judging) for line, tests in ran_by.items() if line in lines]
    return HoleReach(len(set().union(*by_line)), sum(map(bool, by_line)), len(by_line))


def statement_lines(text: str, lines: range) -> list[int]:
    """Return the lines, of those given, on which a statement begins, ascending."""
    starts = {node.lineno for node in ast.walk(parse_module(text)) if isinstance(node, ast.stmt)}
    return sorted(starts.intersection(lines))
