"""An explained completion: its first difference from the code, its lines, and its concepts.

The syntax tree of a prompt and its completion as a picture (Palacio et al. 2023, Figure 1).

One row per node, indented, with a bar for its confidence, so that a break in confidence is visible from top
to bottom. Screen readers get the same as a table. The SVG has classes, but no style.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterlens.confidence.correctness import Correctness
from counterlens.counting import plural
from counterlens.explaining.completing import Explained, WrittenToken
from counterlens.explaining.completion_tree import NodeOrigin, WrittenNode, completion_tree
from counterlens.models.base import ModelInfo
from counterlens.reports.correctness_wording import completion_sentence, right_by_line
from counterlens.reports.document import (
    Block,
    Figure,
    Heading,
    Marked,
    Paragraph,
    Report,
    ReportCell,
    TableBlock,
)
from counterlens.reports.expected import code
from counterlens.reports.wording import share, shorten
from counterlens.syntax.concepts import Category
from counterlens.text import escape

_ROW, _STEP, _CHARACTER = 22, 14, 7.25
"""Pixels per row, per level of the tree, and per character at the font size of the host's style."""
_BAR, _FIGURE = 56, 52
_LONGEST = 30
_JOINED = " > "
_LIKELY = 0.5

CAUTION = "A probability says what this model expects here, not what is right."


def departure_sentence(explained: Explained) -> str:
    """The place where a completion differs from the existing code, with the probabilities of both."""
    gone = explained.departure
    if explained.fresh:
        return "There is no code yet."
    if gone is None:
        return "It wrote the existing code."
    kind = f", in {_article(gone.kind)}" if gone.kind else ""
    if not gone.wrote:
        return f"Line {gone.line}: it ended where {_likely(gone.stands, gone.stands_probability)} follows."
    if not gone.stands:
        return f"Line {gone.line}: it continued with {_likely(gone.wrote, gone.wrote_probability)}{kind}."
    return (
        f"Line {gone.line}: it wrote {_likely(gone.wrote, gone.wrote_probability)} instead of "
        f"{_likely(gone.stands, gone.stands_probability)}{kind}."
    )


def break_sentence(original: Explained, counterfactual: Explained) -> str:
    """Compare the two sides of a counterfactual."""
    if original.fresh or counterfactual.fresh:
        return "There is no code yet to compare with."
    before, after = original.departure, counterfactual.departure
    if before is None and after is None:
        return "It wrote the existing code on both sides: no break."
    if before is None:
        return "It departs from the code only after the change: its expectation did not follow the change."
    if after is None:
        return "It departs from the code only before the change; after it, it writes the existing code."
    return "It departs from the code on both sides, so the change alone explains nothing."


def explanation_report(
    completions: Sequence[tuple[str, Explained]],
    info: ModelInfo,
    title: str,
    maps: Correctness | None = None,
) -> Report:
    """A completion, at one place or on both sides of a counterfactual.

    Args:
        maps: How often what the model wrote was right, if that was measured.
    """
    caution = f"{info.name} ({info.where}). {CAUTION}"
    blocks: list[Block] = [Heading(1, title), Paragraph(caution, quiet=True)]
    if len(completions) == 2:
        (_, before), (_, after) = completions
        blocks.append(Paragraph(break_sentence(before, after), lead="where it broke"))
    if any(completion.nodes for _, completion in completions):
        blocks.append(syntax_figure(completions))
    for name, explained in completions:
        blocks += [Heading(2, name), Paragraph(departure_sentence(explained)), *_errors(explained)]
        logprobs = [value for _, value in explained.completion.logprobs or ()]
        language = explained.scored.document.language
        if sentence := completion_sentence(logprobs, maps, language, info.name):
            blocks.append(Paragraph(sentence))
        blocks.append(_lines(explained, maps))
        if concepts := _concepts(explained):
            blocks.append(concepts)
    return Report(title, tuple(blocks))


def _likely(text: str, probability: float | None) -> str:
    return code(text) if probability is None else f"{code(text)} ({share(probability)})"


