"""States of a traced function to ask about: the value of a variable after the k-th run of a line."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from counterlens.counting import plural
from counterlens.languages.registry import LANGUAGES
from counterlens.probes.execution.language import Step, execution_of
from counterlens.probes.prompts.literals import Literal
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

MARK = "HERE"
"""The comment that marks the line in a question."""
MOST_POINTS = 3
"""Maximum number of states per call."""
MOST_TIMES = 5
"""Maximum number of runs of a line up to a state in a question."""


@dataclass(frozen=True, slots=True)
class Point:
    """One state to ask about: the value of a variable after the k-th run of a line.

    Attributes:
        line: The line, 1-based.
        times: The number of runs of the line so far.
        variable: The variable, which the line has just changed.
    """

    line: int
    times: int
    variable: str
    truth: Literal


def points(
    document: Document, function: Function, steps: Sequence[Step], lines: Collection[int], *, seed: int
) -> list[Point]:
    """Random states to ask about: at most `MOST_POINTS`, at distinct lines or variables, in execution order.

    Args:
        function: The traced function.
        steps: The trace of the function.
        lines: The lines that can be marked, 1-based.
        seed: Random seed of the choice.
    """
    read = execution_of(document.language).values.literal
    times: Counter[int] = Counter()
    states: dict[tuple[int, str], list[tuple[int, Point]]] = {}
    for number, step in enumerate(steps):
        times[step.line] += 1
        if step.line not in lines or times[step.line] > MOST_TIMES:
            continue
        for variable, written in step.changed.items():
            value = read(written)
            if value is not None:
                point = Point(step.line, times[step.line], variable, value)
                states.setdefault((step.line, variable), []).append((number, point))
    rng = random.Random(f"{seed} {function.qualname}")  # noqa: S311 - no secret
    places = sorted(states)
    chosen = rng.sample(places, min(MOST_POINTS, len(places)))
    drawn = sorted((rng.choice(states[place]) for place in chosen), key=lambda state: state[0])
    return [point for _, point in drawn]


def add_mark(document: Document, line: int) -> Document:
    """The document with a mark after a line, 1-based."""
    lines = document.text.splitlines(keepends=True)
    text = lines[line - 1]
    kept, mark = text.rstrip("\r\n"), f"{LANGUAGES[document.language].comment} {MARK}"
    lines[line - 1] = f"{kept.rstrip()}  {mark}{text[len(kept) :]}"
    return replace(document, text="".join(lines))


def times_in_words(times: int) -> str:
    """The number of times in words: `1 time`, `2 times`."""
    return plural(times, "time")
