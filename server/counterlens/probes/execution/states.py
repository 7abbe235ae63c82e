"""What the variables of a function are while a call runs: traced in the sandbox, and what to ask about it."""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.probes.observing import run_observer
from counterlens.probes.prompts.literals import Literal, literal
from counterlens.sandbox.base import Ending, Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

MARK = "# HERE"
"""Stands behind the line that is asked about."""
MOST_POINTS = 3
"""Of each call so many states are asked about."""
MOST_TIMES = 5
"""States are asked about while a line has not run more often than this."""
_OBSERVER = Path(__file__).with_name("trace_observer.py")
_LIMITS = Limits(seconds=10, output_bytes=1 << 20)


@dataclass(frozen=True, slots=True)
class Step:
    """One line that ran.

    Attributes:
        line: Which, 1-based.
        changed: The variables that it bound or changed, as literals.
    """

    line: int
    changed: dict[str, str]


@dataclass(frozen=True, slots=True)
class Point:
    """One state to ask about: what a variable is when a line has run so many times.

    Attributes:
        line: The line, 1-based.
        times: How often it has run.
        variable: The variable, which the line has just changed.
        truth: What it is then.
    """

    line: int
    times: int
    variable: str
    truth: Literal


def trace(document: Document, call: str, sandbox: Sandbox, *, cancel: Event | None = None) -> list[Step]:
    """What each line changes while a call runs.

    Raises:
        SourceError: the call fails, does not end, or names no function of the program.
        SandboxError, Cancelled: as `Sandbox.run`.
    """
    outcome = run_observer(_OBSERVER, document, call, sandbox, _LIMITS, cancel=cancel)
    if outcome.ending is Ending.TIMED_OUT:
        raise SourceError("the call does not end in time while it is traced")
    try:
        report = json.loads(outcome.result)
        steps = [Step(int(line), dict(changed)) for line, changed in report["steps"]]
    except (KeyError, TypeError, ValueError):
        raise SourceError("the program ends the process") from None
    if report["error"] is not None:
        raise SourceError(f"traced, the call raises {str(report['error']).partition(':')[0]}")
    return steps


def points(document: Document, function: Function, steps: Sequence[Step], *, seed: int) -> list[Point]:
    """States to ask about, at different places, drawn at random; in the order in which they come about.

    Args:
        document: The program.
        function: The function that was traced.
        steps: What it did.
        seed: Of the draw.
    """
    lines = _simple_lines(document, function)
    times: Counter[int] = Counter()
    found: dict[tuple[int, str], list[tuple[int, Point]]] = {}
    for number, step in enumerate(steps):
        times[step.line] += 1
        if step.line not in lines or times[step.line] > MOST_TIMES:
            continue
        for variable, written in step.changed.items():
            value = literal(written)
            if value is not None:
                point = Point(step.line, times[step.line], variable, value)
                found.setdefault((step.line, variable), []).append((number, point))
    rng = random.Random(f"{seed} {function.qualname}")  # noqa: S311 - no secret
    places = sorted(found)
    chosen = rng.sample(places, min(MOST_POINTS, len(places)))
    drawn = sorted((rng.choice(found[place]) for place in chosen), key=lambda one: one[0])
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
        tree = ast.parse(document.text)
    except (SyntaxError, ValueError):
        return set()
    found: Counter[int] = Counter()
    simple: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        found[node.lineno] += 1
        kind = isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)
        if kind and node.end_lineno == node.lineno:
            simple.add(node.lineno)
    inside = range(function.start_line, function.end_line + 1)
    return {line for line in simple if found[line] == 1 and line in inside and _sound(document, line, tree)}


def _sound(document: Document, line: int, tree: ast.Module) -> bool:
    try:
        return ast.dump(ast.parse(marked(document, line).text)) == ast.dump(tree)
    except (SyntaxError, ValueError):
        return False


def times_in_words(times: int) -> str:
    """`1 time`, `2 times`."""
    return plural(times, "time")