def _article(kind: str) -> str:
    name = kind.replace("_", " ")
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _errors(explained: Explained) -> Iterator[Block]:
    lines = [explained.scored.document.positions.line_of(node.start) + 1 for node in explained.errors]
    if lines:
        where = ", ".join(str(line) for line in dict.fromkeys(lines))
        yield Paragraph(f"Its completion does not parse: line {where}.", lead=Marked("ERROR", "failed"))
    if explained.completion.finish == "length":
        yield Paragraph("The token limit cut it off.", quiet=True)


def _lines(explained: Explained, maps: Correctness | None) -> TableBlock:
    """Each line of the completion, with its mean probability and its least certain token."""
    by_line: dict[int, list[WrittenToken]] = {}
    for token in explained.tokens:
        if token.probability is not None and token.text.strip():
            by_line.setdefault(token.line, []).append(token)
    lines = explained.scored.document.text.splitlines()
    right = right_by_line(explained.scored, explained.start, explained.end, maps)
    rows: list[tuple[ReportCell, ...]] = []
    for number, tokens in by_line.items():
        probabilities = [token.probability for token in tokens if token.probability is not None]
        least = min(tokens, key=lambda token: token.probability or 0.0)
        rows.append(
            (
                number,
                share(sum(probabilities) / len(probabilities)),
                lines[number - 1],
                f"{least.text.strip()} {share(least.probability or 0.0)}",
                ", ".join(f"{text} {share(value)}" for text, value in least.others),
                *([right.get(number, "")] if right else []),
            )
        )
    columns: tuple[str, ...] = ("line", "mean probability", "it wrote", "least sure", "or rather")
    if right:
        columns = (*columns, "so sure, right")
    return TableBlock("", columns, tuple(rows), note="" if rows else "It wrote nothing.")


def _concepts(explained: Explained) -> TableBlock | None:
    concepts = explained.scored.concepts_in(explained.start, explained.end)
    rows = tuple(
        (name, share(value), n) for name, (value, n) in concepts.items() if name != Category.STRUCTURE
    )
    title = f"{plural(len(explained.nodes), 'node')} written by the model, by concept"
    return TableBlock(title, ("concept", "mean probability", "nodes"), rows) if rows else None


def syntax_figure(completions: Sequence[tuple[str, Explained]]) -> Figure:
    """The trees of one or two completions, each under its title, side by side, and as a table."""
    trees = [(title, completion_tree(explained)) for title, explained in completions]
    rows = [row for _, tree in trees for row in tree]
    wrote = sum(row.origin is NodeOrigin.WRITTEN for row in rows)
    if len(trees) == 1:
        drawn = _svg(rows)
    else:
        drawn = "".join(f"<section><p>{escape(title)}</p>{_svg(tree)}</section>" for title, tree in trees)
    return Figure(
        "Prompt and completion in one syntax tree",
        f"Syntax tree of prompt and completion, {len(rows)} rows, {wrote} of them written by the model",
        _table(trees),
        svg=f'<div class="trees">{drawn}</div>',
    )


def _svg(rows: Sequence[WrittenNode]) -> str:
    left = _BAR + _FIGURE + 16
    labels = [(_JOINED.join(row.kinds), shorten(row.text, _LONGEST), _note(row)) for row in rows]
    widths = [
        left + _STEP * row.depth + 24 + _CHARACTER * sum(map(len, label))
        for row, label in zip(rows, labels, strict=True)
    ]
    width, height = int(max(widths, default=0)) + 24, _ROW * len(rows) + 4
    drawn = "".join(
        _row(row, label, left + _STEP * row.depth, _ROW * i + 2)
        for i, (row, label) in enumerate(zip(rows, labels, strict=True))
    )
    return (
        f'<svg class="syntax" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-hidden="true">{"".join(_stems(rows, left))}{drawn}</svg>'
    )


