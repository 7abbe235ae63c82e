"""The confidence in a function, as a part of other reports."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.confidence import Confidence
from counterlens.reports.document import Block, Paragraph
from counterlens.reports.wording import share
from counterlens.syntax.concepts import Category
from counterlens.syntax.functions import find_function


def confidence_lines(qualname: str, scored: Confidence | None, note: str | None) -> Iterator[Block]:
    """The confidence in a function with its least likely token, and by concept; or why there is none.

    Args:
        qualname: Qualified name of the function.
        scored: Scores of the document with the function.
        note: Why there are no scores.
    """
    if scored is None:
        if note:
            yield Paragraph(note, lead="confidence", quiet=True)
        return
    function = find_function(scored.document, qualname)
    value = scored.within(function.start, function.end)
    least = _least_certain(scored, function.start, function.end)
    shown = f"{value:.2f}" if value is not None else "unknown"
    yield Paragraph(f"{shown}; least sure: {least}" if least else shown, lead="confidence")
    concepts = scored.concepts_in(function.start, function.end)
    each = [f"{name} {value:.2f}" for name, (value, _) in concepts.items() if name != Category.STRUCTURE]
    if each:
        yield Paragraph(", ".join(each), quiet=True)


def _least_certain(scored: Confidence, start: int, end: int) -> str:
    """The token of the function's code with the lowest probability, and the model's expectation."""
    docstrings = [(n.start, n.end) for n in scored.nodes if n.kind in {"string", "comment"}]
    best: int | None = None
    for i in range(len(scored.scores)):
        first, last = int(scored.scores.start[i]), int(scored.scores.end[i])
        if first < start or last > end or any(low < last and first < high for low, high in docstrings):
            continue
        if scored.scores.rank[i] < 0 or not scored.document.data[first:last].strip():
            continue
        if best is None or scored.scores.logprob[i] < scored.scores.logprob[best]:
            best = i
    if best is None:
        return ""
    positions = scored.document.positions
    at, stop = int(scored.scores.start[best]), int(scored.scores.end[best])
    line = positions.line_of(at)
    text = positions.data[positions.line_start(line) :].split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    token = positions.data[at:stop].decode("utf-8", "replace")
    expected = scored.scores.alternative_text[best]
    better = f", it expected {visible(expected[0])}" if any(expected) else ""
    chance = share(float(scored.scores.probability[best]))
    return f"{visible(token)} in `{text}`, line {line + 1} ({chance}{better})"


def visible(token: str) -> str:
    """A token in backquotes, without surrounding blanks; a blank token is escaped."""
    return f"`{token.strip() or token.encode('unicode_escape').decode()}`"
