"""The few places of a document that surprise the model most, each as the smallest node that explains it.

Weights determine which leaves are surprising; adjacent surprising leaves are one place, and
the most surprising place of a line represents the line.

Measures of how surprising a leaf is, compared in docs/results/localisation.md.

Surprise is relative to the usual: names surprise a model more than brackets do. Relative weights measure how
far a leaf lies above the median of its concept category in this document, in robust standard deviations. For
rare categories the whole document is a prior, and for short documents a constant is.

The leaves of a document's tree with their scores, among which surprises are searched.

A token belongs to one leaf here, the one that contains its first non-blank byte, so that no token counts
twice. Blank tokens belong to none. Two kinds are left out, because they surprise every model without meaning:
prose (comments, strings, and tokens that extend into them, which includes the choice of a quotation mark),
and the names that a definition gives to itself and its parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Confidence, NodeConfidence
from counterlens.syntax.concepts import FREE_TEXT, Category

_DEFINITIONS = ("_definition", "_declaration", "_item", "function_declarator")
_VALUED = frozenset({"const_item", "let_declaration", "static_item", "with_item"})
"""Declarations with a value besides the name: their names are included, like those of assignments."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_LEAN = 8.0
"""Weight of the wider prior, in leaves."""
_TO_DEVIATION = 1.4826
"""Median absolute deviation to standard deviation, for a normal distribution."""
_USUAL_SPREAD = 2.0
"""Bits: the usual deviation; the usual value itself is taken as 0."""
_LEAST_SPREAD = 1.0
"""Bits: minimum deviation, so that a small surprise in an almost certain category stays small."""
PER_HUNDRED_LINES = 3.0
"""Maximum number of marked places per 100 lines: users want few highlights."""
LEAST_BITS = 3.0
"""Minimum surprisal of a surprising leaf, in bits: a probability of 1 in 8."""
LEAST_EXCESS = 2.0
"""Minimum excess of a surprising leaf, in robust standard deviations above the usual."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """The m scored leaves of a document that are code, in the order of the text.

    Attributes:
        node: (m,) index into `Confidence.nodes`.
        category: (m,) number of its concept category.
        token: (m,) index of its least likely token.
        bits: (m,) surprisal of that token.
        total: (m,) surprisal of all tokens of the leaf together.
        lead: (m,) log-odds, in bits, of the model's first choice against that token; 0 if the token is the
            first choice.
        entropy: (m,) surprisal, in bits, that the model itself expected there.
    """

    node: Integers
    category: Integers
    token: Integers
    bits: Floats
    total: Floats
    lead: Floats
    entropy: Floats

    def __len__(self) -> int:
        return len(self.node)


def leaves(confidence: Confidence) -> Leaves:
    """The scored leaves of a document that are code."""
    nodes, scores = confidence.nodes, confidence.scores
    places = [
        i
        for i, node in enumerate(nodes)
        if node.end > node.start
        and (i + 1 == len(nodes) or nodes[i + 1].depth <= node.depth)
        and not _is_prose(node)
        and not (node.parent >= 0 and nodes[node.parent].kind.endswith("comment"))  # the `//` of Rust
        and not (node.kind == "identifier" and node.parent >= 0 and _defines(nodes[node.parent]))
    ]
    names = {category: number for number, category in enumerate(sorted({node.category for node in nodes}))}
    node = np.array(places, np.int64)
    start = np.array([nodes[i].start for i in places], np.int64)
    end = np.array([nodes[i].end for i in places], np.int64)
    category = np.array([names[nodes[i].category] for i in places], np.int64)

    tokens, place = _tokens_of(confidence, start, end)
    if not len(tokens):
        none, empty = np.empty(0, np.int64), np.empty(0)
        return Leaves(none, none, none, empty, empty, empty, empty)
    bits = -scores.logprob[tokens] / math.log(2)
    first = np.flatnonzero(np.diff(place, prepend=-1))  # first token of each leaf
    # Sorted by leaf and then by surprisal, the last token of each leaf is its least likely one.
    order = np.lexsort((bits, place))
    worst = order[np.append(first[1:], len(tokens)) - 1]
    held, token = place[first], tokens[worst]
    return Leaves(
        node=node[held],
        category=category[held],
        token=token,
        bits=bits[worst],
        total=np.add.reduceat(bits, first),
        lead=_lead(confidence, token),
        entropy=scores.entropy[token] / math.log(2),
    )


def _is_prose(node: NodeConfidence) -> bool:
    return node.kind in FREE_TEXT or node.kind.endswith("comment")


def _defines(parent: NodeConfidence) -> bool:
    named = parent.kind.endswith(_DEFINITIONS) or "parameter" in parent.kind
    return named and parent.kind not in _VALUED


def _tokens_of(confidence: Confidence, start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """The scored tokens that belong to a leaf, in order, and the leaf of each."""
    scores = confidence.scores
    none = np.empty(0, np.int64)
    data = np.frombuffer(confidence.document.data, np.uint8)
    solid = np.flatnonzero((data > 32) & (data != 127))
    if not len(solid) or not len(start) or not len(scores):
        return none, none
    at = np.searchsorted(solid, scores.start)
    inside = solid[np.minimum(at, len(solid) - 1)]
    place = np.searchsorted(start, inside, side="right") - 1
    # (n,) whether each token contains a byte of prose
    prose = np.zeros(len(confidence.document.data) + 1, np.int64)
    for node in confidence.nodes:
        if _is_prose(node):
            prose[node.start + 1 : node.end + 1] = 1
    before = np.cumsum(prose)
    reaches: npt.NDArray[np.bool_] = before[confidence.scores.end] > before[confidence.scores.start]
    belongs = (
        (at < len(solid))
        & (inside < scores.end)
        & (place >= 0)
        & (inside < end[np.maximum(place, 0)])
        & ~np.isnan(scores.logprob)
        & ~reaches
    )
    tokens = np.flatnonzero(belongs).astype(np.int64)
    return tokens, place[tokens].astype(np.int64)


def _lead(confidence: Confidence, token: Integers) -> Floats:
    """The log-odds in bits of the model's first choice against each token."""
    scores = confidence.scores
    if not scores.alternative_logprob.shape[1]:
        return -scores.logprob[token] / math.log(2)
    best = np.nan_to_num(scores.alternative_logprob[token, 0], nan=0.0)
    lead: Floats = np.maximum(best - scores.logprob[token], 0.0) / math.log(2)
    return lead


