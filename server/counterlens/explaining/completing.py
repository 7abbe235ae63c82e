"""A completion in its place: the model's text at a cut, with its probabilities and nodes.

Palacio et al. 2023 (section IV) show prompt and completion as one syntax tree; here it is that of the file
with the completion in it. At the first difference from the existing code, the probabilities of both have the
same context, so they can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterlens.confidence import Confidence, NodeConfidence, confidence, score_document
from counterlens.errors import ModelError
from counterlens.models.base import Capability, Completion, Model, TokenScores
from counterlens.models.stopping import cut as cut_at
from counterlens.probes.prompts.gap import Gap
from counterlens.progress import Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

_QUOTES = str.maketrans("'", '"')
_ALTERNATIVES = 5
_MOST_OTHERS = 3
_BEGINNING = 24  # tokens in which a first line is looked for


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """One token of a completion.

    Attributes:
        line: Its line in the program, 1-based.
        probability: The token's probability, given the text before it; None if it is not scored.
        alternatives: The likeliest tokens there with their probabilities, best first.
    """

    text: str
    line: int
    probability: float | None
    alternatives: tuple[tuple[str, float], ...]

    @property
    def others(self) -> list[tuple[str, float]]:
        """The likeliest other tokens for display: stripped, or as Python literals."""
        return [
            (text.strip() or repr(text)[1:-1], value)
            for text, value in self.alternatives
            if text.strip() != self.text.strip()
        ][:_MOST_OTHERS]


@dataclass(frozen=True, slots=True)
class Departure:
    """The first leaf of the syntax where a completion differs from the existing code.

    Attributes:
        line: Its line in the completed program, 1-based.
        offset: Its first byte in the completed program.
        wrote: The model's text; empty if it ended earlier.
        wrote_probability: The probability of its first token; None if it wrote nothing.
        stands: The existing text; empty if the code ended earlier.
        stands_probability: The probability of its first token, in the same place.
        kind: The node that it is in, such as `return_statement`.
    """

    line: int
    offset: int
    wrote: str
    wrote_probability: float | None
    stands: str
    stands_probability: float | None
    kind: str


@dataclass(frozen=True)
class Explained:
    """A completion in its place.

    Attributes:
        completion: The model's completion.
        scored: The confidence in the program with the completion in the hole.
        start: First byte of the completion.
        end: The byte after the completion.
        removed: The byte after the code that the completion replaces, in the original program.
        departure: The first difference from the existing code; None if the code is the same, or there is
            none.
        fresh: Whether there is no existing code.
    """

    completion: Completion
    scored: Confidence
    start: int
    end: int
    removed: int
    departure: Departure | None
    fresh: bool

    @cached_property
    def tokens(self) -> tuple[WrittenToken, ...]:
        """The scored tokens of the completion."""
        return tokens_between(self.scored, self.start, self.end)

    @property
    def text(self) -> str:
        """The written text, with the line ends of the source and the rest of its last line."""
        return self.scored.document.data[self.start : self.end].decode("utf-8", "replace")

    @property
    def nodes(self) -> list[NodeConfidence]:
        """The named nodes that are completely in the completion."""
        return [
            node
            for node in self.scored.nodes
            if node.named and self.start <= node.start < node.end <= self.end
        ]

    @property
    def errors(self) -> list[NodeConfidence]:
        """The nodes of the completion that do not parse."""
        return [
            node
            for node in self.scored.nodes
            if node.kind == "ERROR" and node.end > self.start and node.start < self.end
        ]


def explain(
    model: Model,
    document: Document,
    qualname: str,
    cut: int,
    max_tokens: int,
    steps: Steps,
    begun: Callable[[str], None] | None = None,
) -> Explained:
    """Complete a function from a cut on, and score the completion in its place.

    A model that does not score code is explained by the log-probabilities of the tokens that it generated.

    Args:
        qualname: Qualified name of the function.
        cut: The byte from which the model continues, inside the function.
        max_tokens: Maximum number of tokens of the completion.
        begun: Called with the first line, which is known long before the rest is explained.

    Raises:
        ModelError: the model returns no token probabilities, or as `Model.complete` and `Model.score`.
        Cancelled: as these.
    """
    scores = model.offers(Capability.SCORE, cancel=steps.cancel)
    function = find_function(document, qualname)
    function = replace(function, end=max(function.end, cut))  # the cursor may be on blanks after it
    gap = Gap.of(document, function, cut)
    steps.next("completing")
    if begun is not None:
        (start,) = model.complete([gap.prompt(min(_BEGINNING, max_tokens))], cancel=steps.cancel)
        if line := next(filter(str.strip, start.text.split("\n")), ""):
            begun(line)
    prompt = replace(gap.prompt(max_tokens), logprobs=True)
    (completion,) = model.complete([prompt], cancel=steps.cancel)
    if not scores and not completion.logprobs:
        raise ModelError(
            f"{model.info.name} returns no token probabilities, so its completions cannot be explained",
            "Choose a local model, or an endpoint that returns them with its answers or scores prompts",
        )
    completion = replace(completion, text=_inside(gap, completion))
    written = replace(document, text=gap.fill(completion.text))
    steps.next("scoring the completion")
    scored = (
        _score(model, written, cut, steps) if scores else _confidence_of_generation(written, cut, completion)
    )
    # the number of bytes after the hole
    end = len(written.data) - len((gap.after or gap.newline).encode())
    standing = _score(model, document, cut, steps) if scores else _confidence_of_generation(document, cut)
    departure = _departure(scored, (cut, end), standing, (cut, function.end))
    removed = max(cut, len(document.data) - (len(written.data) - end))
    return Explained(completion, scored, cut, end, removed, departure, fresh=not gap.removed.strip())


def _inside(gap: Gap, completion: Completion) -> str:
    """The completion up to the last line after which no string or bracket is open.

    An open one, which the token limit may leave, would take in the code that follows. A text in which nothing
    is closed is kept if the model ended it: it is one line with an error.
    """
    lines, begins = completion.text.splitlines(keepends=True), gap.before.endswith("\n")
    while lines and cut_at("".join(lines).rstrip("\n") + "\nx\n", gap.stop, at_line_start=begins) is None:
        lines.pop()
    return "".join(lines) or (completion.text if completion.finish == "stop" else "")


def _score(model: Model, document: Document, cut: int, steps: Steps) -> Confidence:
    at = max(0, min(cut, len(document.data)) - 1)
    scores = score_document(
        model, document, span=(at, at + 1), alternatives=_ALTERNATIVES, cancel=steps.cancel
    )
    return confidence(document, scores)


def _confidence_of_generation(
    document: Document, cut: int, completion: Completion | None = None
) -> Confidence:
    """The confidence in the tokens that a model generated from a cut on; without a completion, in nothing.

    At temperature 0, each of them was the likeliest.
    """
    size = len(completion.text.encode()) if completion else 0
    rows = [row for row in (completion.logprobs or ()) if row[0] < size] if completion else []
    # line ends are those of the document: its text has as many characters before the completion's n-th
    written = completion.text if completion else ""
    newline = "\r\n" if "\r\n" in document.text else "\n"
    data = written.encode()
    starts = [len(data[:at].decode("utf-8", "ignore").replace("\n", newline).encode()) for at, _ in rows]
    ends = [*starts[1:], len(written.replace("\n", newline).encode())] if rows else []
    n = len(rows)
    scores = TokenScores(
        text=document.text,
        start=np.array(starts, np.int64) + cut,
        end=np.array(ends, np.int64) + cut,
        logprob=np.array([value for _, value in rows], np.float64),
        entropy=np.full(n, np.nan),
        rank=np.zeros(n, np.int64),
        alternative_logprob=np.empty((n, 0)),
        alternative_text=((),) * n,
        context=np.zeros(n, np.int64),
    )
    return confidence(document, scores)


def _leaves(confidence: Confidence, span: tuple[int, int]) -> Iterator[int]:
    """The indices of the code leaves in a byte range; the first may begin before it."""
    nodes = confidence.nodes
    for i, node in enumerate(nodes):
        inner = i + 1 < len(nodes) and nodes[i + 1].depth > node.depth
        if not inner and node.kind != "comment" and span[0] < node.end <= span[1] and node.start < node.end:
            yield i


def _departure(
    wrote: Confidence, wrote_in: tuple[int, int], stands: Confidence, stands_in: tuple[int, int]
) -> Departure | None:
    """The first leaf that differs; single and double quotes are equivalent."""
    first, second = list(_leaves(wrote, wrote_in)), list(_leaves(stands, stands_in))
    if not stands.document.data[slice(*stands_in)].strip():
        return None
    same = 0
    while same < min(len(first), len(second)) and _same(wrote, first[same], stands, second[same]):
        same += 1
    if same == len(first) == len(second):
        return None
    mine, theirs = first[same : same + 1], second[same : same + 1]
    at = wrote.nodes[mine[0]].start if mine else max(wrote_in[0], wrote_in[1] - 1)
    parent = wrote.nodes[wrote.nodes[mine[0]].parent] if mine else None
    return Departure(
        line=wrote.document.positions.line_of(at) + 1,
        offset=at,
        wrote=_text(wrote, mine[0]) if mine else "",
        wrote_probability=_probability(wrote, mine[0]) if mine else None,
        stands=_text(stands, theirs[0]) if theirs else "",
        stands_probability=_probability(stands, theirs[0]) if theirs else None,
        kind=parent.kind if parent else "",
    )


def _same(confidence: Confidence, i: int, other: Confidence, k: int) -> bool:
    first, second = _text(confidence, i), _text(other, k)
    if confidence.nodes[i].kind in {"string_start", "string_end"}:
        first, second = first.translate(_QUOTES), second.translate(_QUOTES)
    return first == second and confidence.nodes[i].kind == other.nodes[k].kind


def _text(confidence: Confidence, i: int) -> str:
    node = confidence.nodes[i]
    return confidence.document.data[node.start : node.end].decode("utf-8", "replace")


def _probability(confidence: Confidence, i: int) -> float | None:
    """The probability of the first token of a leaf."""
    node = confidence.nodes[i]
    if node.tokens[0] >= node.tokens[1]:
        return None
    value = float(confidence.scores.probability[node.tokens[0]])
    return None if math.isnan(value) else value


def tokens_between(confidence: Confidence, start: int, end: int) -> tuple[WrittenToken, ...]:
    """The scored tokens of a byte range; the first and the last may extend beyond it."""
    scores = confidence.scores
    touching = (scores.end > start) & (scores.start < end)
    return tuple(_token(confidence, int(i)) for i in touching.nonzero()[0])


def _token(confidence: Confidence, i: int) -> WrittenToken:
    scores, data = confidence.scores, confidence.document.data
    start, end = int(scores.start[i]), int(scores.end[i])
    text = data[start:end].decode("utf-8", "replace")
    blank = len(text) - len(text.lstrip())
    scored = scores.rank[i] >= 0
    likely = zip(scores.alternative_text[i], scores.alternative_logprob[i], strict=False) if scored else ()
    return WrittenToken(
        text=text,
        line=confidence.document.positions.line_of(start + blank) + 1,
        probability=float(scores.probability[i]) if scored else None,
        alternatives=tuple((alternative, math.exp(value)) for alternative, value in likely if alternative),
    )
