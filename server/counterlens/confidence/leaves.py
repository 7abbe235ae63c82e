"""The leaves of a document's tree with their scores, among which surprises are searched.

A token belongs to one leaf here, the one that contains its first non-blank byte, so that no token counts
twice. Blank tokens belong to none. Two kinds are left out, because they surprise every model without meaning:
prose (comments, strings, and tokens that extend into them, which includes the choice of a quotation mark),
and the names that a definition gives to itself and its parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Confidence, NodeConfidence
from counterlens.syntax.concepts import FREE_TEXT

_DEFINITIONS = ("_definition", "_declaration", "_item", "function_declarator")
_VALUED = frozenset({"const_item", "let_declaration", "static_item", "with_item"})
"""Declarations with a value besides the name: their names are included, like those of assignments."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


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