Weight = Callable[[Leaves], Floats]
"""A measure of how surprising each of m leaves is: (m,) numbers, larger for more surprising."""


__all__ = ["PER_HUNDRED_LINES", "Surprise", "allowance", "excess", "surprising"]


@dataclass(frozen=True, slots=True)
class Surprise:
    """One place that surprised the model.

    Attributes:
        start: First byte of the place.
        end: The byte after the place.
        kind: The node type.
        category: Concept category of its most surprising leaf.
        bits: Surprisal of that leaf's least likely token.
        excess: Surprisal beyond the model's own entropy and what is usual for the category, in robust
            standard deviations (`weights.excess`).
        token: Index of that token in the scores.
        alternatives: The model's expectation instead: texts and probabilities, likeliest first.
    """

    start: int
    end: int
    kind: str
    category: Category
    bits: float
    excess: float
    token: int
    alternatives: tuple[tuple[str, float], ...]


def surprising(
    confidence: Confidence,
    *,
    per_hundred_lines: float = PER_HUNDRED_LINES,
    limit: int | None = None,
    least_bits: float = LEAST_BITS,
    least_excess: float = LEAST_EXCESS,
    weight: Weight | None = None,
    span: tuple[int, int] | None = None,
) -> tuple[Surprise, ...]:
    """The most surprising places of a document, in the order of the text; they do not overlap.

    Args:
        confidence: The document's scores on its nodes.
        per_hundred_lines: Maximum number of places per 100 lines; a shorter document gets its share, and at
            least one.
        limit: Maximum number of places, whatever the number of lines.
        least_bits: Minimum surprisal of a token of each leaf.
        least_excess: Minimum weight of each leaf.
        weight: The measure of how surprising a leaf is; by default `excess`.
        span: Only places that begin in this byte range.
    """
    rows = leaves(confidence)
    weights = (weight or excess)(rows)
    wanted = (rows.bits >= least_bits) & (weights >= least_excess)
    if span is not None:
        start = np.array([confidence.nodes[i].start for i in rows.node.tolist()], np.int64)
        wanted &= (start >= span[0]) & (start < span[1])
    chosen = np.flatnonzero(wanted)
    budget = limit if limit is not None else allowance(confidence.document.positions.lines, per_hundred_lines)
    if not len(chosen) or budget <= 0:
        return ()
    relative = excess(rows) if weight else weights
    # Stable: of two with the same weight, the earlier place comes first.
    ranked = chosen[np.argsort(-weights[chosen], kind="stable")]
    places = _explain_rows(confidence, rows, chosen)
    named: dict[int, Surprise] = {}  # by line
    for row in ranked.tolist():
        node = confidence.nodes[places[row]]
        line = confidence.document.positions.line_of(node.start)
        if line not in named and len(named) < budget:
            named[line] = _surprise(confidence, rows, row, node, float(relative[row]))
    return tuple(sorted(named.values(), key=lambda surprise: surprise.start))


