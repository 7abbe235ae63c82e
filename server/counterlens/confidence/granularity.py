"""A document's confidence as spans that do not overlap, at one of four granularities, in six levels.

Front ends show them as colours. A span is a run of bytes of one group, from its first non-blank byte to its
last; the group of a byte depends on the granularity:

- `token`: the token that contains it; the value is the token's probability.
- `leaf`: the innermost node that contains it; the value is the node's confidence.
- `statement`: the innermost statement around it, so that the span of a compound statement covers its header,
  and its body is left to the statements in it; the value is the aggregate over the span's tokens.
- `concept`: the innermost non-terminal around it with a category other than `structure`; the value is the
  confidence of that whole node, even if the span is a part of it.

Prose (comments, the text of strings) surprises every model without meaning: it is left out unless requested.
A statement keeps the strings inside it, and is left out only if all of it is prose.

The few spans of a document that a calm overlay colours: no new names, and few lines per screen.

A model cannot know a new name, so the tokens of a name do not count where it first occurs in a file, or where
it is defined; nor do the tokens of text in strings. A span without any other token is not coloured. Nor is
ordinary code, which is right whatever a model expects: imports, headers of definitions, and bare keywords.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Confidence, aggregate
from counterlens.confidence.alignment import align, blank
from counterlens.syntax.concepts import FREE_TEXT, Category
from counterlens.syntax.statements import defines, imports, is_part_of_statement, is_statement

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
Indices = npt.NDArray[np.int64]
BOUNDS = (0.01, 0.05, 0.2, 0.5, 0.8)
"""Boundaries of the levels; each level is far wider than the numerical noise of a score."""
LABELS = ("below 1 %", "1 to 5 %", "5 to 20 %", "20 to 50 %", "50 to 80 %", "80 % and more")
"""Labels of the levels. Level 0 is the least certain."""


def calm(
    confidence: Confidence,
    spans: Iterable[Span],
    granularity: Granularity,
    *,
    ordinary: bool = False,
) -> list[Span]:
    """The spans that a calm overlay colours, in the order of the text.

    Args:
        confidence: The scored document.
        granularity: The unit of a span.
        ordinary: Whether ordinary code may be coloured, too.
    """
    unlikely = [
        candidate
        for candidate in _without_new_names(confidence, list(spans), granularity)
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


def _without_new_names(confidence: Confidence, spans: Sequence[Span], granularity: Granularity) -> list[Span]:
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
    scored = [(span, float(value)) for span, value in zip(spans, values, strict=True) if not np.isnan(value)]
    return [replace(span, value=value, level=level_of(value)) for span, value in scored]


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


class Granularity(StrEnum):
    """The unit of a span."""

    TOKEN = "token"  # noqa: S105 - a token of a text
    LEAF = "leaf"
    STATEMENT = "statement"
    CONCEPT = "concept"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of code with the model's confidence in it.

    Attributes:
        start: First byte of the span.
        end: The byte after the span.
        value: A probability, or an aggregate of probabilities, 0 to 1.
        level: 0 to 5, least certain first; see `LABELS`.
        kind: Type of the node that it represents; `token` for a token.
        category: Concept category of that node; for a token, that of the innermost node at its start.
        index: Index of the node in `Confidence.nodes`, or of the token in `Confidence.scores`.
    """

    start: int
    end: int
    value: float
    level: int
    kind: str
    category: Category
    index: int


def level_of(value: float) -> int:
    """The level of a probability; 0 is the least certain."""
    return bisect.bisect_right(BOUNDS, value)


def spans(
    confidence: Confidence,
    granularity: Granularity = Granularity.LEAF,
    span: tuple[int, int] | None = None,
    *,
    prose: bool = False,
) -> list[Span]:
    """The scored spans of a document, in the order of the text, without overlap.

    Args:
        granularity: The unit of a span.
        span: Only spans that share a byte with this byte range, such as the visible part. They are whole: the
            spans of all parts of a document are the spans of the document.
        prose: Whether to include spans of comments and of text in strings.
    """
    data = confidence.document.data
    inner = _innermost(confidence, len(data))
    if granularity is Granularity.TOKEN:
        group = _tokens(confidence, len(data))
    else:
        chosen = _CHOICES[granularity](confidence)
        group = np.where(inner >= 0, chosen[inner], -1)
    group[blank(data)] = -2  # blanks do not end a run, and belong to none
    is_prose = np.array([node.kind in FREE_TEXT for node in confidence.nodes], bool)[inner]
    if granularity is not Granularity.STATEMENT and not prose:
        group[is_prose & (group != -2)] = -1
    starts, ends = _runs(group)
    if span is not None:
        visible = (starts < span[1]) & (ends > span[0])
        starts, ends = starts[visible], ends[visible]
    if granularity is Granularity.STATEMENT and not prose:
        code = np.concatenate([[0], np.cumsum(~is_prose & (group >= 0))])
        kept = code[ends] > code[starts]
        starts, ends = starts[kept], ends[kept]
    values = _values(confidence, granularity, group, starts, ends)
    return [
        Span(
            start=start,
            end=end,
            value=value,
            level=level_of(value),
            kind="token" if granularity is Granularity.TOKEN else confidence.nodes[index].kind,
            category=confidence.nodes[
                int(inner[start]) if granularity is Granularity.TOKEN else index
            ].category,
            index=index,
        )
        for start, end, value, index in zip(
            starts.tolist(), ends.tolist(), values, group[starts].tolist(), strict=True
        )
        if value is not None
    ]


