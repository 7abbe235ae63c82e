"""The few spans of a document that a calm overlay colours: no new names, and few lines per screen.

A model cannot know a new name, so the tokens of a name do not count where it first occurs in a file, or where
it is defined; nor do the tokens of text in strings. A span without any other token is not coloured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from counterlens.confidence.aggregate import Confidence, aggregated
from counterlens.confidence.alignment import align
from counterlens.confidence.calibration import Calibration
from counterlens.confidence.granularity import Granularity, Span, level_of
from counterlens.syntax.concepts import FREE_TEXT

UNLIKELY = 0.2
"""A span is coloured if its value is below this: the three lowest levels."""
SCREEN = 40
"""Number of lines of a screen."""
ON_SCREEN = 4
"""Maximum number of coloured lines per screen."""

_DEFINITIONS = ("_definition", "_declaration", "_item")


def calm(
    found: Confidence,
    spans: Iterable[Span],
    granularity: Granularity,
    calibration: Calibration | None = None,
) -> list[Span]:
    """The spans that a calm overlay colours, in the order of the text.

    Args:
        found: The scored document.
        spans: Its spans.
        granularity: The unit of a span.
        calibration: The calibration map of the values, if any.
    """
    unlikely = [one for one in _known(found, list(spans), granularity, calibration) if one.value < UNLIKELY]
    chosen: list[Span] = []
    lines: set[int] = set()
    for one in sorted(unlikely, key=lambda one: one.value):
        first, last = (
            found.document.positions.line_of(at) for at in (one.start, max(one.start, one.end - 1))
        )
        wanted = lines | set(range(first, last + 1))
        if last - first < ON_SCREEN and _fits(wanted, first, last):
            lines = wanted
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.start)


def _fits(lines: set[int], first: int, last: int) -> bool:
    """Whether every screen with some of these lines still has few enough coloured lines."""
    near = sorted(line for line in lines if first - SCREEN < line < last + SCREEN)
    return all(near[i + ON_SCREEN] - near[i] >= SCREEN for i in range(len(near) - ON_SCREEN))


def _known(
    found: Confidence, spans: Sequence[Span], granularity: Granularity, calibration: Calibration | None
) -> list[Span]:
    """The spans with their values without new names; spans with no other tokens are dropped."""
    probability = found.scores.probability.copy()
    for first, last in _new(found):
        probability[first:last] = np.nan
    if granularity is Granularity.TOKEN:
        values = probability[[one.index for one in spans]]
    else:
        places = [(one.start, one.end) for one in spans]
        if granularity is not Granularity.STATEMENT:
            places = [(found.nodes[one.index].start, found.nodes[one.index].end) for one in spans]
        edges = np.array(places, np.int64).reshape(-1, 2)
        values = aggregated(
            probability, *align(found.scores, edges[:, 0], edges[:, 1], found.rule), found.aggregation
        )
    known = [(one, float(value)) for one, value in zip(spans, values, strict=True) if not np.isnan(value)]
    if calibration is not None:
        known = [(one, calibration.apply(one.category, value)) for one, value in known]
    return [replace(one, value=value, level=level_of(value)) for one, value in known]


def _new(found: Confidence) -> list[tuple[int, int]]:
    """The tokens that no model can know, first and last + 1: text, and names that are new or defined."""
    seen: set[bytes] = set()
    tokens = []
    for node in found.nodes:
        if node.kind in FREE_TEXT:
            tokens.append(node.tokens)
        if not node.kind.endswith("identifier"):
            continue
        name = found.document.data[node.start : node.end]
        parent = found.nodes[node.parent].kind if node.parent >= 0 else ""
        if name not in seen or parent.endswith(_DEFINITIONS):
            tokens.append(node.tokens)
        seen.add(name)
    return tokens