def allowance(lines: int, per_hundred_lines: float) -> int:
    """Maximum number of places for a number of lines."""
    return max(1, math.floor(lines * per_hundred_lines / 100)) if per_hundred_lines > 0 else 0


def _explain_rows(confidence: Confidence, rows: Leaves, chosen: Integers) -> dict[int, int]:
    """For each chosen row: the node to show for it.

    Surprising leaves close together have one cause. If at least half of the leaves of a node on one line, and
    at least two, are surprising, the smallest node around them represents them; else each leaf represents
    itself.
    """
    nodes = confidence.nodes
    start = np.array([nodes[i].start for i in rows.node.tolist()], np.int64)
    marks = np.zeros(len(rows) + 1, np.int64)
    marks[chosen + 1] = 1
    before = np.cumsum(marks).tolist()  # number of surprising leaves before each row
    firsts = np.searchsorted(start, [node.start for node in nodes]).tolist()
    lasts = np.searchsorted(start, [node.end for node in nodes]).tolist()
    places = {row: int(rows.node[row]) for row in chosen.tolist()}
    around, held = -1, 0  # the node that represents the rows in it, and their number
    for i, node in enumerate(nodes):  # parents come first, so the first match for a place is the largest
        first, last = firsts[i], lasts[i]
        surprised = before[last] - before[first]
        if around >= 0 and node.end <= nodes[around].end:
            if surprised < held:
                continue  # a part of them
        elif surprised < 2 or 2 * surprised < last - first or not _on_one_line(confidence, node):
            continue
        around, held = i, surprised  # a smaller node with all of them explains them better
        places |= {row: i for row in range(first, last) if row in places}
    return places


def _on_one_line(confidence: Confidence, node: NodeConfidence) -> bool:
    lines = confidence.document.positions
    return lines.line_of(node.start) == lines.line_of(max(node.start, node.end - 1))


def _surprise(confidence: Confidence, rows: Leaves, row: int, node: NodeConfidence, above: float) -> Surprise:
    token = int(rows.token[row])
    scores = confidence.scores
    expected = zip(
        scores.alternative_text[token], np.exp(scores.alternative_logprob[token]).tolist(), strict=False
    )
    return Surprise(
        start=node.start,
        end=node.end,
        kind=node.kind,
        category=confidence.nodes[int(rows.node[row])].category,
        bits=float(rows.bits[row]),
        excess=above,
        token=token,
        alternatives=tuple(expected),
    )


def raw(rows: Leaves) -> Floats:
    """The surprisal of the leaf's least likely token: the lowest probabilities first."""
    return rows.bits


def lead(rows: Leaves) -> Floats:
    """The model's preference for its first choice, in bits: the log-odds of the best alternative."""
    return rows.lead


def unforeseen(rows: Leaves) -> Floats:
    """Surprisal beyond the entropy, which is the surprisal that the model itself expected."""
    return rows.bits - rows.entropy


def relative(rows: Leaves) -> Floats:
    """Surprisal, relative to the category."""
    return above_usual(rows.bits, rows.category)


def relative_lead(rows: Leaves) -> Floats:
    """The lead of the first choice, relative to the category."""
    return above_usual(rows.lead, rows.category)


def excess(rows: Leaves) -> Floats:
    """Surprisal beyond the entropy, relative to the category."""
    return above_usual(unforeseen(rows), rows.category)


WEIGHTS: Mapping[str, Weight] = MappingProxyType(
    {
        "raw": raw,
        "lead": lead,
        "unforeseen": unforeseen,
        "relative": relative,
        "relative lead": relative_lead,
        "excess": excess,
    }
)
"""All measures, by name."""


def above_usual(bits: Floats, category: Integers) -> Floats:
    """(m,) robust z-scores within each category, with the document as prior, and for that a constant."""
    middle, spread = _usual(bits, 0.0, _USUAL_SPREAD)
    result = np.empty(len(bits))
    for label in np.unique(category).tolist():
        mine = category == label
        usual, deviation = _usual(bits[mine], middle, spread)
        result[mine] = (bits[mine] - usual) / max(deviation, _LEAST_SPREAD)
    return result


def _usual(bits: Floats, prior: float, prior_spread: float) -> tuple[float, float]:
    """Median and robust deviation, drawn towards a prior if the values are few."""
    if not len(bits):
        return prior, prior_spread
    middle = float(np.median(bits))
    spread = _TO_DEVIATION * float(np.median(np.abs(bits - middle)))
    share = len(bits) / (len(bits) + _LEAN)
    return share * middle + (1 - share) * prior, share * spread + (1 - share) * prior_spread
