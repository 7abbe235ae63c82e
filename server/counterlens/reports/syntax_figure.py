"""The syntax tree of a prompt and its completion as a picture (Palacio et al. 2023, Figure 1).

One row per node, indented, with a bar for its confidence, so that a break in confidence is visible from top
to bottom. Screen readers get the same as a table. The SVG has classes, but no style.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterlens.explaining.completing import Explained
from counterlens.explaining.written_tree import NodeOrigin, WrittenNode, written_tree
from counterlens.reports.document import Figure, TableBlock
from counterlens.reports.render.html import escape
from counterlens.reports.wording import share, shortened

_ROW, _STEP, _CHARACTER = 22, 14, 7.25
"""Pixels per row, per level of the tree, and per character at the font size of the host's style."""
_BAR, _FIGURE = 56, 52
_LONGEST = 30
_JOINED = " > "
_LIKELY = 0.5


def syntax_figure(found: Sequence[tuple[str, Explained]]) -> Figure:
    """The trees of one or two completions, each under its title, side by side, and as a table."""
    trees = [(title, written_tree(one)) for title, one in found]
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
    labels = [(_JOINED.join(row.kinds), shortened(row.text, _LONGEST), _note(row)) for row in rows]
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
    return f"◀ here the code {verb} {shortened(gone.stands, _LONGEST)}"


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
            shortened(row.text, _LONGEST),
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
