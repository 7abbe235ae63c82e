"""States of a traced function to ask about: the value of a variable after the k-th run of a line."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from counterlens.counting import plural
from counterlens.probes.observe.run import Step
from counterlens.probes.prompts.literals import Literal, literal
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function
from counterlens.syntax.python_ast import parse_module

MARK = "# HERE"
"""Stands behind the line that is asked about."""
MOST_POINTS = 3
"""Maximum number of states per call."""
MOST_TIMES = 5
"""States are asked about while a line has not run more often than this."""


@dataclass(frozen=True, slots=True)
class Point:
    """One state to ask about: the value of a variable after the k-th run of a line.

    Attributes:
        line: The line, 1-based.
        times: How often it has run.
        variable: The variable, which the line has just changed.
        truth: Its value then.
    """

    line: int
    times: int
    variable: str
    truth: Literal


def points(document: Document, function: Function, steps: Sequence[Step], *, seed: int) -> list[Point]:
    """States to ask about, at different places, drawn at random; in the order in which they come about.

    Args:
        document: The program.
        function: The function that was traced.
        steps: Its effect.
        seed: Random seed of the draw.
    """
    lines = _simple_lines(document, function)
    times: Counter[int] = Counter()
    states: dict[tuple[int, str], list[tuple[int, Point]]] = {}
    for number, step in enumerate(steps):
        times[step.line] += 1
        if step.line not in lines or times[step.line] > MOST_TIMES:
            continue
        for variable, written in step.changed.items():
            value = literal(written)
            if value is not None:
                point = Point(step.line, times[step.line], variable, value)
                states.setdefault((step.line, variable), []).append((number, point))
    rng = random.Random(f"{seed} {function.qualname}")  # noqa: S311 - no secret
    places = sorted(states)
    chosen = rng.sample(places, min(MOST_POINTS, len(places)))
    drawn = sorted((rng.choice(states[place]) for place in chosen), key=lambda state: state[0])
    return [point for _, point in drawn]


def marked(document: Document, line: int) -> Document:
    """The document with a mark behind a line."""
    lines = document.text.splitlines(keepends=True)
    text = lines[line - 1]
    kept = text.rstrip("\r\n")
    lines[line - 1] = f"{kept.rstrip()}  {MARK}{text[len(kept) :]}"
    return replace(document, text="".join(lines))


def _simple_lines(document: Document, function: Function) -> set[int]:
    """The lines of a function that are one whole simple statement, behind which a mark changes nothing."""
    try:
        tree = parse_module(document.text)
    except (SyntaxError, ValueError):
        return set()
    statements: Counter[int] = Counter()
    simple: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        statements[node.lineno] += 1
        kind = isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)
        if kind and node.end_lineno == node.lineno:
            simple.add(node.lineno)
    inside = range(function.start_line, function.end_line + 1)
    return {
        line for line in simple if statements[line] == 1 and line in inside and _sound(document, line, tree)
    }


def _sound(document: Document, line: int, tree: ast.Module) -> bool:
    try:
        return ast.dump(parse_module(marked(document, line).text)) == ast.dump(tree)
    except (SyntaxError, ValueError):
        return False


def times_in_words(times: int) -> str:
    """`1 time`, `2 times`."""
    return plural(times, "time")
