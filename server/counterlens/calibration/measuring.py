"""Masked spans: whether the model, continuing at the start of a syntax node, writes that node.

This is the truth against which confidences are calibrated. A node is removed with everything after it, the
model continues at temperature 0 after the same header with which the node was scored, and its text must begin
with the node's tokens. Blanks between tokens are ignored, line ends and indentation are not.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from counterlens.confidence import Aggregation, Confidence, NodeConfidence, confidence, score_document
from counterlens.confidence.units import Unit, units
from counterlens.errors import CounterlensError, ModelError
from counterlens.metrics.calibration import Observations
from counterlens.models.base import Model, Prompt
from counterlens.progress import Steps
from counterlens.syntax.document import Document

_OPERATOR = re.compile(rb"[-+*/%=<>!&|^~@:?]+")
_SECOND_CHARACTERS = b"=<>&|*/+"

_PER_UNIT = 12
_MOST_TOKENS = 48
_MOST_BYTES = 8192
_MARGIN = 3  # tokens: enough to see that the last word of a node ends with the node
_PUNCTUATION = frozenset("()[]{},:;.")


class NodeTruth(StrEnum):
    """The criterion of a right prediction.

    `fills`: the model writes the node when asked. `first-choice`: each of its tokens is the model's likeliest
    token after the text before it. That is what greedy decoding writes, except for rounding and token
    boundaries, and it is known from the scores, so that every node can be used.
    """

    FILLS = "fills"
    FIRST_CHOICE = "first-choice"


@dataclass(frozen=True, slots=True)
class MeasuredNodes:
    """The observations, and the excluded nodes.

    Attributes:
        observations: The nodes.
        units: Number of functions and other units with the nodes.
        documents: Number of documents with the units.
        unscored: Reasons why units could not be scored, with the number of units.
        agreement: Share of nodes on which both criteria agree; None if only one was evaluated.
    """

    observations: Observations
    units: int
    documents: int
    unscored: dict[str, int]
    agreement: float | None


@dataclass(frozen=True, slots=True)
class _NodeRow:
    node: NodeConfidence
    unit: int
    right: bool
    first_choice: bool


def measure(
    model: Model,
    documents: Sequence[Document],
    *,
    nodes: int,
    truth: NodeTruth = NodeTruth.FILLS,
    aggregation: Aggregation = Aggregation.MEAN,
    seed: int = 0,
    steps: Steps | None = None,
) -> MeasuredNodes:
    """Observe at least a number of nodes, if there are enough, of units sampled at random.

    Args:
        model: The model.
        documents: Code whose truth is the code itself.
        nodes: Number of nodes after which to stop.
        truth: The criterion of a right prediction.
        aggregation: The aggregation of confidences.
        seed: Random seed of the units and of the nodes in them.
        steps: Progress, in nodes, and cancellation.

    Raises:
        CounterlensError: there is no code in the documents.
        ModelError, Cancelled: as `Model.score` and `Model.complete`.
    """
    rng, steps = np.random.default_rng(seed), steps or Steps()
    places = [
        (document, unit) for document in documents for unit in units(document) if _usable(document, unit)
    ]
    if not places:
        raise CounterlensError("there is no code to measure", "Choose files or folders with functions")
    rows: list[_NodeRow] = []
    unscored: dict[str, int] = {}
    used: set[int] = set()
    for number in rng.permutation(len(places)).tolist():
        if len(rows) >= nodes:
            break
        document, unit = places[number]
        name = document.path.name if document.path else "a string"
        steps.next(f"predicting nodes of {name}", len(rows), nodes)
        try:
            scores = score_document(
                model, document, alternatives=1, span=(unit.start, unit.end), cancel=steps.cancel
            )
        except ModelError as error:
            unscored[error.message] = unscored.get(error.message, 0) + 1
            if len(unscored) + sum(unscored.values()) > 20 and not rows:
                raise  # nothing can be scored: report it, without trying all units
            continue
        scored = confidence(document, scores, aggregation)
        chosen = _draw(scored, unit, rng, _PER_UNIT if truth is NodeTruth.FILLS else None)
        likely = [_first_choice(scored, node) for node in chosen]
        right = likely if truth is NodeTruth.FIRST_CHOICE else _fill(model, scored, unit, chosen, steps)
        rows += [
            _NodeRow(*row, *both)
            for row, both in zip(
                ((node, number) for node in chosen), zip(right, likely, strict=True), strict=True
            )
        ]
        if chosen:
            used.add(number)
    return MeasuredNodes(
        observations=_observations(rows),
        units=len(used),
        documents=len({id(places[number][0]) for number in used}),
        unscored=unscored,
        agreement=None
        if truth is NodeTruth.FIRST_CHOICE or not rows
        else float(np.mean([row.right == row.first_choice for row in rows])),
    )


def _usable(document: Document, unit: Unit) -> bool:
    size = unit.end - unit.start
    return size <= _MOST_BYTES and bool(document.data[unit.start : unit.end].strip())


def _draw(
    confidence: Confidence, unit: Unit, rng: np.random.Generator, most: int | None
) -> list[NodeConfidence]:
    """Nodes of a unit for which a hover would show a confidence, in the order of the text."""
    known = [
        node
        for node in confidence.nodes
        if node.confidence is not None
        and unit.start <= node.start < node.end <= unit.end
        and 0 < node.tokens[1] - node.tokens[0] <= _MOST_TOKENS
        and node.kind not in _PUNCTUATION
        and node.kind != "ERROR"
        and not np.isnan(confidence.scores.logprob[node.tokens[0] : node.tokens[1]]).any()
    ]
    if most is None or len(known) <= most:
        return known
    return [known[i] for i in sorted(rng.choice(len(known), most, replace=False).tolist())]


def _first_choice(confidence: Confidence, node: NodeConfidence) -> bool:
    first, last = node.tokens
    return bool((confidence.scores.rank[first:last] == 0).all())


def _fill(
    model: Model, confidence: Confidence, unit: Unit, chosen: Sequence[NodeConfidence], steps: Steps
) -> list[bool]:
    """For each of some nodes of a unit, whether the model writes it."""
    data = confidence.document.data
    context = data[: unit.context] or (b"\n" if unit.start else b"")
    prompts = [
        Prompt(
            (context + data[unit.start : node.start])
            .replace(b"\r\n", b"\n")
            .decode("utf-8", "surrogatepass"),
            max_tokens=node.tokens[1] - node.tokens[0] + _MARGIN,
        )
        for node in chosen
    ]
    leaves = [
        (node.start, node.end)
        for node, following in zip(confidence.nodes, [*confidence.nodes[1:], None], strict=True)
        if node.end > node.start and (following is None or following.depth <= node.depth)
    ]
    answers = model.complete(prompts, cancel=steps.cancel) if prompts else []
    return [
        begins_with(answer.text, pieces_of(data, leaves, node))
        for answer, node in zip(answers, chosen, strict=True)
    ]


def _observations(rows: Sequence[_NodeRow]) -> Observations:
    return Observations(
        confidence=np.array([row.node.confidence for row in rows], np.float64),
        right=np.array([row.right for row in rows], np.float64),
        category=np.array([str(row.node.category) for row in rows], np.str_),
        tokens=np.array([row.node.tokens[1] - row.node.tokens[0] for row in rows], np.int64),
        group=np.array([row.unit for row in rows], np.int64),
    )


def pieces_of(data: bytes, leaves: Sequence[tuple[int, int]], node: NodeConfidence) -> list[bytes]:
    """The tokens of a node and the gaps between them: token, gap, token, gap, ..., token."""
    low, high = bisect.bisect_left(leaves, (node.start, 0)), bisect.bisect_left(leaves, (node.end, 0))
    pieces: list[bytes] = []
    at = node.start
    for start, end in leaves[low:high]:
        pieces += [data[at:start], data[start:end]] if pieces else [data[at:end]]
        at = end
    if at < node.end:
        pieces += [b"", data[at : node.end]]
    return [piece.replace(b"\r\n", b"\n") for piece in pieces]


def begins_with(written: str, pieces: Sequence[bytes]) -> bool:
    """Whether a text begins with some tokens, and its last token ends with theirs.

    Args:
        written: The text; blanks before the first token are ignored.
        pieces: Token, gap, token, ..., token. A non-blank gap must match exactly.
    """
    text = written.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
    at = len(text) - len(text.lstrip(b" ")) if pieces and not pieces[0].startswith(b" ") else 0
    for i, piece in enumerate(pieces):
        if i % 2 and not piece.strip():
            gap = re.match(rb"\s*", text[at:])
            blanks = gap[0] if gap else b""
            if not _alike(blanks, piece, pieces[i - 1][-1:], pieces[i + 1][:1]):
                return False
            at += len(blanks)
        elif text.startswith(piece, at):
            at += len(piece)
        else:
            return False
    return not pieces or _ends(pieces[-1], text[at : at + 1], text[at + 1 : at + 2])


def _alike(gap: bytes, wanted: bytes, before: bytes, after: bytes) -> bool:
    """Whether two gaps are equivalent: blanks are ignored except between words; line ends are not."""
    if b"\n" in wanted or b"\n" in gap:
        return gap.rpartition(b"\n")[1:] == wanted.rpartition(b"\n")[1:]
    return bool(gap) or not (wanted and _is_word(before) and _is_word(after))


def _ends(token: bytes, following: bytes, second: bytes) -> bool:
    """Whether a token ends before the following characters, and does not continue with them."""
    if _is_word(token[-1:]):
        decimal = token.isdigit() and following == b"." and second.isdigit()
        return not _is_word(following) and not decimal
    return not (_OPERATOR.fullmatch(token) and following and following in _SECOND_CHARACTERS)


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"
