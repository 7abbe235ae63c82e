"""The few spans of a document that a calm overlay colours: no new names, and few lines per screen.

A model cannot know a new name, so the tokens of a name do not count where it first occurs in a file, or where
it is defined; nor do the tokens of text in strings. A span without any other token is not coloured. Nor is
ordinary code, which is right whatever a model expects: imports, headers of definitions, and bare keywords.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from counterlens.confidence.aggregate import Confidence, aggregate
from counterlens.confidence.alignment import align
from counterlens.confidence.calibration import Calibration
from counterlens.confidence.granularity import Granularity, Span, level_of, statement_around
from counterlens.syntax.concepts import FREE_TEXT
from counterlens.syntax.statements import defines, imports, is_statement

UNLIKELY = 0.05
"""A span is coloured if its value is below this: the two lowest levels."""
SCREEN = 40
"""Number of lines of a screen."""
ON_SCREEN = 4
"""Maximum number of coloured lines per screen."""

_TARGETS = frozenset({"assignment", "augmented_assignment", "variable_declarator", "init_declarator"})
"""Node types that begin with the name that they define."""
_PUNCTUATION = frozenset(b"( ) [ ] { } , : ;".split())
_PATTERNS = ("_pattern", "pattern_list", "pattern_target", "parameters", "parameter")
"""Endings of node types that hold the names that they define."""


def calm(
    confidence: Confidence,
    spans: Iterable[Span],
    granularity: Granularity,
    calibration: Calibration | None = None,
    *,
    ordinary: bool = False,
) -> list[Span]:
    """The spans that a calm overlay colours, in the order of the text.

    Args:
        confidence: The scored document.
        granularity: The unit of a span.
        calibration: The calibration map of the values, if any.
        ordinary: Whether ordinary code may be coloured, too.
    """
    unlikely = [
        candidate
        for candidate in _without_new_names(confidence, list(spans), granularity, calibration)
        if candidate.value < UNLIKELY
    ]
    if not ordinary:
        unlikely = _without_ordinary(confidence, unlikely)
    chosen: list[Span] = []
    lines: set[int] = set()
    for span in sorted(unlikely, key=lambda span: span.value):
        first, last = (
            confidence.document.positions.line_of(at) for at in (span.start, max(span.start, span.end - 1))
        )
        wanted = lines | set(range(first, last + 1))
        if last - first < ON_SCREEN and _fits(wanted, first, last):
            lines = wanted
            chosen.append(span)
    return sorted(chosen, key=lambda candidate: candidate.start)


def _fits(lines: set[int], first: int, last: int) -> bool:
    """Whether every screen with some of these lines still has few enough coloured lines."""
    near = sorted(line for line in lines if first - SCREEN < line < last + SCREEN)
    return all(near[i + ON_SCREEN] - near[i] >= SCREEN for i in range(len(near) - ON_SCREEN))


def _without_new_names(
    confidence: Confidence, spans: Sequence[Span], granularity: Granularity, calibration: Calibration | None
) -> list[Span]:
    """The spans with their values without new names; spans with no other tokens are dropped."""
    probability = confidence.scores.probability.copy()
    for first, last in _new(confidence):
        probability[first:last] = np.nan
    if granularity is Granularity.TOKEN:
        values = probability[[span.index for span in spans]]
    else:
        places = [(span.start, span.end) for span in spans]
        if granularity is not Granularity.STATEMENT:
            places = [
                (confidence.nodes[span.index].start, confidence.nodes[span.index].end) for span in spans
            ]
        edges = np.array(places, np.int64).reshape(-1, 2)
        values = aggregate(
            probability,
            *align(confidence.scores, edges[:, 0], edges[:, 1], confidence.rule),
            confidence.aggregation,
        )
    known = [(span, float(value)) for span, value in zip(spans, values, strict=True) if not np.isnan(value)]
    if calibration is not None:
        known = [(span, calibration.apply(span.category, value)) for span, value in known]
    return [replace(span, value=value, level=level_of(value)) for span, value in known]


def _new(confidence: Confidence) -> list[tuple[int, int]]:
    """The tokens that no model can know, first and last + 1: text, and names that are new or defined."""
    seen: set[bytes] = set()
    tokens = []
    for i, node in enumerate(confidence.nodes):
        if node.kind in FREE_TEXT:
            tokens.append(node.tokens)
        if not node.kind.endswith("identifier"):
            continue
        name = confidence.document.data[node.start : node.end]
        if name not in seen or _is_defined(confidence, i):
            tokens.append(node.tokens)
        seen.add(name)
    return tokens


def _is_defined(confidence: Confidence, name: int) -> bool:
    """Whether the code defines a name where it occurs: as a function, a parameter, a variable."""
    node = confidence.nodes[name]
    if node.parent < 0:
        return False
    parent = confidence.nodes[node.parent]
    return (
        defines(parent.kind)
        or parent.kind.endswith(_PATTERNS)
        or (parent.kind in _TARGETS and parent.start == node.start)
        or confidence.nodes[name - 1].kind == "for"
    )


def _without_ordinary(confidence: Confidence, spans: Sequence[Span]) -> list[Span]:
    """Leave out imports, headers of definitions, and keywords and brackets without an expression."""
    around = statement_around(confidence)
    leaves = [i for i in range(len(confidence.nodes)) if i not in confidence.parents]
    starts = [confidence.nodes[i].start for i in leaves]
    kept = []
    for span in spans:
        first, last = bisect.bisect_right(starts, span.start) - 1, bisect.bisect_left(starts, span.end)
        inside = leaves[max(0, first) : last]
        statement = around[inside[0]] if inside else -1
        kind = confidence.nodes[statement].kind if statement >= 0 else ""
        if imports(kind) or defines(kind) or all(map(partial(_is_keyword, confidence), inside)):
            continue
        kept.append(span)
    return kept


def _is_keyword(confidence: Confidence, leaf: int) -> bool:
    """Whether a leaf is a word of the grammar, such as `break`, or punctuation, but no operator."""
    node = confidence.nodes[leaf]
    text = confidence.document.data[node.start : node.end]
    return (text.isalpha() or text in _PUNCTUATION) and (not node.named or is_statement(node.kind))