def visible_first(given: Iterable[Span], visible: tuple[int, int]) -> list[Span]:
    """Spans in the order of display: those that share a byte with the visible range, then the others."""
    return sorted(
        given, key=lambda candidate: not (candidate.start < visible[1] and candidate.end > visible[0])
    )


def _innermost(confidence: Confidence, size: int) -> Indices:
    """(size,) index of the innermost node that contains each byte; a prose node hides its parts."""
    owner = np.full(size, -1, np.int64)
    atom = 0  # end of the last prose node
    for i, node in enumerate(confidence.nodes):
        if node.start >= atom or node.end > atom:
            owner[node.start : node.end] = i
            if node.kind in FREE_TEXT:
                atom = node.end
    return owner


def _tokens(confidence: Confidence, size: int) -> Indices:
    """(size,) index of the token that contains each byte, -1 if there is none."""
    at = np.arange(size)
    token = np.searchsorted(confidence.scores.end, at, side="right")
    held = token < len(confidence.scores)
    if len(confidence.scores):
        held &= confidence.scores.start[np.minimum(token, len(confidence.scores) - 1)] <= at
    return np.where(held, token, -1)


def _leaves(confidence: Confidence) -> Indices:
    """Each node represents itself."""
    return np.arange(len(confidence.nodes))


def statement_around(confidence: Confidence) -> Indices:
    """(n,) for each node, the index of the innermost statement around it; comments represent themselves."""
    chosen = np.full(len(confidence.nodes), -1, np.int64)
    for i, node in enumerate(confidence.nodes):
        above = confidence.nodes[node.parent] if node.parent >= 0 else None
        header = above is not None and is_part_of_statement(node.kind, above.kind, last=node.end == above.end)
        if (is_statement(node.kind) and not header) or "comment" in node.kind or node.kind == "ERROR":
            chosen[i] = i
        elif above is not None:
            chosen[i] = chosen[node.parent]
    return chosen


def _concepts(confidence: Confidence) -> Indices:
    """For each node, the innermost non-terminal around it with a category of the paper."""
    chosen = np.full(len(confidence.nodes), -1, np.int64)
    for i, node in enumerate(confidence.nodes):
        own = i in confidence.parents and node.named and node.category is not Category.STRUCTURE
        chosen[i] = i if own else (chosen[node.parent] if node.parent >= 0 else -1)
    return chosen


_CHOICES = {
    Granularity.LEAF: _leaves,
    Granularity.STATEMENT: statement_around,
    Granularity.CONCEPT: _concepts,
}


def _runs(group: Indices) -> tuple[Indices, Indices]:
    """The first bytes, and the bytes after the last, of the runs of equal groups >= 0; -2 is skipped."""
    solid = np.flatnonzero(group != -2)
    values = group[solid]
    edges = np.flatnonzero(np.diff(values)) + 1
    first = np.concatenate([[0], edges]).astype(np.int64) if len(solid) else edges
    last = np.concatenate([edges, [len(solid)]]).astype(np.int64) if len(solid) else edges
    kept = values[first] >= 0 if len(solid) else np.empty(0, bool)
    return solid[first[kept]], solid[last[kept] - 1] + 1


def _values(
    confidence: Confidence, granularity: Granularity, group: Indices, starts: Indices, ends: Indices
) -> list[float | None]:
    """The value of each run; None if it has none."""
    probability = confidence.scores.probability
    if granularity is Granularity.TOKEN:
        numbers = probability[group[starts]]
    elif granularity is Granularity.STATEMENT:
        first, last = align(confidence.scores, starts, ends, confidence.rule)
        numbers = aggregate(probability, first, last, confidence.aggregation)
    else:
        return [confidence.nodes[i].confidence for i in group[starts].tolist()]
    return [None if np.isnan(number) else float(number) for number in numbers]