def _stems(rows: Sequence[WrittenNode], left: int) -> Iterator[str]:
    """A line from the row of a node down and across to each child."""
    above: list[int] = []
    for i, row in enumerate(rows):
        del above[row.depth :]
        if above:
            x, y = left + _STEP * (row.depth - 1) + 6, _ROW * above[-1] + _ROW
            yield f'<path class="stem" d="M{x} {y}V{_ROW * i + 2 + _ROW // 2}h{_STEP - 6}"/>'
        above.append(i)


def _note(row: WrittenNode) -> str:
    gone = row.departure
    if gone is None:
        return ""
    if not gone.stands:
        return "◀ the code ends here"
    verb = "has" if gone.wrote else "continues with"
    return f"◀ here the code {verb} {shorten(gone.stands, _LONGEST)}"


def _row(row: WrittenNode, label: tuple[str, str, str], x: int, y: int) -> str:
    kind, text, note = label
    named, shown = _CHARACTER * len(kind), _CHARACTER * len(text)
    middle, name = y + 15, "error" if row.error else row.origin
    parts = [f"<title>{escape(_tooltip(row))}</title>", _bar(row, y)]
    if row.origin is NodeOrigin.WRITTEN:
        size = f'width="{named + shown + 18:g}" height="{_ROW - 3}"'
        parts.append(f'<rect class="box" x="{x}" y="{y + 1}" {size} rx="3"/>')
    parts += [
        f'<text class="kind" x="{x + 5}" y="{middle}">{escape(kind)}</text>',
        f'<text class="source" x="{x + named + 13:g}" y="{middle}">{escape(text)}</text>',
    ]
    if note:
        parts.append(f'<text class="note" x="{x + named + shown + 24:g}" y="{middle}">{escape(note)}</text>')
    departs = " departs" if row.departure else ""
    return f'<g class="{name}{departs}">{"".join(parts)}</g>'


def _bar(row: WrittenNode, y: int) -> str:
    """A bar as long as the confidence, with a mark at the least likely token."""
    if row.confidence is None:
        return ""
    likely = "likely" if row.confidence >= _LIKELY else "unlikely"
    least, value = (row.minimum or 0.0) * _BAR, share(row.confidence)
    return (
        f'<rect class="track" x="0" y="{y + 6}" width="{_BAR}" height="8"/>'
        f'<rect class="{likely}" x="0" y="{y + 6}" width="{_BAR * row.confidence:.1f}" height="8"/>'
        f'<path class="least" d="M{least:.1f} {y + 3}V{y + 17}"/>'
        f'<text class="figure" text-anchor="end" x="{_BAR + _FIGURE}" y="{y + 15}">{value}</text>'
    )


def _tooltip(row: WrittenNode) -> str:
    """The tooltip of a row."""
    parts = [f"line {row.line}: {_JOINED.join(row.kinds)}"]
    if row.error:
        parts.append("does not parse")
    if row.confidence is not None:
        parts.append(f"mean probability {share(row.confidence)}")
    if row.least is not None and row.least.probability is not None:
        parts.append(f"least likely {row.least.text.strip()} ({share(row.least.probability)})")
        parts += [f"or {text} ({share(value)})" for text, value in row.least.others]
    return ", ".join(parts)


def _table(trees: Sequence[tuple[str, Sequence[WrittenNode]]]) -> TableBlock:
    columns = ("", "node", "line", "code", "mean probability", "least likely token", "or rather", "note")
    rows = tuple(
        (
            title,
            f"{'· ' * row.depth}{_JOINED.join(row.kinds)}",
            row.line,
            shorten(row.text, _LONGEST),
            "" if row.confidence is None else share(row.confidence),
            "" if row.least is None else f"{row.least.text.strip()} {share(row.least.probability or 0)}",
            ""
            if row.least is None
            else ", ".join(f"{text} {share(value)}" for text, value in row.least.others),
            "does not parse" if row.error else _note(row).removeprefix("◀ "),
        )
        for title, tree in trees
        for row in tree
        if row.origin is NodeOrigin.WRITTEN
    )
    return TableBlock("Nodes written by the model", columns, rows)
